"""Do the jobs, several at a time; one that fails is noted and the others go on."""

from __future__ import annotations

import gc
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from pathlib import Path
from threading import Thread
from time import perf_counter

from kenyon.reproduce._jobs import Job, RunJob

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

Told = Callable[[Job, str, float, bool], None]
"""Called when a job has ended, with the job, a message, the seconds it took, and whether it succeeded."""

Ended = tuple[str, float, bool]
"""How a job ended: a message, the seconds it took, and whether it succeeded."""


def execute(jobs: Sequence[Job], store: Path, data_dir: Path | None, workers: int, told: Told) -> dict[str, str]:
    """Do the jobs; returns the reason of each failure, by the name of the job.

    Runs are shared among processes. A search shares its evaluations among processes itself, so it runs alone, after
    the runs.
    """
    failures: dict[str, str] = {}
    runs = [job for job in jobs if isinstance(job, RunJob)]
    others = [job for job in jobs if not isinstance(job, RunJob)]
    first = (
        in_processes(runs, store, data_dir, workers) if workers > 1 and len(runs) > 1 else _here(runs, store, data_dir)
    )
    for outcomes in (first, _here(others, store, data_dir)):
        for job, (word, seconds, done) in outcomes:
            if not done:
                failures[job.name] = word
            told(job, word, seconds, done)
    return failures


def attempt(job: Job, store: Path, data_dir: Path | None) -> Ended:
    """Do one job; whatever it raises becomes its message."""
    gc.collect()  # releases the data sets that earlier jobs had mapped
    begin = perf_counter()
    try:
        word, done = job.do(store, data_dir), True
    except Exception as error:
        word, done = f"{type(error).__name__}: {error}", False
    return word, perf_counter() - begin, done


def _here(jobs: Sequence[Job], store: Path, data_dir: Path | None) -> Iterator[tuple[Job, Ended]]:
    for job in jobs:
        yield job, attempt(job, store, data_dir)


def in_processes(jobs: Sequence[Job], store: Path, data_dir: Path | None, workers: int) -> Iterator[tuple[Job, Ended]]:
    """Do the jobs in a pool of processes.

    A process that dies breaks the pool. The jobs that are left are then tried again, each in a pool of its own.
    """
    left = {job.name: job for job in jobs}
    with one_thread_each():
        try:
            with _pool(workers) as pool:
                futures = {pool.submit(attempt, job, store, data_dir): job for job in jobs}
                for future in as_completed(futures):
                    outcome = future.result()
                    yield left.pop(futures[future].name), outcome
        except BrokenProcessPool:
            for job in left.values():
                try:
                    with _pool(1) as pool:
                        outcome = pool.submit(attempt, job, store, data_dir).result()
                except BrokenProcessPool:
                    outcome = ("its process died, perhaps for want of memory", 0.0, False)
                yield job, outcome


def _pool(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), initializer=_end_with_parent)


def _end_with_parent() -> None:
    """Make a worker end when the owner of its pool is killed; it would wait for work for ever, and hold its run."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)  # every file that was written is whole, so the run can be resumed

    Thread(target=watch, daemon=True).start()


class one_thread_each:
    """Gives each process that is started inside the `with` block one thread, unless the user has said otherwise."""

    def __enter__(self) -> None:
        self._set = [name for name in THREADS if name not in os.environ]
        os.environ.update(dict.fromkeys(self._set, "1"))

    def __exit__(self, *error: object) -> None:
        for name in self._set:
            os.environ.pop(name, None)
