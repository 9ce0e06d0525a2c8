"""Readouts of the second-order layer by their definitions, and predictions while it learns."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.covariance import oas
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from kenyon.layers import Samples
from kenyon.layers._readout import NEVER, Rule, cell_of
from second_order import BETA, KINDS, activity, assert_agree, held, make, predictions, samples, teach

# ---- readouts


def plain_scores(X: NDArray, y: NDArray, queries: NDArray, kind: str, amount: float) -> NDArray:
    """Scores by definition, of classes 0, 1, ... that all have samples."""
    X, y, queries = X[y >= 0].astype(float), y[y >= 0], queries.astype(float)
    means = np.stack([X[y == j].mean(axis=0) for j in range(y.max() + 1)])
    away = X - means[y]
    W = away.T @ away / len(X)
    centre = means.mean(axis=0)
    if kind == "ridge":
        V = W + (means - centre).T @ (means - centre) / len(means)
        a = cell_of(amount * np.trace(V) / len(V) * len(X))[0] / len(X)
        B = np.linalg.solve(V + a * np.eye(len(V)), (means - centre).T) / len(means)
        return (queries - centre) @ B + 1 / len(means)
    A = np.linalg.inv(W + cell_of(amount * np.trace(W) / len(W) * len(X))[0] / len(X) * np.eye(len(W)))
    scores = queries @ A @ means.T - np.einsum("ji,ik,jk->j", means, A, means) / 2
    return scores - scores.mean(axis=1, keepdims=True)


@pytest.mark.parametrize("way", ["exact", "floats"])
@pytest.mark.parametrize("kind", ["discriminant", "ridge"])
@pytest.mark.parametrize("amount", [0.001, 0.5])
def test_readouts_are_those_of_their_definitions(way: str, kind: str, amount: float) -> None:
    X, y = samples(400, density=0.8)
    layer = teach(make(readout=kind, shrinkage=amount, **KINDS[way]), X, y)
    queries = samples(50, seed=9)[0]
    active = activity(queries if way == "exact" else queries.astype(np.float32))
    scores = layer.forward(active, 0, 50)[:, :5]
    wanted = plain_scores(X, y, queries, kind, amount)
    np.testing.assert_allclose(scores, wanted, rtol=2e-3, atol=2e-3)
    assert np.array_equal(layer.forward(active, 20, 31)[:, :5], scores[20:31])


def test_the_discriminant_is_that_of_scikit_learn_without_priors() -> None:
    X, y = samples(500)
    chosen = np.concatenate([np.flatnonzero(y == j)[:60] for j in range(5)])  # theirs weighs scatter by the priors
    X, y = X[chosen], y[chosen]
    scores = teach(make(shrinkage=0.0), X, y).forward(activity(X), 0, len(X))[:, :5]
    theirs = LinearDiscriminantAnalysis(solver="lsqr", priors=np.full(5, 0.2)).fit(X, y).decision_function(X)
    ours, theirs = (s - s.mean(axis=1, keepdims=True) for s in (scores, theirs))
    np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-3)


def test_the_shrinkage_that_it_chooses_is_that_of_scikit_learn() -> None:
    X = np.random.default_rng(0).normal(0, np.arange(1, 13), (40, 12))
    X -= X.mean(axis=0)
    rho = oas(X, assume_centered=True)[1]
    S = X.T @ X
    chosen = Rule("discriminant", "auto", "equal", False).chosen(np.trace(S), (S**2).sum(), 40, 12)
    assert chosen == pytest.approx(rho / (1 - rho))


def test_cells_of_the_shrinkage_are_a_quarter_of_an_octave() -> None:
    for value in (3.7e-9, 0.5, 1.0, 1.18, 77.0, 1.3e12):
        middle, first, end = cell_of(value)
        assert (
            first <= value < end and end / first == pytest.approx(2**0.25) and middle**2 == pytest.approx(first * end)
        )
        assert cell_of(first) == (middle, first, end) and cell_of(end)[1] == end


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shrinkage", [0.0, 0.001, "auto"])
def test_a_readout_is_there_at_every_count(kind: str, shrinkage: Any) -> None:
    """No sample, one, one of each of two classes, a unit that is never active, all samples the same."""
    X, y = samples()
    X[:, 3] = 0
    how = {**KINDS[kind], "shrinkage": shrinkage}
    values = X if KINDS[kind].get("in_bytes", True) else X.astype(np.float32)
    for n in (0, 1, 2, 3, 30):
        layer = teach(make(**how), X[:n], y[:n])
        scores = layer.forward(activity(values), 0, len(X))[:, :5]
        never = np.array([(y[:n] == j).sum() == 0 for j in range(5)])
        assert np.isfinite(scores).all()
        assert (scores[:, never] == NEVER).all() and (scores[:, ~never] > NEVER).all()
    twice = teach(make(**how), np.repeat(X[:2], 4, axis=0), np.repeat([0, 1], 4))
    assert np.array_equal(twice.forward(activity(values[:2]), 0, 2).argmax(axis=1), [0, 1])


def test_weights_and_their_means() -> None:
    X, y = samples()
    layer = teach(make(), X, y)
    weights, offsets = layer.weights, layer.offsets
    assert weights.shape == (23, 5) and weights.dtype == np.float32
    np.testing.assert_allclose(
        X @ weights + offsets, layer.forward(activity(X), 0, len(X))[:, :5], rtol=1e-3, atol=1e-3
    )
    wanted = [X[y == j].mean() for j in range(5)]
    np.testing.assert_allclose(layer.weight_means(), wanted)


def test_threads_that_ask_at_once_get_the_same() -> None:
    X, y = samples()
    layer = teach(make(), X, y)
    active = activity(X)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: layer.forward(active, 0, len(X)).tobytes(), range(8)))
    assert len(set(answers)) == 1


@pytest.mark.parametrize("how", [{}, {"bits": 16}, {"bits": 24}, {"shrinkage": "auto"}], ids=str)
def test_digits_one_class_after_the_other(how: dict[str, Any]) -> None:
    X, y = load_digits(return_X_y=True)
    X = (X * 15).astype(np.uint8)
    order = np.random.default_rng(0).permutation(len(y))
    test, train = order[:500], order[500:]
    train = train[np.argsort(y[train], kind="stable")]
    layer = teach(make(64, 10, **how), X[train], y[train])
    assert (layer.forward(activity(X[test]), 0, 500)[:, :10].argmax(axis=1) == y[test]).mean() > 0.93


# ---- predictions while learning


@settings(max_examples=15, deadline=None)
@given(st.data())
@pytest.mark.parametrize("kind", KINDS)
def test_predictions_while_learning_depend_on_no_cuts(kind: str, data: st.DataObject) -> None:
    X, y = samples(300, seed=data.draw(st.integers(0, 9)))
    cuts = sorted(data.draw(st.lists(st.integers(1, 299), max_size=5, unique=True)))
    one, other = make(**KINDS[kind]), make(**KINDS[kind])
    whole = predictions(one, X, y)
    assert_agree(whole, predictions(other, X, y, cuts))
    assert held(one) == held(other)
    fresh = make(**KINDS[kind], follows=False)
    assert_agree(whole, predictions(fresh, X, y, cuts))


def test_a_new_class_is_not_predicted_before_its_first_sample() -> None:
    X, y = samples(100, n_classes=8)
    layer = make(n_classes=8)
    predictions(layer, X, y)
    layer.add_class()  # beyond the padding
    scores = np.empty((1, layer.width), np.float32)
    layer.learn(Samples(activity(X[:1]), 0, 1, np.array([8]), None, BETA), scores)
    assert scores[0, 8] == NEVER and np.isfinite(scores[0, :8]).all()
    layer.learn(Samples(activity(X[:1]), 0, 1, np.array([8]), None, BETA), scores)
    assert scores[0, :9].argmax() == 8
