"""Counts, values, classes and features as large as they come: nothing overflows without an error."""

from __future__ import annotations

import copy
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from cases import slow
from kenyon import KenyonClassifier, Sparse
from kenyon.errors import KenyonError, MergeError
from kenyon.layers._coactivity import _Sums
from kenyon.layers._state import padded
from making import CASES, composed, held, make, stream

ADDITIVE = [
    case for case in CASES if not {"rule", "hidden_layers"} & CASES[case].keys() or CASES[case].get("rule") == "mean"
]


@pytest.mark.filterwarnings("ignore::kenyon.errors.MergeWarning")
@pytest.mark.parametrize("case", ADDITIVE)
def test_counts_double_until_they_are_refused(case: str, tmp_path: Path) -> None:
    """Beyond 2^31 and 2^53 samples, streams with a half-life among them; what is refused changes nothing."""
    X, y = stream(60)
    model = make(case).partial_fit(X, y)
    doublings = 0
    while True:
        before = held(model)
        try:
            merged = KenyonClassifier.merge([model, copy.deepcopy(model)])
        except MergeError:
            break
        finally:
            assert held(model) == before
        assert merged.n_samples_learned_ == 2 * model.n_samples_learned_
        assert np.isfinite(merged.decision_function(X[:5])).all()
        model, doublings = merged, doublings + 1
        assert doublings < 63, "2^63 samples were counted"
    model.save(tmp_path / "model.safetensors")
    assert held(KenyonClassifier.load(tmp_path / "model.safetensors")) == held(model)
    assert doublings == 0 or held(model.partial_fit(X[:5], y[:5])) != before


@pytest.mark.parametrize("case", ["mse", "table", "second order", "counting", "scaled", "memory"])
@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e-30, 1e29, 1e300])
def test_floats_at_either_end(case: str, size: float) -> None:
    X = np.random.default_rng(0).normal(size=(40, 40))
    y = np.arange(40) % 3
    model = make(case)
    try:
        model.partial_fit(X * size, y)
        scores = model.decision_function(X * size)
    except KenyonError:
        assert size >= 1e29
    else:
        assert np.isfinite(scores).all()


@pytest.mark.parametrize("kind", [np.uint8, np.float64])
def test_a_hundred_thousand_features(kind: type) -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.integers(0, 100, (10, 100_000)), rng.integers(80, 256, (10, 100_000))]).astype(kind)
    y = np.repeat([0, 1], 10)
    model = KenyonClassifier("mse", features=Sparse(units=100, density=50), random_state=0).partial_fit(X, y)
    assert set(model.predict(X)) <= {0, 1}
    assert model.working_bytes < 1000 * 100_000


MANY = {
    "mse": {"rule": "mse"},
    "gen": {"rule": "gen"},
    "few bits": {"rule": "gen", "bits": 4},
    "counting": {"layer": "counting"},
    "table": {"features": "ramps", "threshold": "auto"},
    "second order, 16 bits": {"layer": "second-order", "shape": (4, 5), "density": 3, "threshold": None, "bits": 16},
}
"""Models that learn many classes, without a window or a hidden layer, whose state is larger."""


def _of_many_classes(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    return np.random.default_rng(seed).integers(0, 256, (n, 20), np.uint8), np.arange(n)


@pytest.mark.parametrize(("case", "n"), [*((case, 2000) for case in MANY), *(slow(case, 10_000) for case in MANY)])
def test_thousands_of_classes_take_memory_in_proportion(case: str, n: int, tmp_path: Path) -> None:
    X, y = _of_many_classes(n)
    model = KenyonClassifier(**composed(**{"n_hidden": 24, "density": 5, "random_state": 0, **MANY[case]}))
    tracemalloc.start()
    try:
        model.partial_fit(X, y)
        model.save(tmp_path / "model.safetensors")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * model.state_bytes + 3300 * n, f"{peak / 2**20:.0f} MB for {model.state_bytes / 2**20:.0f}"
    assert len(model.classes_) == n and set(model.predict(X[:50])) <= set(y)
    again = KenyonClassifier.load(tmp_path / "model.safetensors")
    assert np.array_equal(again.predict(X[-20:]), model.predict(X[-20:]))


@pytest.mark.parametrize("predict", [False, True])
@pytest.mark.parametrize("case", MANY)
def test_classes_take_steps_in_proportion(case: str, predict: bool) -> None:
    """Calls of Python and C, those of generators included: twice as many classes take about twice as many."""
    calls = []
    for n in (250, 500):
        model = KenyonClassifier(**composed(**{"n_hidden": 24, "density": 5, "random_state": 0, **MANY[case]}))
        counted = [0]

        def count(frame: object, event: str, arg: object, counted: list[int] = counted) -> None:
            counted[0] += event in ("call", "c_call")

        X, y = _of_many_classes(n)
        sys.setprofile(count)
        try:
            (model.test_then_learn if predict else model.partial_fit)(X, y)
        finally:
            sys.setprofile(None)
        calls.append(counted[0])
    assert calls[1] < 2.3 * calls[0], calls


def test_a_readout_that_needs_more_shrinkage_sums_the_classes_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a sample of each class nothing varies within one, and shrinkage grows until the matrix can be inverted."""
    X, y = _of_many_classes(500)
    params = composed(n_hidden=200, random_state=0, layer="second-order")
    model, calls, moments = KenyonClassifier(**params).partial_fit(X, y), [], _Sums.moments
    monkeypatch.setattr(_Sums, "moments", lambda sums, state: calls.append(1) or moments(sums, state))
    assert np.isfinite(model.decision_function(X[:1])).all()
    assert len(calls) == 2


def test_a_layer_that_grows_is_seldom_copied() -> None:
    widths = [padded(n) for n in range(1, 10_001)]
    assert widths == sorted(widths) and all(width >= n for n, width in enumerate(widths, 1))
    assert len(set(widths)) < 90 and max(width / n for n, width in enumerate(widths, 1) if n > 64) < 1.13
