"""A pool takes jobs and gives answers as they finish.

A job is a function that can be imported by its name, and its arguments; a seed of a run, an evaluation of a search and
a job of a reproduction are all the same here. A job whose worker dies is started again, up to `RETRIES` times, and
then reported as failed; the others go on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol, Self

from kenyon.errors import ConfigError, KenyonError, unknown
from kenyon.utils.parallel._attempt import pack, unpack
from kenyon.utils.parallel._local import LocalProcesses
from kenyon.utils.parallel._ray import RayCluster

ENGINES = ("local", "ray")
"""What a pool may be made of."""
RETRIES = 3
MOST_WORKERS = 1024
"""Each is a process."""


class WorkerDiedError(KenyonError):
    """The process that worked on a job died, and so did those that tried again."""


@dataclass(frozen=True)
class Answer:
    """How a job ended.

    Attributes:
        key: the key of the job.
        value: what its function returned; None where there is an error.
        error: what its function raised, or a `WorkerDiedError`.
        seconds: how long the call took; 0 where the worker died.
    """

    key: Hashable
    value: Any = None
    error: Exception | None = None
    seconds: float = 0.0

    def result(self) -> Any:
        """The value, or the error raised."""
        if self.error is not None:
            raise self.error
        return self.value


class Processes(Protocol):
    """What the pool needs of an engine."""

    @property
    def capacity(self) -> int:
        """How many jobs run at the same time."""

    def start(self, number: int, call: bytes) -> None:
        """Start a packed call; only if fewer than `capacity` run."""

    def wait(self, timeout: float) -> list[tuple[int, bytes | str]]:
        """The calls that have ended, with the packed answer, or with a message on how the worker died.

        Waits up to `timeout` seconds for the first.
        """

    def close(self) -> None:
        """Let the workers go; what they work on is dropped."""


@dataclass(frozen=True)
class Workers:
    """Where jobs run.

    Attributes:
        workers: how many jobs run at a time; None for 1, or for every CPU of a Ray cluster. It changes no result.
        engine: `"local"` for processes on this machine, `"ray"` for a Ray cluster.
        address: the address of the Ray cluster; None for one on this machine.
        gpus: how much of a GPU each job takes in a Ray cluster; 0.5 lets two share one.

    Example:
        >>> Workers(2).in_process, Workers().in_process
        (False, True)
    """

    workers: int | None = None
    engine: str = "local"
    address: str | None = None
    gpus: float = 0.0

    def __post_init__(self) -> None:
        if self.engine not in ENGINES:
            raise unknown("engine", self.engine, ENGINES)
        if self.workers is not None and (type(self.workers) is not int or not 1 <= self.workers <= MOST_WORKERS):
            raise ConfigError(f"workers is {self.workers!r}: expected an integer from 1 to {MOST_WORKERS}")
        if self.engine == "local" and self.address is not None:
            raise ConfigError(f"address is {self.address!r}: only the engine 'ray' has one")
        if self.gpus < 0 or (self.gpus and self.engine == "local"):
            wanted = "a number from 0 up" if self.gpus < 0 else "0, since only the engine 'ray' shares GPUs out"
            raise ConfigError(f"gpus is {self.gpus}: expected {wanted}")

    @property
    def in_process(self) -> bool:
        """Whether jobs run in this process: one local worker."""
        return self.engine == "local" and (self.workers or 1) == 1


class Pool:
    """Processes, and a queue of jobs for them.

    Example:
        >>> with Pool(Workers(2)) as pool:  # doctest: +SKIP
        ...     for number in range(3):
        ...         pool.submit(number, math.sqrt, number)
        ...     print(sorted(answer.value for answer in pool.answers()))
    """

    def __init__(self, where: Workers) -> None:
        cluster = where.engine == "ray"
        self._workers: Processes = (
            RayCluster(where.workers, where.address, where.gpus) if cluster else LocalProcesses(where.workers or 1)
        )
        self._queue: deque[_Task] = deque()
        self._running: dict[int, _Task] = {}
        self._count = 0

    @property
    def capacity(self) -> int:
        """How many jobs run at the same time; a Ray cluster may grow and shrink."""
        return self._workers.capacity

    @property
    def running(self) -> list[Hashable]:
        """The keys of the jobs that workers have, in the order in which they were started."""
        return [task.key for task in self._running.values()]

    def submit(self, key: Hashable, function: Callable[..., Any], *arguments: Any) -> None:
        """Add a job to the end of the queue."""
        self._queue.append(_Task(key, pack(function, arguments)))
        self._feed()

    def collect(self, timeout: float) -> list[Answer]:
        """The answers of jobs that have ended; waits up to `timeout` seconds for the first."""
        self._feed()
        answers = []
        for number, ended in self._workers.wait(timeout):
            task = self._running.pop(number)
            if isinstance(ended, bytes):
                answers.append(Answer(task.key, *unpack(ended)))
            elif task.deaths < RETRIES:
                task.deaths += 1
                self._queue.appendleft(task)
            else:
                reason = f"{ended}, {1 + RETRIES} times: perhaps there is too little memory"
                answers.append(Answer(task.key, error=WorkerDiedError(reason)))
        self._feed()
        return answers

    def answers(self) -> Iterator[Answer]:
        """Give every answer as it comes, until no job is left; more jobs may be submitted meanwhile."""
        while self._queue or self._running:
            yield from self.collect(timeout=1.0)

    def _feed(self) -> None:
        while self._queue and len(self._running) < self._workers.capacity:
            task, self._count = self._queue.popleft(), self._count + 1
            self._workers.start(self._count, task.call)
            self._running[self._count] = task

    def close(self) -> None:
        """Let the workers go; what they work on is dropped."""
        self._workers.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


@dataclass
class _Task:
    key: Hashable
    call: bytes
    deaths: int = 0


class InProcessPool:
    """A pool of one worker that is this process: a job is done when its answer is asked for.

    Example:
        >>> import math
        >>> pool = InProcessPool()
        >>> pool.submit("root", math.sqrt, 4.0)
        >>> [answer.value for answer in pool.answers()]
        [2.0]
    """

    capacity = 1

    def __init__(self) -> None:
        self._queue: deque[tuple[Hashable, Callable[..., Any], tuple[Any, ...]]] = deque()

    @property
    def running(self) -> list[Hashable]:
        """The keys of the jobs that workers have: none, since this process does one when it is asked for."""
        return []

    def submit(self, key: Hashable, function: Callable[..., Any], *arguments: Any) -> None:
        """Add a job to the end of the queue."""
        self._queue.append((key, function, arguments))

    def collect(self, timeout: float) -> list[Answer]:
        """Do the next job; `timeout` is that of a pool, and changes nothing."""
        if not self._queue:
            return []
        (key, function, arguments), begin = self._queue.popleft(), perf_counter()
        try:
            value, error = function(*arguments), None
        except Exception as raised:
            value, error = None, raised
        return [Answer(key, value, error, perf_counter() - begin)]

    def answers(self) -> Iterator[Answer]:
        """Do every job, and give its answer."""
        while self._queue:
            yield from self.collect(0.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._queue.clear()


def open_pool(where: Workers, apart: bool = False) -> Pool | InProcessPool:
    """A pool; this process alone where there is one local worker, unless jobs are to run `apart` from it.

    Example:
        >>> open_pool(Workers(1)).capacity
        1
    """
    return InProcessPool() if where.in_process and not apart else Pool(where)
