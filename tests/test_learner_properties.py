"""How the stream is cut, how many threads run, what is predicted in between: nothing changes a bit."""

from __future__ import annotations

import copy
import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from cases import slow
from kenyon import KenyonClassifier
from making import CASES, held, make, stream

KINDS = ("bytes", "float32", "float64")


ANY_KIND = [
    (case, kind) if kind == "bytes" or (KINDS[1:][number % 2] == kind) else slow(case, kind)
    for number, case in enumerate(CASES)
    for kind in KINDS
    if kind == "bytes" or CASES[case].get("arithmetic") != "integer"
]
"""Every case with bytes and with one kind of floats; `make test-all` has both."""


@pytest.mark.parametrize(("case", "kind"), ANY_KIND)
def test_any_cut_gives_the_same_bits(case: str, kind: str) -> None:
    X, y = stream(kind=kind)
    if case == "no unit norm" and kind != "bytes":
        X = X * 128
    whole, blocks, singles, ones = (make(case) for _ in range(4))
    before = whole.test_then_learn(X, y)
    for first, last in [(0, 5), (5, 6), (6, 40), (40, 73), (73, 90)]:
        blocks.partial_fit(X[first:last], y[first:last])
    seen = np.concatenate([singles.test_then_learn(X[i : i + 1], y[i : i + 1]) for i in range(len(X))])
    for x, label in zip(X, y, strict=True):
        ones.learn_one(x, label)
    assert held(blocks) == held(whole)
    assert held(singles) == held(whole)
    assert held(ones) == held(whole)
    assert np.array_equal(seen, before)
    assert whole._core.engine.layers[-1].weights.any(), "nothing was learned"


@settings(max_examples=30, deadline=None)
@given(
    cuts=st.lists(st.integers(1, 89), max_size=12),
    case=st.sampled_from(["mse", "gen-moving", "inel-moving", "one hidden layer", "schedule"]),
    seed=st.integers(0, 1000),
)
def test_any_random_cut_gives_the_same_bits(cuts: list[int], case: str, seed: int) -> None:
    X, y = stream(seed=seed)
    whole, pieces = make(case).partial_fit(X, y), make(case)
    edges = sorted({0, 90, *cuts})
    for first, last in pairwise(edges):
        if first or (y[first:last] >= 0).any():
            pieces.partial_fit(X[first:last], y[first:last])
    assert held(pieces) == held(whole)


@pytest.mark.parametrize("case", ["mse", "gen", "inel-gen", "one hidden layer", "counting in few bits"])
def test_tasks_cut_anyhow_give_the_same_bits(case: str) -> None:
    X, y = stream()
    whole, pieces = make(case), make(case)
    for task in ("first", "second", "first"):
        whole.partial_fit(X, y, task=task)
        for i in range(0, 90, 11):
            pieces.partial_fit(X[i : i + 11], y[i : i + 11], task=task)
    assert held(pieces) == held(whole)
    assert np.array_equal(pieces.predict(X, task="second"), whole.predict(X, task="second"))


def test_a_task_teaches_its_own_head_only() -> None:
    X, y = stream()
    clf = make("mse").partial_fit(X, y, task=0)
    own = list(clf.neurons(0).values())
    before = clf.weights_[:, own].copy()
    clf.partial_fit(X, y, task=1)
    assert np.array_equal(clf.weights_[:, own], before)
    assert set(clf.neurons(0).values()).isdisjoint(clf.neurons(1).values())


@pytest.mark.parametrize("kind", ["bytes", "float32"])
@pytest.mark.parametrize("case", ["mse", "gen", "inel-moving", "two hidden layers", "identity", "few bits"])
def test_threads_change_nothing(case: str, kind: str) -> None:
    X, y = stream(n=260, kind=kind)
    one, *others = (make(case, n_jobs=n) for n in (1, 2, 3))
    seen, scores = one.test_then_learn(X, y), one.decision_function(X)
    for other in others:
        assert np.array_equal(other.test_then_learn(X, y), seen)
        assert np.array_equal(other.decision_function(X), scores)
        assert held(other) == held(one)


