"""`KenyonRegressor`: any cut of the stream, several targets, merging, files, scikit-learn's and River's checks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from kenyon import KenyonRegressor
from kenyon.errors import InputError, MemoryBudgetError, MergeError, ModelFileError

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
