"""What a model holds, and the budget that it never exceeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kenyon import KenyonClassifier, LocalError
from kenyon.errors import MemoryBudgetError
from kenyon.rules import INEL
from making import CASES, held, make, stream


@settings(max_examples=60, deadline=None)
@given(
    budget=st.integers(600, 60_000),
    expected=st.integers(1, 30),
    hidden=st.sampled_from([(), (5,), (9, 4)]),
    rule=st.sampled_from(["mse", "gen", INEL(30.0)]),
    long_names=st.booleans(),
    chunk=st.sampled_from([1, 7, 90]),
)
def test_the_budget_is_never_exceeded(
    budget: int, expected: int, hidden: tuple[int, ...], rule: Any, long_names: bool, chunk: int
) -> None:
    hidden = () if rule == "gen" else hidden  # which refuses hidden layers
    X, y = stream()
    labels = np.array([f"class {label} {'of a long name' * 5 * long_names}" for label in y], object)
    labels[y < 0] = None
    clf = make(
        "mse", rule=rule, n_hidden="auto", hidden=LocalError(hidden), memory_budget=budget, expected_classes=expected
    )
    for first in range(0, 90, chunk):
        fitted = clf.__sklearn_is_fitted__()
        if not fitted and (y[first : first + chunk] < 0).all():
            continue  # nothing to start from
        before = held(clf) if fitted else None
        try:
            clf.partial_fit(X[first : first + chunk], labels[first : first + chunk])
        except MemoryBudgetError as error:
            assert f"{budget:,}" in str(error)
            assert clf.__sklearn_is_fitted__() == fitted, "a refused first call left a trace"
            assert not fitted or held(clf) == before, "a refused class changed the state"
        if clf.__sklearn_is_fitted__():
            assert clf.state_bytes <= budget


def test_a_budget_is_used_well_and_expected_classes_fit() -> None:
    X, y = stream()
    for budget in (20_000, 60_000, 400_000):
        clf = make("mse", n_hidden="auto", memory_budget=budget, expected_classes=7).partial_fit(X, y)
        assert clf.classes_.size == 7
        assert 0.9 * budget < clf.state_bytes <= budget


def test_a_class_too_many_is_refused_and_learning_goes_on() -> None:
    X, y = stream()
    clf = make("mse", n_hidden="auto", memory_budget="8KB", expected_classes=2)
    clf.partial_fit(X[:20], np.arange(20) % 2)
    before = held(clf)
    with pytest.raises(MemoryBudgetError, match=r"expected at most 8,000, the memory budget"):
        clf.partial_fit(X, y)
    with pytest.raises(MemoryBudgetError):
        clf.learn_one(X[0], 5)
    with pytest.raises(MemoryBudgetError):
        clf.partial_fit(X[:2], [0, 1], task="another")
    assert held(clf) == before
    clf.partial_fit(X, np.arange(90) % 2)
    assert clf.n_samples_learned_ == 110


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_hidden": "auto", "memory_budget": 100}, r"budget is 100 bytes: expected at least"),
        (
            {"n_hidden": 117, "memory_budget": "2KB"},
            r"117 units and 10 classes .* the memory budget is 2,000",
        ),
        ({"features": "identity", "memory_budget": 1000}, r"the memory budget is 1,000"),
    ],
)
def test_a_budget_that_is_too_small_is_refused_at_once(params: dict[str, Any], message: str) -> None:
    X, y = stream()
    clf = make("mse", **params)
    with pytest.raises(MemoryBudgetError, match=message):
        clf.partial_fit(X, y)
    assert not clf.__sklearn_is_fitted__()


@pytest.mark.parametrize(
    ("size", "n_bytes"), [("512KB", 512_000), ("512 KiB", 524_288), ("1.5mb", 1_500_000), ("9000", 9000), (9000, 9000)]
)
def test_sizes_as_people_write_them(size: Any, n_bytes: int) -> None:
    X, y = stream()
    clf = make("mse", n_hidden="auto", memory_budget=size, expected_classes=7).partial_fit(X, y)
    assert 0.8 * n_bytes < clf.state_bytes <= n_bytes
    assert make("mse", n_hidden="auto", memory_budget=np.int64(9000)).partial_fit(X, y).state_bytes <= 9000


@pytest.mark.parametrize("case", CASES)
def test_state_does_not_grow_with_samples_and_working_memory_holds_it(case: str) -> None:
    X, y = stream()
    clf = make(case).partial_fit(X, y)
    state, working = clf.state_bytes, clf.working_bytes
    assert working > state - 4000
    for _ in range(5):
        clf.partial_fit(X, y)
    assert (clf.state_bytes, clf.working_bytes) == (state, working)


def test_the_projection_counts_as_its_seed(tmp_path: Path) -> None:
    X, y = stream()
    sparse, dense = (make("mse", density=density).partial_fit(X, y) for density in (2, 40))
    assert abs(sparse.state_bytes - dense.state_bytes) <= 2  # the digits of the parameter
    assert dense.working_bytes > sparse.working_bytes
    dense.save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_size < dense.state_bytes + 1500
    assert KenyonClassifier.load(tmp_path / "model").state_bytes == dense.state_bytes