@pytest.mark.parametrize("case", CASES)
def test_predictions_change_nothing(case: str) -> None:
    X, y = stream()
    clf = make(case).partial_fit(X, y)
    before = held(clf)
    first = clf.predict(X), clf.predict_proba(X), clf.decision_function(X)
    for now, then in zip((clf.predict(X), clf.predict_proba(X), clf.decision_function(X)), first, strict=True):
        assert np.array_equal(now, then)
    assert 0.0 <= clf.score(X[y >= 0], y[y >= 0]) <= 1.0
    one_by_one = np.concatenate([clf.decision_function(x[np.newaxis]) for x in X])
    assert np.array_equal(one_by_one, first[2])
    assert held(clf) == before


@pytest.mark.parametrize("case", CASES)
def test_unlabelled_samples_teach_nothing(case: str) -> None:
    X, y = stream()
    labelled, all_of_them = make(case), make(case)
    labelled.partial_fit(X[y >= 0], y[y >= 0])
    all_of_them.partial_fit(X, y)
    assert held(all_of_them) == held(labelled)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda clf: pickle.loads(pickle.dumps(clf))])
@pytest.mark.parametrize("case", ["mse", "inel-gen", "leaky", "two hidden layers", "counting in few bits"])
def test_copies_are_equal_and_independent(case: str, duplicate) -> None:
    X, y = stream()
    clf = make(case).partial_fit(X[:50], y[:50])
    before = held(clf)
    twin = duplicate(clf)
    assert held(twin) == before
    twin.partial_fit(X[50:], y[50:])
    assert held(clf) == before, "teaching the copy changed the original"
    assert held(clf.partial_fit(X[50:], y[50:])) == held(twin)


@pytest.mark.parametrize("case", CASES)
def test_a_clone_starts_afresh_with_the_same_parameters(case: str) -> None:
    X, y = stream()
    clf = make(case).partial_fit(X, y)
    before = held(clf)
    fresh = clone(clf)
    assert not fresh.__sklearn_is_fitted__()
    assert held(fresh.partial_fit(X, y)) == before
    fresh.partial_fit(X[::-1], y[::-1])
    assert held(clf) == before


def test_declared_classes_get_room_and_more_may_come() -> None:
    X, y = stream()
    clf = make("mse").partial_fit(X[:10], np.zeros(10, int), classes=[4, 2, 0])
    assert clf.classes_.tolist() == [0, 2, 4]
    assert clf.decision_function(X).shape == (90, 3)
    clf.partial_fit(X, y)
    assert clf.classes_.tolist() == [0, 1, 2, 3, 4, 5, 6]


def test_the_order_of_classes_changes_no_score() -> None:
    """A class declared early has the same weights as one that arrives late: an unlearned neuron is at rest."""
    X, y = stream()
    late, early = make("gen"), make("gen")
    late.partial_fit(X, y)
    early.partial_fit(X, y, classes=range(6, -1, -1))
    assert np.array_equal(late.decision_function(X), early.decision_function(X))


def test_fit_forgets_and_repeats() -> None:
    X, y = stream()
    clf = make("mse").fit(X[:30], y[:30]).fit(X, y)
    assert held(clf) == held(make("mse").partial_fit(X, y))
    twice = make("mse", epochs=2).fit(X, y)
    by_hand = make("mse", epochs=2).partial_fit(X, y).partial_fit(X, y)
    assert held(twice) == held(by_hand)


def test_the_seed_draws_the_projection() -> None:
    X, y = stream()
    scores = [make("mse", random_state=seed).fit(X, y).decision_function(X) for seed in (0, 0, 1)]
    assert np.array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])


def test_noncontiguous_and_foreign_types_of_input() -> None:
    X, y = stream()
    expected = held(make("mse").partial_fit(X, y))
    assert held(make("mse").partial_fit(np.asfortranarray(X), y)) == expected
    assert held(make("mse").partial_fit(np.repeat(X, 2, axis=0)[::2], y)) == expected
    as_floats = make("mse").partial_fit(X.astype(np.float32), y)
    for other in (X.astype(np.int64), X.astype(np.float64), X.astype(np.uint16), X.tolist()):
        assert held(make("mse").partial_fit(other, y)) == held(as_floats)


def test_defaults_learn_the_digits() -> None:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    for rule, least in {"gen": 0.8, "mse": 0.85, "inel": 0.85, "oja": 0.6}.items():
        clf = KenyonClassifier(rule, random_state=0).fit(X[:1400], y[:1400])
        assert clf.score(X[1400:], y[1400:]) >= least, rule
