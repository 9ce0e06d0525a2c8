"""Several threads on one model: any number predict at once, learning excludes everything else."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from kenyon import KenyonClassifier, Sparse
from kenyon.model.lock import ModelLock
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
    clf = KenyonClassifier("gen", n_hidden=50, features=Sparse(density=5), random_state=0)
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


def test_a_writer_waits_for_any_number_of_readers() -> None:
    """Each thread that ever read was one call deeper: 1,200 of them were too deep."""
    lock, met, done = ModelLock(), threading.Semaphore(0), threading.Event()

    def reader() -> None:
        lock.read(met.release)
        done.wait()

    size = threading.stack_size(1 << 18)
    try:
        readers = [threading.Thread(target=reader) for _ in range(1200)]
        for thread in readers:
            thread.start()
    finally:
        threading.stack_size(size)
    for _ in readers:
        met.acquire()
    try:
        assert lock.write(lambda: 7) == 7
    finally:
        done.set()
        for thread in readers:
            thread.join()


def test_a_call_within_a_call_keeps_others_out() -> None:
    """A thread that writes may read and write within it; it goes on writing until the outer call ends."""
    lock, inside, seen = ModelLock(), threading.Event(), []
    asker = threading.Thread(target=lambda: (inside.wait(), seen.append(lock.read(lambda: list(held_by)))))
    held_by: list[str] = []

    def outer() -> None:
        held_by.append("outer")
        lock.write(lambda: lock.read(lambda: lock.write(lambda: None)))
        inside.set()
        for _ in range(100):
            lock.read(lambda: None)
        held_by.clear()

    asker.start()
    lock.write(outer)
    asker.join()
    assert seen == [[]], "a thread read while another wrote"


def test_a_writer_that_was_interrupted_keeps_nobody_waiting() -> None:
    """An interruption at the very end may leave its name behind."""
    lock, answers = ModelLock(), []
    lock.read(lambda: None)
    lock._writer = -1  # of a thread that is gone
    assert lock.read(lambda: 3) == 3 and lock._writer is None
    lock._writer = -1
    other = threading.Thread(target=lambda: answers.append((lock.read(lambda: 1), lock.write(lambda: 2))))
    other.start()
    other.join()
    assert answers == [(1, 2)] and lock.write(lambda: lock.read(lambda: 4)) == 4


LOOP = """
import os
import sys
from pathlib import Path
import numpy as np
from kenyon import KenyonClassifier

def others():
    ticks = 0
    for stat in Path("/proc/self/task").glob("*/stat"):
        text = stat.read_text()
        if stat.parent.name != str(os.getpid()):
            ticks += sum(map(int, text.rsplit(")", 1)[1].split()[11:13]))
    return ticks

rng = np.random.default_rng(0)
y = rng.integers(0, 3, 400)
X = rng.normal(size=(3, 40))[y] + rng.normal(size=(400, 40))
X = X if sys.argv[1] == "table" else np.clip(128 + 40 * X, 0, 255).astype(np.uint8)
clf = KenyonClassifier(random_state=0).partial_fit(X[:100], y[:100])
before = others()
for x, label in zip(X[100:], y[100:].tolist()):
    clf.predict_one(x)
    clf.learn_one(x, label)
clf.predict(X)
print(len(list(Path("/proc/self/task").glob("*"))), others() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system does not show the time of threads")
@pytest.mark.parametrize("kind", ["table", "bytes"])
def test_no_sample_starts_threads_of_blas(kind: str) -> None:
    """Threads that BLAS keeps ready, as many as the environment asks for, have nothing to do."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    found = subprocess.run(
        [sys.executable, "-c", LOOP, kind], env=os.environ | dict.fromkeys(names, "4"), capture_output=True, text=True
    )
    assert found.returncode == 0, found.stderr
    n_threads, ticks = map(int, found.stdout.split())
    several = len(os.sched_getaffinity(0)) > 1  # on one processor BLAS keeps none
    assert (n_threads > 1 or not several) and ticks <= 1
