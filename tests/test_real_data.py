"""Accuracies on MNIST, one pass, that the learner must reach."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kenyon import KenyonClassifier, LocalError, Plastic, Sparse
from kenyon.data.streams import Curriculum, Dataset, load_dataset
from kenyon.rules import GEN, INEL, MSE, Rule

pytestmark = pytest.mark.real_data

SINGLE: dict[str, Any] = {"n_hidden": 11_000, "features": Sparse(density=0.04, threshold=1.257), "random_state": 0}
SPLIT: dict[str, Any] = {"n_hidden": 11_000, "features": Sparse(density=0.143, threshold=1.86), "random_state": 0}
RATE = 0.15


@cache
def mnist() -> Dataset:
    return load_dataset("mnist")


def incremental(clf: KenyonClassifier, scenario: str) -> float:
    """Mean accuracy over the five tasks after one pass in strict order, two digits a task."""
    stream = Curriculum(scenario=scenario, n_tasks=5).open(mnist())
    heads = stream.info.task_heads
    for episode in stream.episodes:
        X, y = episode.train()
        assert len(set(y.tolist())) == 2
        clf.partial_fit(X, y, task=episode.task if heads else None)
    right = []
    for episode in stream.episodes:
        X, y = episode.test()
        right.append(np.mean(clf.predict(X, task=episode.task if heads else None) == y))
    return float(np.mean(right))


@pytest.mark.parametrize("rule", [MSE(), INEL(3.0)], ids=["mse", "inel"])  # beta chosen on held-out training samples
def test_single_task(rule: Rule) -> None:
    episode = Curriculum(scenario="single-task").open(mnist()).episodes[0]
    clf = KenyonClassifier(layer=Plastic(rule, learning_rate=RATE), **SINGLE).partial_fit(*episode.train())
    assert clf.n_samples_learned_ == 60_000
    assert clf.score(*episode.test()) >= 0.960


@pytest.mark.parametrize(
    ("layer", "least"),
    [
        (Plastic(GEN(b1=0.0, b2=-1.0), learning_rate=0.02, clamp=0.1), 0.90),
        (Plastic(INEL(300.0), learning_rate=0.1), 0.80),
    ],
    ids=["gen", "inel"],
)
def test_class_incremental_in_strict_order(layer: Plastic, least: float) -> None:
    assert incremental(KenyonClassifier(layer=layer, **SPLIT), "class-incremental") >= least


def test_task_incremental() -> None:
    assert (
        incremental(KenyonClassifier(layer=Plastic(MSE(), learning_rate=RATE), **SINGLE), "task-incremental") >= 0.994
    )


def _random_layer(clf: KenyonClassifier, X: NDArray, width: int) -> NDArray[np.float32]:
    """The rectified output of a layer with random weights, on the features of a classifier."""
    features, weights = clf._core.engine.features, np.random.default_rng(0).normal(size=(clf.weights_.shape[0], width))
    workspace, outputs = features.workspace(), np.empty((len(X), width), np.float32)
    for first in range(0, len(X), 32):
        block = np.ascontiguousarray(X[first : first + 32])
        units, values, counts = features.activate(block, workspace)
        for s in range(len(block)):
            outputs[first + s] = values[s, : counts[s]] @ weights[units[s, : counts[s]].astype(np.int64)]
    return np.maximum(outputs, 0)


def test_a_second_layer_learns() -> None:
    """A hidden layer trained by its own random codes, against the same layer left at random.

    Both have the same features, the same width, and an output layer that learns by the same rule.
    """
    width, (X, y) = 64, Curriculum(scenario="single-task", max_per_task=20_000).open(mnist()).episodes[0].train()
    T, t = mnist().test.X[:5000].reshape(5000, -1), mnist().test.y[:5000]
    small = {**SINGLE, "n_hidden": 2000, "layer": Plastic(MSE(), learning_rate=RATE)}
    shallow = KenyonClassifier(**small).partial_fit(X, y)
    deep = KenyonClassifier(hidden=LocalError((width,)), **small).partial_fit(X, y)
    at_random = KenyonClassifier(layer=small["layer"], features="identity", random_state=0).partial_fit(
        _random_layer(shallow, X, width), y
    )
    learned, left = deep.score(T, t), at_random.score(_random_layer(shallow, T, width), t)
    print(f"learned {learned:.3f}, at random {left:.3f}, without {shallow.score(T, t):.3f}")
    assert learned >= 0.90
    assert learned >= left + 0.05
