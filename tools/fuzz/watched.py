"""Cases in a process of their own, watched from outside: a crash, a hang and a hunger for memory are noticed too."""

from __future__ import annotations

import multiprocessing
import resource
import sys
from collections import Counter
from collections.abc import Callable
from multiprocessing.connection import Connection

from fuzz.target import Failure, Target, folder_in_memory, run_one

LIMIT = 600.0
"""Seconds of silence after which a process hangs. So many that a busy machine is no failure."""

READY = "ready"

MOST_MEMORY = 640 << 20
"""Bytes by which a case may raise the peak of the process."""


def run_watched(
    kind: type[Target], seed: int, cases: range, progress: Callable[[int, int], None] = lambda done, failed: None
) -> tuple[Counter[str], list[Failure]]:
    """Run cases in another process, which is started anew after a case that ended it."""
    counts: Counter[str] = Counter()
    failures: list[Failure] = []
    while cases:
        mine, theirs = multiprocessing.Pipe(duplex=False)
        worker = multiprocessing.Process(target=_work, args=(kind, seed, cases, theirs))
        worker.start()
        theirs.close()
        if _next(mine, worker, cases[0]) != READY:
            raise RuntimeError(f"{kind.name} could not be set up")
        while cases and worker.exitcode is None:
            result = _next(mine, worker, cases[0])
            if isinstance(result, Failure):
                failures.append(result)
            else:
                counts[result] += 1
            cases = cases[1:]
            progress(cases.start, len(failures))
        worker.join()
    return counts, failures


def hears(pipe: Connection) -> bool:
    """Whether the worker says something, or ends, within the limit."""
    return pipe.poll(LIMIT)


def _next(pipe: Connection, worker: multiprocessing.Process, case: int) -> str | Failure:
    """What the worker says of a case, or how the case ended the worker."""
    if not hears(pipe):
        worker.kill()
        worker.join()
        return Failure(case, f"the case took more than {LIMIT:g} seconds")
    try:
        return pipe.recv()
    except EOFError:
        worker.join()
        return Failure(case, f"the case ended the process, with exit code {worker.exitcode}")


def _work(kind: type[Target], seed: int, cases: range, pipe: Connection) -> None:
    with folder_in_memory() as folder:
        target = kind(folder)
        pipe.send(READY)
        peak = _peak()
        for case in cases:
            result = run_one(target, seed, case)
            more, peak = _peak() - peak, _peak()
            if more > MOST_MEMORY and not isinstance(result, Failure):
                result = Failure(case, f"the case raised the peak of memory by {more >> 20} MB")
            pipe.send(result)


def _peak() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
