"""Split-MNIST on ten machines: equal to a single pass where sums are exact, within 0.3 points of it in few bits."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kenyon import KenyonClassifier
from kenyon.data.streams import load_dataset
from making import composed, held

pytestmark = [pytest.mark.real_data, pytest.mark.filterwarnings("ignore::kenyon.errors.MergeWarning")]

SECOND = {"layer": "second-order", "shape": (28, 28), "n_hidden": 60, "random_state": 0}
COUNTING = {"rule": "mean", "n_hidden": 4000, "random_state": 0}


@cache
def split_mnist() -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Training samples two digits at a time, and others of the training set."""
    train = load_dataset("mnist").train
    X, y = np.asarray(train.X[:]), train.y
    order = np.argsort(y[:40_000] // 2, kind="stable")
    return X[:40_000][order], y[:40_000][order], X[50_000:], y[50_000:]


def machines(split: str, y: NDArray) -> NDArray:
    """The machine of each sample: one for each digit, or three for each."""
    near = np.array([0, 1, 5])[np.random.default_rng(0).choice(3, len(y), p=[0.6, 0.3, 0.1])]
    return y if split == "a digit each" else (y + near) % 10


@pytest.mark.parametrize("split", ["a digit each", "digits split"])
@pytest.mark.parametrize(
    "params", [SECOND, COUNTING | {"layer": "counting", "n_hidden": 1000}], ids=["second", "count"]
)
def test_exact_sums_equal_the_single_pass(split: str, params: dict[str, Any]) -> None:
    X, y, more, _ = split_mnist()
    X, y = X[::4], y[::4]
    machine, known = machines(split, y), range(10)
    single = KenyonClassifier(**composed(**params)).partial_fit(X, y, classes=known)
    parts = [
        KenyonClassifier(**composed(**params)).partial_fit(X[machine == k], y[machine == k], classes=known)
        for k in range(10)
    ]
    merged = KenyonClassifier.merge(parts)
    assert held(merged) == held(single)
    assert np.array_equal(merged.decision_function(more), single.decision_function(more))


@pytest.mark.parametrize("params", [COUNTING | {"bits": 4}, SECOND | {"bits": 16}], ids=["4 bits", "16 bits"])
def test_few_bits_stay_within_a_third_of_a_point(params: dict[str, Any]) -> None:
    X, y, more, labels = split_mnist()
    single = KenyonClassifier(**composed(**params)).partial_fit(X, y).score(more, labels)
    for split in ("a digit each", "digits split"):
        machine = machines(split, y)
        parts = [
            KenyonClassifier(**composed(**params)).partial_fit(X[machine == k], y[machine == k]) for k in range(10)
        ]
        assert KenyonClassifier.merge(parts).score(more, labels) > single - 0.003, split
