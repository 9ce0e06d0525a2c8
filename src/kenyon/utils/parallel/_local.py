"""Processes on this machine."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from threading import Thread

from kenyon.utils.parallel._attempt import attempt

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class LocalProcesses:
    """Processes that are started when they are first needed, and then kept; they end with this process."""

    def __init__(self, workers: int) -> None:
        self.capacity = workers
        self._idle: list[_Worker] = []
        self._busy: dict[Connection, tuple[int, _Worker]] = {}

    def start(self, number: int, call: bytes) -> None:
        worker = self._idle.pop() if self._idle else _Worker()
        try:
            worker.pipe.send_bytes(call)
        except OSError:  # it died while it had nothing to do
            worker = _Worker()
            worker.pipe.send_bytes(call)
        self._busy[worker.pipe] = (number, worker)

    def wait(self, timeout: float) -> list[tuple[int, bytes | str]]:
        ended: list[tuple[int, bytes | str]] = []
        for pipe in wait(list(self._busy), timeout) if self._busy else ():
            number, worker = self._busy.pop(pipe)  # type: ignore[call-overload]
            try:
                ended.append((number, worker.pipe.recv_bytes()))
                self._idle.append(worker)
            except (EOFError, OSError):
                worker.process.join(5)
                ended.append((number, f"its process died (exit code {worker.process.exitcode})"))
        return ended

    def close(self) -> None:
        workers = [*self._idle, *(worker for _, worker in self._busy.values())]
        for worker in workers:
            worker.process.terminate()
        for worker in workers:
            worker.process.join(5)
            worker.pipe.close()
        self._idle, self._busy = [], {}


class _Worker:
    def __init__(self) -> None:
        # New processes, not forks: a fork would inherit the threads and locks of compiled code in any state.
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_work, args=(other,), daemon=True)
        with one_thread_each():
            self.process.start()
        other.close()


def _work(pipe: Connection) -> None:
    """The loop of a worker: receive calls, send answers, end when the other end is gone."""
    _end_with_parent()
    try:
        while True:
            pipe.send_bytes(attempt(pipe.recv_bytes()))
    except (EOFError, OSError, KeyboardInterrupt):
        return


def _end_with_parent() -> None:
    """End when the parent is killed; else the worker would finish its job first, and keep the lock of its run."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)  # what was written is whole, and a run resumes

    Thread(target=watch, daemon=True).start()


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Gives each process that is started inside the `with` block one thread, unless the user has set another number."""
    mine = [name for name in THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(mine, "1"))
    try:
        yield
    finally:
        for name in mine:
            os.environ.pop(name, None)
