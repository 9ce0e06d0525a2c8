"""A memory budget that bends: a class that does not fit makes units go, and nothing else changes."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kenyon import KenyonClassifier, SecondOrder
from kenyon.errors import BudgetWarning, MemoryBudgetError, MergeError, MergeWarning
from kenyon.reference import Learner

N_CLASSES = 16

IMAGES: dict[str, Any] = {"shape": (8, 8), "random_state": 3, "expected_classes": 4}
CASES: dict[str, dict[str, Any]] = {
    "16 bits, integers": {**IMAGES, "memory_budget": "4KB"},
    "24 bits": {**IMAGES, "memory_budget": "6KB", "layer": SecondOrder(bits=24)},
    "exact sums": {**IMAGES, "memory_budget": "9KB", "layer": SecondOrder(bits=32)},
    "colour": {
        **IMAGES,
        "shape": (8, 8, 3),
        "memory_budget": "9KB",
        "features": "patches",
        "layer": SecondOrder(bits=32),
    },
    "sparse": {"memory_budget": "9KB", "layer": SecondOrder(bits=32), "random_state": 3, "expected_classes": 4},
    "table": {"memory_budget": "40KB", "random_state": 3, "expected_classes": 4},
}
SUMS = ("exact sums", "colour", "sparse")


def samples(case: str, n: int = 160, seed: int = 0) -> tuple[NDArray, NDArray]:
    """Samples whose classes come one by one, some of them mid-way."""
    rng = np.random.default_rng(seed)
    width = {"colour": 192, "table": 12}.get(case, 64)
    y = np.minimum(rng.integers(0, N_CLASSES, n), np.arange(n) // 6)
    centres = np.random.default_rng(9).integers(0, 200, (N_CLASSES, width))
    X = centres[y] + rng.integers(0, 56, (n, width))
    return (X / 7.0 if case == "table" else X.astype(np.uint8)), y


def learned(params: dict[str, Any], X: NDArray, y: NDArray, cuts: tuple[int, ...] = ()) -> KenyonClassifier:
    clf = KenyonClassifier(**params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        for start, stop in zip((0, *cuts), (*cuts, len(y)), strict=True):
            clf.partial_fit(X[start:stop], y[start:stop])
    return clf


def assert_same(one: KenyonClassifier, other: KenyonClassifier) -> None:
    a, b = one.to_arrays(), other.to_arrays()
    assert a.keys() == b.keys()
    for name in a:
        assert np.array_equal(a[name], b[name]), name


@pytest.mark.parametrize("case", CASES)
def test_units_go_within_the_budget_and_any_cut_gives_the_same_state(case: str) -> None:
    X, y = samples(case)
    whole = learned(CASES[case], X, y)
    first = learned(CASES[case], X[:6], y[:6])
    assert whole.spec_.n_units < first.spec_.n_units
    assert whole.state_bytes <= int(CASES[case]["memory_budget"].removesuffix("KB")) * 1000
    assert len(whole.classes_) == N_CLASSES
    assert whole.score(X, y) > 0.8
    for cuts in ((50,), (1, 37, 99), tuple(range(1, len(y)))):
        assert_same(learned(CASES[case], X, y, cuts), whole)
    tested = KenyonClassifier(**CASES[case])
    with pytest.warns(BudgetWarning):
        tested.test_then_learn(X, y)
    assert_same(tested, whole)


@pytest.mark.parametrize("case", SUMS)
def test_the_state_is_that_of_a_model_with_fewer_units(case: str) -> None:
    X, y = samples(case)
    bent = learned(CASES[case], X, y)
    given = {name: value for name, value in CASES[case].items() if name != "memory_budget"}
    small = KenyonClassifier(**given, n_hidden=bent.spec_.n_units)
    small.set_params(features=bent.spec_.features, n_hidden="auto", layer=bent.spec_.layer).partial_fit(X, y)
    a, b = bent.to_arrays(), small.to_arrays()
    for name in ("pairs.0", "sums.0", "class_counts.0"):
        assert np.array_equal(a[name], b[name]), name
    assert np.array_equal(bent.decision_function(X), small.decision_function(X))


@pytest.mark.parametrize("case", [case for case in CASES if case != "table"])
def test_the_reference_bends_in_the_same_way(case: str) -> None:
    X, y = samples(case, 100)
    fast, plain = learned(CASES[case], X, y), Learner(**CASES[case]).partial_fit(X, y)
    arrays = fast.to_arrays()
    for name, array in plain.to_arrays().items():
        assert np.array_equal(arrays[name], array), name


@pytest.mark.parametrize("case", CASES)
def test_models_of_different_widths_are_cut_to_the_smaller_when_they_merge(case: str) -> None:
    X, y = samples(case)
    parts = [learned(CASES[case], X[part], y[part]) for part in (slice(0, 40), slice(40, None))]
    assert parts[0].spec_.n_units > parts[1].spec_.n_units
    before = [part.to_arrays() for part in parts]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MergeWarning)
        warnings.simplefilter("ignore", BudgetWarning)
        merged = KenyonClassifier.merge(parts)
        other = KenyonClassifier.merge(parts[::-1])
    assert merged.spec_.n_units == other.spec_.n_units <= parts[1].spec_.n_units
    for part, arrays in zip(parts, before, strict=True):
        assert all(np.array_equal(part.to_arrays()[name], array) for name, array in arrays.items())
    if case in ("exact sums", "colour"):
        whole = learned(CASES[case], X, y).to_arrays()
        for name in ("pairs.0", "sums.0", "class_counts.0"):
            assert np.array_equal(merged.to_arrays()[name], whole[name]), name


def test_it_is_said_once_and_a_file_goes_on(tmp_path: Path) -> None:
    X, y = samples("exact sums")
    clf = KenyonClassifier(**CASES["exact sums"])
    with pytest.warns(BudgetWarning, match=r"continues with \d+ units") as said:
        for start in range(0, len(y), 10):
            clf.partial_fit(X[start : start + 10], y[start : start + 10])
    assert len([one for one in said if one.category is BudgetWarning]) == 1
    half = learned(CASES["exact sums"], X[:80], y[:80])
    half.save(tmp_path / "half.safetensors")
    loaded = KenyonClassifier.load(tmp_path / "half.safetensors")
    assert loaded.spec_.n_units == half.spec_.n_units
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        loaded.partial_fit(X[80:], y[80:])
    assert_same(loaded, clf)


REFUSED: dict[str, dict[str, Any]] = {
    "units given": {**IMAGES, "memory_budget": "9KB", "n_hidden": 40, "layer": SecondOrder(bits=32)},
    "too few left": {**IMAGES, "memory_budget": 1_400, "expected_classes": 2},
    "a rule": {"rule": "gen", "memory_budget": "3KB", "random_state": 3, "expected_classes": 2},
    "dense": {
        "features": "dense",
        "memory_budget": "9KB",
        "layer": SecondOrder(bits=32),
        "random_state": 3,
        "expected_classes": 2,
    },
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_bend_refuses_the_class_and_stays_as_it_was(case: str) -> None:
    X, y = samples("images", 400)
    clf = learned(REFUSED[case], X[:6], y[:6])
    before = clf.to_arrays()
    many = np.arange(len(y))
    with pytest.raises(MemoryBudgetError, match="the memory budget"):
        clf.partial_fit(X, many)
    assert all(np.array_equal(clf.to_arrays()[name], array) for name, array in before.items())


@pytest.mark.parametrize("case", CASES)
def test_a_call_that_fails_puts_the_units_back(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = samples(case)
    clf = learned(CASES[case], X[:40], y[:40])
    before, units = clf.to_arrays(), clf.spec_.n_units
    monkeypatch.setattr("kenyon.model.model_file.state_bytes", _fail)
    monkeypatch.setattr("kenyon.model.engine.Engine.state_bytes", property(lambda engine: 1 << 40))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        with pytest.raises(RuntimeError):
            clf.partial_fit(X[40:], y[40:])
    monkeypatch.undo()
    assert clf.spec_.n_units == units
    after = clf.to_arrays()
    assert all(np.array_equal(after[name], array) for name, array in before.items())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        assert_same(clf.partial_fit(X[40:], y[40:]), learned(CASES[case], X, y, (40,)))


def _fail(*_: object) -> None:
    raise RuntimeError("stopped")


def test_models_that_do_not_bend_still_differ_by_their_units() -> None:
    X, y = samples("exact sums", 6)
    a, b = (KenyonClassifier(**IMAGES, layer="second-order", n_hidden=n).partial_fit(X, y) for n in (20, 30))
    with pytest.raises(MergeError, match="features__units 20"):
        a.merge(b)
