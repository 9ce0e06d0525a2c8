"""Where evaluations run: processes on this machine, or a Ray cluster.

An engine takes numbered jobs and returns their outcomes in any order. A worker that dies costs at most its own
evaluation, which is returned as failed; the others go on.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Mapping
from multiprocessing.connection import Connection, wait
from typing import Any, Protocol

from kenyon.errors import ConfigError, require, unknown
from kenyon.search._objective import FAILED, Objective, Outcome, evaluate

ENGINES = ("local", "ray")
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Engine(Protocol):
    """Runs evaluations."""

    @property
    def capacity(self) -> int:
        """How many run at the same time."""

    def submit(self, number: int, options: Mapping[str, Any]) -> None:
        """Start an evaluation."""

    def collect(self, timeout: float) -> list[tuple[int, Outcome]]:
        """The evaluations that have ended; waits up to `timeout` seconds for the first."""

    def close(self) -> None:
        """End the workers; what they are working on is dropped."""


def make_engine(name: str, objective: Objective, workers: int | None, address: str | None) -> Engine:
    """An engine by its name in `ENGINES`."""
    if name not in ENGINES:
        raise unknown("engine", name, ENGINES)
    if workers is not None and workers < 1:
        raise ConfigError(f"workers is {workers}: expected at least 1")
    if name == "ray":
        return RayEngine(objective, workers, address)
    if address is not None:
        raise ConfigError(f"address is {address!r}: only the engine 'ray' has one")
    return LocalEngine(objective, workers or 1)


def _work(pipe: Connection, objective: Objective) -> None:
    """The loop of a worker: receive options, send outcomes, leave when the other end is gone."""
    try:
        while True:
            pipe.send(evaluate(objective, pipe.recv()))
    except (EOFError, OSError, KeyboardInterrupt):
        return


class _Worker:
    def __init__(self, objective: Objective) -> None:
        # New processes, not forks: a fork would inherit the threads and locks of compiled code in any state.
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_work, args=(other, objective), daemon=True)
        before = {name: os.environ.get(name) for name in _ONE_THREAD}
        os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))  # a worker uses one core
        try:
            self.process.start()
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
        other.close()


class LocalEngine:
    """Processes on this machine, each with the data set open once."""

    def __init__(self, objective: Objective, workers: int) -> None:
        self._objective = objective
        self._idle = [_Worker(objective) for _ in range(workers)]
        self._busy: dict[Connection, tuple[_Worker, int]] = {}
        self.capacity = workers

    def submit(self, number: int, options: Mapping[str, Any]) -> None:
        worker = self._idle.pop()
        try:
            worker.pipe.send(dict(options))
        except OSError:  # it died while it had nothing to do
            worker = _Worker(self._objective)
            worker.pipe.send(dict(options))
        self._busy[worker.pipe] = (worker, number)

    def collect(self, timeout: float) -> list[tuple[int, Outcome]]:
        ended = []
        for pipe in wait(list(self._busy), timeout):
            worker, number = self._busy.pop(pipe)  # type: ignore[call-overload]
            try:
                outcome = worker.pipe.recv()
            except (EOFError, OSError):
                worker.process.join(5)
                outcome = Outcome(FAILED, None, f"the worker process died (exit code {worker.process.exitcode})")
                worker = _Worker(self._objective)
            self._idle.append(worker)
            ended.append((number, outcome))
        return ended

    def close(self) -> None:
        workers = [*self._idle, *(worker for worker, _ in self._busy.values())]
        for worker in workers:
            worker.process.terminate()
        for worker in workers:
            worker.process.join(5)
            worker.pipe.close()


class RayEngine:
    """A Ray cluster: one CPU per evaluation, and as many evaluations as the cluster has CPUs at the time.

    A node that dies takes its running evaluations with it; Ray starts them again elsewhere. Every node needs this
    package and the data sets.

    Args:
        objective: what to evaluate.
        workers: the most evaluations at a time; None for every CPU of the cluster.
        address: the address of the cluster; None starts one on this machine, or uses the one already joined.
    """

    def __init__(self, objective: Objective, workers: int | None, address: str | None) -> None:
        self._ray: Any = require("ray", "ray", "the engine 'ray'")
        self._joined = not self._ray.is_initialized()
        if self._joined:
            self._ray.init(address=address, num_cpus=None if address else workers, log_to_driver=False)
        self._workers = workers
        self._objective = self._ray.put(objective)
        self._evaluate = self._ray.remote(num_cpus=1, max_retries=-1)(evaluate)
        self._busy: dict[Any, int] = {}

    @property
    def capacity(self) -> int:
        cpus = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        return cpus if self._workers is None else min(cpus, self._workers)

    def submit(self, number: int, options: Mapping[str, Any]) -> None:
        self._busy[self._evaluate.remote(self._objective, dict(options))] = number

    def collect(self, timeout: float) -> list[tuple[int, Outcome]]:
        ready, _ = self._ray.wait(list(self._busy), num_returns=1, timeout=timeout)
        ended = []
        for reference in ready:
            number = self._busy.pop(reference)
            try:
                outcome = self._ray.get(reference)
            except self._ray.exceptions.RayError as error:
                first = (str(error).splitlines() or [""])[0]
                outcome = Outcome(FAILED, None, f"{type(error).__name__}: {first}")
            ended.append((number, outcome))
        return ended

    def close(self) -> None:
        for reference in self._busy:
            self._ray.cancel(reference, force=True)
        if self._joined:
            self._ray.shutdown()
