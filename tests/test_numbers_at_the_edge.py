"""Counts, values, classes and features as large as they come: nothing overflows without an error."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest

from kenyon import KenyonClassifier, Sparse
from kenyon.errors import KenyonError, MergeError
from making import CASES, held, make, stream

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
