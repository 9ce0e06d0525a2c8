"""Memory as a half-life: any cut, what stays, and that it follows a stream that changes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from kenyon import KenyonClassifier, SecondOrder
from making import held, make, stream

X, Y = stream(140)
CASES = ["memory", "memory, windows", "memory, 16 bits", "memory, counting"]


@pytest.mark.parametrize("case", CASES)
def test_any_cut_gives_the_same_state_and_the_same_predictions(case: str) -> None:
    whole, pieces, ones = make(case).partial_fit(X, Y), make(case), make(case).partial_fit(X[:1], Y[:1])
    for start in range(0, len(X), 5):
        pieces.partial_fit(X[start : start + 5], Y[start : start + 5])
    for x, y in zip(X[1:], Y[1:], strict=True):
        ones.learn_one(x, int(y))
    assert held(whole) == held(pieces) == held(ones)
    first, second = make(case), make(case)
    predicted = first.test_then_learn(X, Y)
    parts = [second.test_then_learn(X[start : start + 11], Y[start : start + 11]) for start in range(0, len(X), 11)]
    assert np.array_equal(predicted, np.concatenate(parts)) and held(first) == held(second) == held(whole)


@pytest.mark.parametrize("case", CASES)
def test_counts_stay_below_twice_the_half_life_and_no_class_is_lost(case: str) -> None:
    clf = make(case).partial_fit(X, Y)
    class_counts = clf.parts()[1][0].state.views()["class_counts"]
    assert clf.n_samples_learned_ > 100 and class_counts.sum() < 2 * 9 and (class_counts > 0).all()


def test_a_halving_changes_no_prediction() -> None:
    clf = make("memory", half_life=70, n_hidden=60).partial_fit(X[:139], Y[:139])
    layer = clf.parts()[1][0]
    before, scores = layer.state.views()["class_counts"].copy(), clf.decision_function(X)
    layer.fade()
    assert np.array_equal(layer.state.views()["class_counts"], (before + 1) // 2)
    now = clf.decision_function(X)
    assert np.mean(now.argmax(axis=1) == scores.argmax(axis=1)) > 0.95


def drifting(n: int = 2000) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Two classes that change places half way."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(0, 1, (n, 5)), rng.integers(0, 2, n)
    X[:, 0] += np.where(np.arange(n) < n // 2, 2 * y - 1, 1 - 2 * y) * 1.5
    return X, y


def test_with_a_half_life_the_learner_follows_an_abrupt_drift() -> None:
    X, y = drifting()
    late = slice(1500, None)
    stays = np.mean((KenyonClassifier(random_state=0).test_then_learn(X, y) == y)[late])
    follows = np.mean(
        (KenyonClassifier(layer=SecondOrder(half_life=150), random_state=0).test_then_learn(X, y) == y)[late]
    )
    assert follows > 0.87 and follows > stays + 0.2


@pytest.mark.filterwarnings("ignore::kenyon.errors.MergeWarning")
def test_samples_without_a_label_fade_nothing() -> None:
    """Merged models may hold more than two half-lives of samples until the next one is learned."""
    clf = make("memory").partial_fit(X[:15], Y[:15]).merge(make("memory").partial_fit(X[15:30], Y[15:30]))
    before = held(clf)
    assert clf.parts()[1][0].state.views()["class_counts"].sum() >= 2 * 9
    clf.partial_fit(X[-5:], [None] * 5)
    assert held(clf) == before
