"""Several threads on one model: any number predict at once, learning excludes everything else."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from kenyon import KenyonClassifier
from making import held, make, stream

X, Y = stream(n=200)


@pytest.mark.parametrize("case", ["no threshold", "mse", "gen", "two hidden layers", "identity"])
def test_threads_that_predict_at_once_get_the_same_answers(case: str) -> None:
    clf = make(case).partial_fit(X, Y)
    wanted = clf.decision_function(X)
    with ThreadPoolExecutor(4) as pool:
        for scores in pool.map(clf.decision_function, [X] * 200):
            assert np.array_equal(scores, wanted)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("case", ["mse", "gen", "inel"])
def test_every_answer_is_of_a_state_the_model_was_in(case: str, n_jobs: int) -> None:
    """One thread learns piece by piece while four predict; what they get is what a single thread gets in between."""
    pieces = [slice(start, start + 10) for start in range(60, 200, 10)]
    alone = make(case).partial_fit(X[:60], Y[:60])
    allowed = {alone.decision_function(X).tobytes()}
    for piece in pieces:
        allowed.add(alone.partial_fit(X[piece], Y[piece]).decision_function(X).tobytes())
    shared = make(case, n_jobs=n_jobs).partial_fit(X[:60], Y[:60])
    stop, seen = threading.Event(), []

    def ask() -> None:
        while not stop.is_set():
            seen.append(shared.decision_function(X).tobytes())

    askers = [threading.Thread(target=ask) for _ in range(4)]
    for asker in askers:
        asker.start()
    for piece in pieces:
        shared.partial_fit(X[piece], Y[piece])
    stop.set()
    for asker in askers:
        asker.join()
    assert set(seen) <= allowed
    assert held(shared) == held(alone)


def test_threads_that_learn_take_turns() -> None:
    """Each thread teaches a task of its own; whatever the order, every sample is learned once."""
    clf = make("gen").partial_fit(X[:20], Y[:20], task="start")

    def teach(task: int) -> None:
        for start in range(0, 100, 5):
            clf.partial_fit(X[start : start + 5], Y[start : start + 5], task=task)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(teach, range(4)))
    assert clf.n_samples_learned_ == np.count_nonzero(Y[:20] >= 0) + 4 * np.count_nonzero(Y[:100] >= 0)
    alone = make("gen").partial_fit(X[:20], Y[:20], task="start")
    alone.partial_fit(X[:100], Y[:100], task=0)
    column, own = clf.neurons(0)[3], alone.neurons(0)[3]
    assert np.array_equal(clf.weights_[:, column], alone.weights_[:, own]), "a head learns from its own task alone"


def test_first_calls_at_once_make_one_model() -> None:
    clf = KenyonClassifier("gen", n_hidden=50, density=5, random_state=0)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda part: clf.partial_fit(X[part::4], Y[part::4]), range(4)))
    assert clf.n_samples_learned_ == len(Y)  # -1 is a class unless `unlabelled` says otherwise


def test_a_learner_is_not_kept_waiting_by_those_who_predict() -> None:
    clf, stop = make("mse").partial_fit(X, Y), threading.Event()

    def ask() -> None:
        while not stop.is_set():
            clf.predict(X)

    askers = [threading.Thread(target=ask, daemon=True) for _ in range(4)]
    for asker in askers:
        asker.start()
    before = clf.n_samples_learned_
    for _ in range(20):
        clf.learn_one(X[0], int(Y[0]))
    stop.set()
    for asker in askers:
        asker.join()
    assert clf.n_samples_learned_ == before + 20
