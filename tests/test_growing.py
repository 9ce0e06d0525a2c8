"""Tables with more ramps where the stream goes on: any cut, the reference, merging, files, undoing and the budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cases import slow
from kenyon import KenyonClassifier
from kenyon.model import growing
from kenyon.reference import Learner

PARAMS: dict[str, Any] = {"random_state": 3}


@pytest.fixture(autouse=True)
def early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing, "STEPS", ((32, 2), (64, 4)))


def samples(n: int, seed: int = 0) -> tuple[NDArray, NDArray]:
    """Three classes that no planes part, some samples without a label."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(rng.random(n) < 0.1, None, (np.abs(X[:, 0]) > 0.7).astype(int) + (X[:, 1] * X[:, 2] > 0.5))


def learned(params: dict[str, Any], X: NDArray, y: NDArray, cuts: tuple[int, ...] = ()) -> KenyonClassifier:
    clf = KenyonClassifier(**params)
    for start, stop in zip((0, *cuts), (*cuts, len(y)), strict=True):
        clf.partial_fit(X[start:stop], y[start:stop])
    return clf


def assert_same(one: KenyonClassifier, other: KenyonClassifier) -> None:
    a, b = one.to_arrays(), other.to_arrays()
    for name in a.keys() | b.keys():
        assert np.array_equal(a[name], b[name]), name


@pytest.mark.parametrize(
    ("params", "units"),
    [slow({}, 803), ({"memory_budget": "250KB"}, None), ({"n_jobs": 3}, 803), ({"n_hidden": 203}, 203)],
    ids=str,
)
def test_any_cut_gives_the_same_state(params: dict[str, Any], units: int | None) -> None:
    X, y = samples(160)
    params = PARAMS | params
    whole = learned(params, X, y)
    if units is None:
        assert 203 < whole.spec_.n_units < 403 and 240_000 < whole.state_bytes <= 250_000
    else:
        assert whole.spec_.n_units == units
    for cuts in ((40,), (1, 30, 37, 99), tuple(range(1, len(y)))):
        assert_same(learned(params, X, y, cuts), whole)
    tested, single = KenyonClassifier(**params), KenyonClassifier(**params)
    tested.test_then_learn(X, y)
    assert_same(tested, whole)
    for row, label in zip(X, y, strict=True):
        single.learn_one(row, label)
        if single.__sklearn_is_fitted__():
            single.predict(X[:1])
    assert_same(single, whole)


def test_units_come_at_a_power_of_two_of_labelled_samples() -> None:
    X, y = samples(160)
    at = np.flatnonzero(y != None)[[31, 32, 63, 64]]  # noqa: E711  an array
    counts = [learned(PARAMS, X[: n + 1], y[: n + 1]).spec_.n_units for n in at]
    assert counts == [203, 403, 403, 803]


@pytest.mark.parametrize("params", [{}, {"memory_budget": "250KB"}], ids=str)
def test_the_reference_grows_in_the_same_way(params: dict[str, Any]) -> None:
    X, y = samples(60)
    fast, plain = learned(PARAMS | params, X, y), Learner(**PARAMS, **params).partial_fit(X, y)
    arrays = fast.to_arrays()
    for name, array in plain.to_arrays().items():
        assert np.array_equal(arrays[name], array), name


def test_sums_of_new_units_are_about_those_that_they_would_have_had(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 2000)
    X = rng.normal(size=(2000, 3)) @ rng.normal(size=(3, 3)) + y[:, np.newaxis]
    monkeypatch.setattr(growing, "STEPS", ((1024, 2),))
    small = learned(PARAMS, X[:1025], y[:1025])
    all_along = learned(PARAMS | {"n_hidden": 403}, X[:1025], y[:1025])
    assert small.spec_.n_units == 403
    found, wanted = (clf.to_arrays()["sums.0"] for clf in (small, all_along))
    assert np.array_equal(found[:203], wanted[:203])
    assert np.corrcoef(found[203:].ravel(), wanted[203:].ravel())[0, 1] > 0.98
    before = learned(PARAMS, X[:1024], y[:1024])
    assert np.mean(small.predict(X) == before.predict(X)) > 0.97


def test_where_inputs_alone_lead_no_units_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing, "STEPS", ((512, 2),))
    rng = np.random.default_rng(0)
    y = rng.integers(0, 60, 700)
    X = 0.7 * rng.normal(size=(60, 30))[y] + rng.normal(size=(700, 30))
    clf = learned(PARAMS, X, y)
    layer = clf.parts()[1][-1]
    assert layer.rule.first == 30 and clf.spec_.n_units == 230  # type: ignore[attr-defined]
    assert_same(learned(PARAMS, X, y, (31, 512, 600)), clf)


def test_merged_saved_and_undone(tmp_path: Path) -> None:
    X, y = samples(200)
    long, short = learned(PARAMS, X[:150], y[:150]), learned(PARAMS, X[150:], y[150:])
    with pytest.warns(UserWarning, match="close to the one"):
        merged = KenyonClassifier.merge([long, short])
    assert merged.spec_.n_units == short.spec_.n_units < long.spec_.n_units
    long.save(tmp_path / "model")
    again = KenyonClassifier.load(tmp_path / "model")
    assert_same(again.partial_fit(X[150:], y[150:]), long.partial_fit(X[150:], y[150:]))
    before = learned(PARAMS, X[:20], y[:20])
    kept = before.to_arrays()
    bad = X[20:].copy()
    bad[-1] = 1e20

    def interrupted(*args: Any) -> None:
        raise KeyboardInterrupt

    engine = before._core.engine
    engine._silence.warn = interrupted  # type: ignore[method-assign]  after everything was learned
    with pytest.raises(KeyboardInterrupt):
        before.partial_fit(X[20:], y[20:])
    del engine._silence.warn
    assert all(np.array_equal(before.to_arrays()[name], array) for name, array in kept.items())
    assert_same(before.partial_fit(X[20:], y[20:]), learned(PARAMS, X, y))
