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
"""Called with a job that ended, a word on it, its seconds, and whether it was done."""

Ended = tuple[str, float, bool]
"""The same of a job that ended."""


def execute(jobs: Sequence[Job], store: Path, data_dir: Path | None, workers: int, told: Told) -> dict[str, str]:
    """Do the jobs; returns the reason for each that failed, by name.

    Runs are shared out among processes. A search shares its evaluations out itself, so it comes after them, alone.
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
    """Do one job; whatever it raises becomes its word."""
    gc.collect()  # lets go of the data sets that earlier jobs had mapped
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
    """A process that dies takes the pool with it: what was not done is then tried again, each in a pool of its own."""
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
    """In a worker: a pool whose owner was killed would wait for work for ever, and hold on to the run it is in."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)  # what was written is whole; the run resumes

    Thread(target=watch, daemon=True).start()


class one_thread_each:
    """Inside, new processes get one thread each where the user has not said otherwise."""

    def __enter__(self) -> None:
        self._set = [name for name in THREADS if name not in os.environ]
        os.environ.update(dict.fromkeys(self._set, "1"))

    def __exit__(self, *error: object) -> None:
        for name in self._set:
            os.environ.pop(name, None)
