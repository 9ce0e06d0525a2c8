"""The diagonal layer: means and variances of wide samples, each input by itself."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kenyon import Diagonal, Identity, KenyonClassifier, recommend
from kenyon.errors import ConfigError, MergeWarning
from kenyon.reference import Learner

PLAIN = {"features": "identity", "layer": "diagonal", "random_state": 0}


def gaussians(n: int, d: int, k: int, apart: float, seed: int = 0) -> tuple[NDArray, NDArray]:
    """Independent inputs on scales from 0.001 to 1,000, far from zero."""
    rng = np.random.default_rng(seed)
    centres, y = rng.normal(0, apart, (k, d)), rng.integers(0, k, n)
    scales = 10.0 ** np.linspace(-3, 3, d)
    return (centres[y] + rng.normal(size=(n, d)) + 5) * scales, y


def discriminant(X: NDArray, y: NDArray, tested: NDArray) -> NDArray:
    """The same by two passes."""
    labels, centre = np.unique(y), X.mean(axis=0)
    means = np.array([X[y == label].mean(axis=0) for label in labels])
    within = sum(((X[y == label] - mean) ** 2).sum(axis=0) for label, mean in zip(labels, means, strict=True)) / len(y)
    v = within + 0.1 * X.var(axis=0)
    counts = np.array([(y == label).sum() for label in labels])
    between = sum(n * ((mean - centre) ** 2 / v).sum() for n, mean in zip(counts, means, strict=True))
    c = 1 - (len(labels) - 1) * (within / v).sum() / between
    return np.array(
        [
            c * ((tested - (mean + centre) / 2) * ((mean - centre) / v)).sum(axis=1) + np.log(n)
            for mean, n in zip(means, counts, strict=True)
        ]
    ).T


def test_the_scores_are_those_of_two_passes() -> None:
    X, y = gaussians(300, 40, 4, 0.6)
    clf = KenyonClassifier(**PLAIN).partial_fit(X[:200], y[:200])
    assert np.allclose(clf.decision_function(X[200:]), discriminant(X[:200], y[:200], X[200:]), atol=1e-2)


def test_the_reference_has_the_same_state_and_scores() -> None:
    X, y = gaussians(60, 30, 3, 1.0)
    X[:, 3], X[5] = 7.0, 0.0  # an input that hardly varies, and a sample of zeros
    fast, plain = KenyonClassifier(**PLAIN).partial_fit(X, y), Learner(**PLAIN).partial_fit(X, y)
    arrays = fast.to_arrays()
    for name, array in plain.to_arrays().items():
        assert np.array_equal(arrays[name], array), name
    spread = np.ptp(plain.decision_function(X))
    assert np.allclose(fast.decision_function(X), plain.decision_function(X), atol=1e-4 * spread)


@pytest.mark.parametrize("cuts", [(1,), (20, 21, 50), tuple(range(1, 120))])
def test_any_cut_gives_the_same_bits(cuts: tuple[int, ...]) -> None:
    X, y = gaussians(120, 25, 5, 0.8)
    whole, parts = KenyonClassifier(**PLAIN).partial_fit(X, y), KenyonClassifier(**PLAIN)
    for start, stop in zip((0, *cuts), (*cuts, len(y)), strict=True):
        parts.partial_fit(X[start:stop], y[start:stop])
    tested = KenyonClassifier(**PLAIN)
    tested.test_then_learn(X, y)
    for other in (parts, tested):
        a, b = whole.to_arrays(), other.to_arrays()
        assert all(np.array_equal(a[name], b[name]) for name in a)


def test_a_file_goes_on_and_a_call_that_fails_changes_nothing(tmp_path: Path) -> None:
    X, y = gaussians(80, 25, 4, 0.8)
    clf = KenyonClassifier(**PLAIN).partial_fit(X[:50], y[:50])
    clf.save(tmp_path / "m.safetensors")
    loaded = KenyonClassifier.load(tmp_path / "m.safetensors").partial_fit(X[50:], y[50:])
    with pytest.raises(ValueError, match="NaN"):
        clf.partial_fit(np.where(np.arange(25) == 3, np.nan, X[50:]), y[50:])
    clf.partial_fit(X[50:], y[50:])
    a, b = loaded.to_arrays(), clf.to_arrays()
    assert all(np.array_equal(a[name], b[name]) for name in a)


def test_parts_of_a_stream_merge() -> None:
    X, y = gaussians(90, 25, 4, 0.8)
    whole = KenyonClassifier(**PLAIN).partial_fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MergeWarning)
        merged = KenyonClassifier.merge([KenyonClassifier(**PLAIN).partial_fit(X[a::2], y[a::2]) for a in (0, 1)])
    assert merged.n_samples_learned_ == len(y)
    assert np.allclose(merged.decision_function(X), whole.decision_function(X), atol=1e-2)


def test_forgetting_a_class_leaves_the_others_apart() -> None:
    X, y = gaussians(400, 25, 4, 0.8)
    clf = KenyonClassifier(**PLAIN).partial_fit(X, y)
    clf.forget(2)
    kept = y != 2
    assert clf.classes_.tolist() == [0, 1, 3]
    assert clf.score(X[kept], y[kept]) > 0.95


def test_known_samples_are_familiar() -> None:
    X, y = gaussians(600, 50, 3, 0.8)
    clf = KenyonClassifier(**PLAIN).partial_fit(X[:500], y[:500])
    known = clf.familiarity(X[500:])
    unknown = clf.familiarity(X[500:] + 4 * X.std(axis=0) * np.where(np.arange(50) % 2, 1, -1))
    assert np.median(known) > 0.1
    assert np.median(unknown) < 0.01


def test_wide_tables_have_it_by_default_where_the_budget_holds_it() -> None:
    X, y = gaussians(400, 1_500, 4, 0.15)
    clf = KenyonClassifier(random_state=0).partial_fit(X[:300], y[:300])
    assert isinstance(clf.spec_.layer, Diagonal) and isinstance(clf.spec_.features, Identity)
    ramps = KenyonClassifier(layer="second-order", random_state=0).partial_fit(X[:300], y[:300])
    assert clf.score(X[300:], y[300:]) > ramps.score(X[300:], y[300:]) + 0.1
    estimate = clf.accuracy_estimate()
    assert estimate.low <= estimate.accuracy <= estimate.high
    assert clf.predict_proba(X[300:]).sum(axis=1) == pytest.approx(1.0)
    assert recommend(1_500, dtype=float, memory_budget="1MB").layer.name == "diagonal"
    assert recommend(1_500, dtype=float, memory_budget="100KB").layer.name == "second-order"
    small = KenyonClassifier(memory_budget="100KB", random_state=0).partial_fit(X[:50], y[:50])
    assert small.state_bytes <= 100_000


def test_what_does_not_go_together_is_refused() -> None:
    X, y = gaussians(20, 25, 2, 0.8)
    with pytest.raises(ConfigError, match="unit_norm is True"):
        KenyonClassifier(**PLAIN, unit_norm=True).partial_fit(X, y)
