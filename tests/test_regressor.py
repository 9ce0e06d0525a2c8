"""`KenyonRegressor`: any cut of the stream, several targets, merging, files, scikit-learn's and River's checks."""

from __future__ import annotations

import copy
import runpy
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_digits
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from kenyon import KenyonRegressor
from kenyon.errors import ConfigError, InputError, MemoryBudgetError, MergeError, ModelFileError
from kenyon.export import export_model

X, y = load_diabetes(return_X_y=True)


def state(reg: KenyonRegressor) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in reg._core.sums.kept().items()}


def expected(estimator: KenyonRegressor) -> dict[str, str]:
    reason = "sums in floats differ in their last bits with the order of the stream"
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}


@parametrize_with_checks([KenyonRegressor(random_state=0)], expected_failed_checks=expected)
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_about_as_good_as_ridge_on_a_linear_set() -> None:
    reg = KenyonRegressor(random_state=0).fit(X[:300], y[:300])
    assert reg.score(X[300:], y[300:]) > Ridge(alpha=0.1).fit(X[:300], y[:300]).score(X[300:], y[300:]) - 0.03


def test_learns_what_is_not_linear() -> None:
    rng = np.random.default_rng(0)
    samples = 100 + 7 * rng.normal(size=(1500, 3))
    targets = 1e6 + np.abs(samples[:, 0] - 100) + samples[:, 1]
    reg = KenyonRegressor(random_state=0).partial_fit(samples[:1000], targets[:1000])
    assert reg.score(samples[1000:], targets[1000:]) > 0.95


@pytest.mark.parametrize("cut", [1, 50, 129])
def test_any_cut_gives_the_same_bits(cut: int) -> None:
    n = 70 if cut == 1 else 400
    whole, parts = KenyonRegressor(random_state=0).partial_fit(X[:n], y[:n]), KenyonRegressor(random_state=0)
    for start in range(0, n, cut):
        parts.partial_fit(X[start : min(start + cut, n)], y[start : min(start + cut, n)])
    assert state(whole) == state(parts)


def test_several_targets_are_as_each_alone() -> None:
    both = np.stack([y, X[:, 2] ** 2], axis=1)
    reg = KenyonRegressor(random_state=0).partial_fit(X[:300], both[:300])
    alone = KenyonRegressor(random_state=0).partial_fit(X[:300], both[:300, 1])
    assert np.allclose(reg.predict(X)[:, 1], alone.predict(X))
    with pytest.raises(InputError, match="expected 2"):
        reg.partial_fit(X, y)


def test_merged_and_saved(tmp_path: Path) -> None:
    parts = [KenyonRegressor(random_state=0).partial_fit(X[s], y[s]) for s in (slice(200), slice(200, 350))]
    before = state(parts[1])
    merged = parts[0].merge(parts[1])
    assert state(parts[1]) == before and merged.n_samples_learned_ == 350
    whole = KenyonRegressor(random_state=0).partial_fit(X[:350], y[:350])
    assert merged.score(X[350:], y[350:]) == pytest.approx(whole.score(X[350:], y[350:]), abs=0.05)
    merged.save(tmp_path / "model")
    again = KenyonRegressor.load(tmp_path / "model")
    assert state(again.partial_fit(X[350:], y[350:])) == state(merged.partial_fit(X[350:], y[350:]))
    with pytest.raises(MergeError, match="seed"):
        merged.merge(KenyonRegressor(random_state=1).partial_fit(X, y))
    content = bytearray((tmp_path / "model").read_bytes())
    content[-5] ^= 1
    (tmp_path / "model").write_bytes(content)
    with pytest.raises(ModelFileError, match="checksum"):
        KenyonRegressor.load(tmp_path / "model")


def test_unlearned_samples_leave_no_trace_but_rounding() -> None:
    reg = KenyonRegressor(random_state=0).fit(X[:300], y[:300])
    few = KenyonRegressor(random_state=0).fit(X[:300], y[:300]).unlearn(X[200:300], y[200:300])
    alone = copy.deepcopy(reg).unlearn(X[:300], y[:300])
    assert few.n_samples_learned_ == 200 and not alone.__sklearn_is_fitted__()
    again = few.partial_fit(X[200:300], y[200:300])
    assert np.allclose(again.predict(X), reg.predict(X), atol=0.1)
    assert np.abs(again.predict(X) - KenyonRegressor(random_state=0).fit(X[:200], y[:200]).predict(X)).max() > 1
    before = state(reg)
    with pytest.raises(MergeError, match="cannot have been learned"):
        reg.unlearn(np.repeat(X[:1], 100, axis=0) * 5, np.repeat(y[:1], 100))
    with pytest.raises(InputError, match="2 targets"):
        reg.unlearn(X[:5], np.stack([y[:5], y[:5]], axis=1))
    assert state(reg) == before


