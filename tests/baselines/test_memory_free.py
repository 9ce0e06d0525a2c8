"""Nearest class mean, streaming LDA, FlyModel, RanDumb: statistics of each class, and never a sample."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from split_digits import SplitDigits, resumes, same_state

from kenyon.errors import ConfigError, InputError
from kenyon.learners.baselines._flymodel import FlyModel
from kenyon.learners.baselines._memory_free import MemoryFree
from kenyon.learners.baselines._ncm import NCM
from kenyon.learners.baselines._randumb import RanDumb
from kenyon.learners.baselines._slda import StreamingLDA

# class, options, at least this accuracy class-incrementally and task-incrementally
CASES: list[tuple[type[MemoryFree], dict[str, Any], float, float]] = [
    (NCM, {}, 0.85, 0.95),
    (NCM, {"metric": "cosine"}, 0.85, 0.95),
    (StreamingLDA, {}, 0.92, 0.98),
    (FlyModel, {"n_hidden": 1000, "winners": 0.05}, 0.85, 0.95),
    (FlyModel, {"n_hidden": 1000, "winners": 0.05, "decay": 1e-5}, 0.80, 0.95),
    (RanDumb, {"n_features": 300, "gamma": 0.1}, 0.92, 0.97),
]
every = pytest.mark.parametrize(("cls", "options", "classwise", "taskwise"), CASES)


@every
def test_learns_the_split_digits(cls: Any, options: dict[str, Any], classwise: float, taskwise: float) -> None:
    for scenario, least in (("class", classwise), ("single", classwise), ("task", taskwise)):
        stream = SplitDigits(scenario)
        assert stream.accuracy(stream.learn(cls(stream.info, 0, **options))) >= least


@every
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_how_the_stream_is_cut_changes_no_bit(
    cls: Any, options: dict[str, Any], classwise: float, taskwise: float, dtype: Any
) -> None:
    stream = SplitDigits("single")
    X, y = (stream.X[:300] * 0.97).astype(dtype), stream.y[:300]
    whole = cls(stream.info, 0, **options)
    whole.learn(X, y)
    for size in (1, 7, 64, 131):
        parts = cls(stream.info, 0, **options)
        for start in range(0, len(y), size):
            parts.learn(X[start : start + size], y[start : start + size])
        assert same_state(whole, parts), f"cuts of {size}"


@every
def test_order_of_classes_does_not_matter_to_what_is_known(
    cls: Any, options: dict[str, Any], classwise: float, taskwise: float
) -> None:
    """Nothing is forgotten: class by class ends close to all classes shuffled."""
    if options.get("decay"):
        options = {**options, "decay": 0.0}
    split, mixed = SplitDigits("class"), SplitDigits("single")
    a = split.accuracy(split.learn(cls(split.info, 0, **options)))
    b = mixed.accuracy(mixed.learn(cls(mixed.info, 0, **options)))
    assert abs(a - b) < 0.01


@every
def test_resumes_and_leaves_unlabelled_samples_alone(
    cls: Any, options: dict[str, Any], classwise: float, taskwise: float
) -> None:
    stream = SplitDigits("class")
    assert resumes(lambda: cls(stream.info, 3, **options), stream)
    learner = stream.learn(cls(stream.info, 3, **options))
    before = learner.state()
    learner.learn(stream.X[:20], np.full(20, -1))
    learner.predict(stream.X_test)
    assert all(np.array_equal(before[key], value) for key, value in learner.state().items())
    twin = stream.learn(cls(stream.info, 3, **options))
    assert same_state(learner, twin)


@every
def test_tests_before_it_learns(cls: Any, options: dict[str, Any], classwise: float, taskwise: float) -> None:
    stream = SplitDigits("single")
    a, b = cls(stream.info, 0, batch_size=50, **options), cls(stream.info, 0, batch_size=50, **options)
    predicted = a.test_then_learn(stream.X[:120], stream.y[:120])
    for start in range(0, 120, 50):
        part = slice(start, min(120, start + 50))
        assert np.array_equal(predicted[part], b.predict(stream.X[part]))
        b.learn(stream.X[part], stream.y[part])
    assert same_state(a, b)


def test_streaming_lda_has_the_means_and_covariance_of_all_samples_at_once() -> None:
    stream = SplitDigits("class")
    learner = StreamingLDA(stream.info, 0)
    stream.learn(learner)
    X = stream.X / 16.0
    means = np.stack([X[stream.y == c].mean(axis=0) for c in range(10)])
    centred = X - means[stream.y]
    np.testing.assert_allclose(learner.means, means, atol=1e-5)
    np.testing.assert_allclose(learner.covariance, centred.T @ centred / len(X), atol=1e-5)


def test_flymodel_changes_the_labelled_class_at_the_winners_only() -> None:
    stream = SplitDigits("single")
    learner = FlyModel(stream.info, 0, n_hidden=500, winners=0.04, rate=0.3)
    X, y = stream.X[:1], stream.y[:1]
    winners = learner._embed(learner._scaled(X))
    top, active = winners["cell"], winners["activity"]
    assert len(np.unique(top)) == learner.n_winners == 20
    assert active.max() == 1.0 and active.min() >= 0.0
    learner.learn(X, y)
    expected = np.zeros_like(learner.weights)
    expected[y[0], top[0]] = np.float32(0.3) * active[0]
    np.testing.assert_array_equal(learner.weights, expected)
    for _ in range(10):
        learner.learn(X, y)
    assert learner.weights.max() == 1.0  # capped
    assert learner.synaptic_updates == 11 * 20


def test_randumb_features_approximate_the_gaussian_kernel() -> None:
    stream = SplitDigits("single")
    learner = RanDumb(stream.info, 0, n_features=20_000, gamma=0.3)
    x = stream.X[:20].astype(np.float32) / 16.0
    phi = learner._embed(x)
    kernel = np.exp(-0.3 * np.square(x[:, None] - x[None]).sum(axis=2))
    np.testing.assert_allclose(2.0 * phi @ phi.T / phi.shape[1], kernel, atol=0.04)


def test_projections_count_as_their_seed() -> None:
    info = SplitDigits("single").info
    assert FlyModel(info, 0, n_hidden=1000).state_bytes < 10 * 1000 * 4 + 200
    assert RanDumb(info, 0, n_features=100).state_bytes < (10 * 100 + 100 * 100) * 4 + 200


def test_bad_input_is_refused_and_changes_nothing() -> None:
    stream = SplitDigits("task")
    learner = NCM(stream.info, 0)
    bad = np.full((2, 64), np.nan, dtype=np.float32)
    for X, y, task in (
        (bad, np.zeros(2, dtype=np.int64), 0),
        (stream.X[:2, :9], np.zeros(2, dtype=np.int64), 0),
        (stream.X[:2], np.array([0, 10]), 0),
        (stream.X[:2], np.zeros(3, dtype=np.int64), 0),
        (stream.X[:2], np.zeros(2, dtype=np.int64), None),
        (stream.X[:2], np.zeros(2, dtype=np.int64), 5),
    ):
        with pytest.raises(InputError):
            learner.learn(X, y, task)
    assert not learner.counts.any() and not learner.means.any()
    for cls, options in (
        (NCM, {"metric": "euclid"}),
        (StreamingLDA, {"shrinkage": 0.0}),
        (FlyModel, {"winners": 0.0}),
        (FlyModel, {"decay": 1.0}),
        (RanDumb, {"gamma": -1.0}),
        (RanDumb, {"n_features": 0}),
    ):
        with pytest.raises(ConfigError):
            cls(stream.info, 0, **options)


def test_no_torch_is_imported() -> None:
    names = ["_ncm", "_slda", "_flymodel", "_randumb"]
    imports = "; ".join(f"import kenyon.learners.baselines.{name}" for name in names)
    code = f"import sys; {imports}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
