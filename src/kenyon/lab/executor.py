"""The executor: runs jobs in this process, in worker processes or on a Ray cluster, and sends their events.

Runs, sweeps, searches and reproductions are all lists of jobs that it executes. A job whose work another process does
at the moment is left for last, so that processes that share a store also share the work.
"""

from __future__ import annotations

import traceback
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any, Protocol, Self, TypedDict, cast

from kenyon.errors import KenyonError
from kenyon.utils.events import Event, Watch
from kenyon.utils.parallel import Answer, Workers, open_pool


class Job(Hashable, Protocol):
    """A unit of work. It is pickled where it runs in another process."""

    @property
    def name(self) -> str:
        """Different jobs have different names."""

    @property
    def group(self) -> str:
        """Jobs of one group take about the same time."""

    def do(self, watch: Watch, wait: bool) -> Any:
        """Do the work, or return `BUSY` if another process does it and `wait` is False.

        Args:
            watch: receives the events of the work.
            wait: whether to wait for another process.
        """


BUSY = "busy"
"""Returned by a job that another process works on."""


class WorkerArguments(TypedDict, total=False):
    """Arguments of functions that run jobs: the attributes of `Workers`."""

    workers: int | None
    engine: str
    address: str | None
    gpus: float


class Done(Answer):
    """How a job ended: an answer whose key is the job; `seconds` are 0 where its result was found in the store.

    Example:
        >>> Done("a job", value=3).result()
        3
    """

    @property
    def job(self) -> Any:
        return self.key

    def event(self, **more: Any) -> Event:
        """The event that the job finished or failed, with further fields."""
        kind = "finished" if self.error is None else "failed"
        known: dict[str, Any] = {"result": self.value, "error": self.error, "seconds": self.seconds}
        return event(kind, self.job, **known | more)


def event(kind: str, job: Job, **more: Any) -> Event:
    """An event of a job; that of a run has its configuration and its seed."""
    of_run = {name: getattr(job, name) for name in ("config", "seed") if hasattr(job, name)}
    return Event(kind, job.name, job.group, **of_run | more)


class Executor:
    """A queue of jobs and the workers that do them.

    Args:
        workers: where jobs run.
        watch: receives the events of jobs: all of a job in this process; `started` and `note` of one elsewhere. Whoever
            takes the results sends `finished` and `failed`, once they are kept.
        apart: whether jobs run in other processes even if there is one worker.
    """

    def __init__(self, workers: Workers, watch: Watch, apart: bool = False) -> None:
        self._watch = watch
        self._here = workers.in_process and not apart
        self._pool = open_pool(workers, apart)
        self._jobs: dict[int, Job] = {}  # by the order in which they were submitted
        self._started: set[int] = set()
        self._later: list[int] = []
        self._count = 0

    @property
    def capacity(self) -> int:
        """How many jobs run at the same time."""
        return self._pool.capacity

    @property
    def left(self) -> int:
        """How many jobs are not done."""
        return len(self._jobs)

    def submit(self, job: Job) -> None:
        """Add a job to the end of the queue."""
        self._count += 1
        self._jobs[self._count] = job
        self._queue(self._count, wait=False)

    def _queue(self, number: int, wait: bool) -> None:
        job = self._jobs[number]
        if self._here:
            self._pool.submit(number, self._do_here, number, job, wait)
        else:
            self._pool.submit(number, do_elsewhere, job, wait)
            self._announce()

    def collect(self, timeout: float = 1.0) -> list[Done]:
        """The jobs that ended; waits up to `timeout` seconds for the first."""
        ended = []
        for answer in self._pool.collect(timeout):
            number, done = cast("int", answer.key), self._done(answer)
            if done.error is None and isinstance(done.value, str) and done.value == BUSY:
                self._later.append(number)
            else:
                del self._jobs[number]
                ended.append(done)
        if self._later and len(self._later) == len(self._jobs):
            later, self._later = self._later, []
            for number in later:
                self._queue(number, wait=True)
        self._announce()
        return ended

    def results(self) -> Iterator[Done]:
        """Every job as it ends, until none is left; more jobs may be submitted meanwhile."""
        while self._jobs:
            yield from self.collect()

    def _do_here(self, number: int, job: Job, wait: bool) -> Any:
        self._start(number)
        return job.do(self._watch, wait)

    def _announce(self) -> None:
        for number in cast("list[int]", self._pool.running):
            self._start(number)

    def _start(self, number: int) -> None:
        if number not in self._started:
            self._started.add(number)
            self._watch(event("started", self._jobs[number]))

    def _done(self, answer: Answer) -> Done:
        job, value = self._jobs[cast("int", answer.key)], answer.value
        if answer.error is None and not self._here:
            value, notes = answer.value
            for note in notes:
                self._watch(note)
        return Done(job, value, answer.error, answer.seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.__exit__(*error)


class _Notes(Watch):
    """Collects what the user should know, to be sent back to the process that shows it."""

    def __init__(self) -> None:
        self.notes: list[Event] = []

    def note(self, event: Event) -> None:
        self.notes.append(event)


def do_elsewhere(job: Job, wait: bool) -> tuple[Any, list[Event]]:
    """A job in a worker process: its result and its notes."""
    watch = _Notes()
    try:
        return job.do(watch, wait), watch.notes
    except KenyonError:
        raise
    except Exception as error:  # of a class from outside the package: its traceback stays in this process
        last = traceback.extract_tb(error.__traceback__)[-1]
        error.add_note(f"{Path(last.filename).name}, line {last.lineno}")
        raise


def reason(error: Exception | None) -> str:
    """An error in one line, with the place where a class from outside the package raised it."""
    words = " ".join(str(error).split()) or "no message"
    if error is None or isinstance(error, (KenyonError, OSError)):
        return words
    places = list(getattr(error, "__notes__", []))  # from another process
    if not places and (frames := traceback.extract_tb(error.__traceback__)):
        places = [f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}"]
    return f"{type(error).__name__}: {words}" + (f" ({'; '.join(places)})" if places else "")