def test_exported_it_predicts_with_numpy_alone(tmp_path: Path) -> None:
    both = np.stack([y, X[:, 2] ** 2], axis=1)
    for name, targets in {"one": y, "two": both}.items():
        reg = KenyonRegressor(random_state=0).partial_fit(X[:300], targets[:300])
        reg.save(tmp_path / name)
        export_model(tmp_path / name, "numpy", tmp_path / f"out {name}")
        found = runpy.run_path(str(tmp_path / f"out {name}" / "predict.py"))["predict"](X[300:])
        assert np.allclose(found, reg.predict(X[300:]), rtol=1e-4, atol=1e-2)
        with pytest.raises(ConfigError, match="expected 'numpy'"):
            export_model(tmp_path / name, "c", tmp_path / "c")


@pytest.mark.parametrize(
    "params", [{"memory_budget": "20KB"}, {"n_hidden": 40}, {"shape": (64,), "n_hidden": 40}], ids=str
)
def test_images_and_series_go_through_windows(params: dict[str, Any], tmp_path: Path) -> None:
    digits, labels = load_digits(return_X_y=True)
    params, labels = {"shape": (8, 8), "random_state": 0, **params}, labels.astype(float)
    images = digits.reshape(-1, *params["shape"])
    reg = KenyonRegressor(**params).partial_fit(digits[:400], labels[:400])
    cut = KenyonRegressor(**params)
    for start in range(0, 400, 57):
        cut.partial_fit(images[start : min(start + 57, 400)], labels[start : min(start + 57, 400)])
    assert state(reg) == state(cut) and reg.score(digits[400:], labels[400:]) > 0.3
    assert reg.state_bytes <= (20_000 if "memory_budget" in params else reg.state_bytes)
    assert reg.state_bytes == sum(array.nbytes for array in reg.sums().kept().values())
    reg.save(tmp_path / "model")
    assert np.array_equal(KenyonRegressor.load(tmp_path / "model").predict(digits), reg.predict(digits))
    export_model(tmp_path / "model", "numpy", tmp_path)
    found = runpy.run_path(str(tmp_path / "predict.py"))["predict"](digits[400:])
    assert np.allclose(found, reg.predict(digits[400:]), rtol=1e-4, atol=1e-2)
    with pytest.raises(InputError, match="expect"):
        reg.predict(digits[:, :60])
    if params["shape"] == (64,):
        return
    scaled = KenyonRegressor(**params).partial_fit((digits[:400] * 15).astype(np.uint8), labels[:400])
    assert np.allclose(scaled.predict(digits), reg.predict(digits), atol=0.5)
    parts = [KenyonRegressor(**params).partial_fit(digits[s], labels[s]) for s in (slice(150), slice(150, 400))]
    assert state(parts[0].merge(parts[1]))["pairs.0"] == state(reg)["pairs.0"]
    more = copy.deepcopy(reg).partial_fit(digits[400:500], labels[400:500]).unlearn(digits[400:500], labels[400:500])
    assert state(more)["pairs.0"] == state(reg)["pairs.0"]
    with pytest.raises(MergeError, match="shape"):
        reg.merge(KenyonRegressor(**params | {"shape": (4, 16)}).partial_fit(digits[:99], labels[:99]))


def test_threads_that_learn_wait_for_each_other() -> None:
    reg, parts = (
        KenyonRegressor(random_state=0).partial_fit(X[:50], y[:50]),
        [slice(a, a + 4) for a in range(50, 250, 4)],
    )
    with ThreadPoolExecutor(4) as pool:
        learned = [pool.submit(reg.partial_fit, X[part], y[part]) for part in parts]
        answers = [pool.submit(reg.predict, X) for _ in range(20)]
        assert all(np.isfinite(answer.result()).all() for answer in answers)
        assert all(one.result() is reg for one in learned)
    assert reg.n_samples_learned_ == 250


def test_budget_and_weights() -> None:
    small = KenyonRegressor(random_state=0, memory_budget="8KB").partial_fit(X, y)
    assert 4_000 < small.state_bytes <= 8_000
    with pytest.raises(MemoryBudgetError, match="at least"):
        KenyonRegressor(memory_budget="500B").partial_fit(X, y)
    weights = np.arange(len(y)) % 3
    weighted = KenyonRegressor(random_state=0).partial_fit(X, y, sample_weight=weights)
    plain = KenyonRegressor(random_state=0).partial_fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert state(weighted) == state(plain)


@pytest.mark.parametrize("bad", [np.full(442, np.nan), np.full(442, np.inf), y[:5], ["a"] * 442, np.zeros((442, 0))])
def test_bad_targets_change_nothing(bad: Any) -> None:
    reg = KenyonRegressor(random_state=0).partial_fit(X, y)
    before = state(reg)
    with pytest.raises(InputError, match="y"):
        reg.partial_fit(X, bad)
    assert state(reg) == before


def test_river() -> None:
    checks = pytest.importorskip("river.checks")
    from kenyon.apps.river import RiverRegressor

    for check in checks.yield_checks(RiverRegressor(seed=0)):
        check(RiverRegressor(seed=0))
