"""Cases in a process of their own, watched from outside: a crash, a hang and a hunger for memory are noticed too."""

from __future__ import annotations

import multiprocessing
import resource
import sys
from collections import Counter
from collections.abc import Callable
from multiprocessing.connection import Connection

from fuzz.target import Failure, Target, folder_in_memory, run_one

LONGEST, LONGEST_START = 300.0, 1200.0
"""Seconds that a case may take, and the start, compiling included: the machine may be busy."""

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
        if not mine.poll(LONGEST_START) or mine.recv() != READY:
            raise RuntimeError(f"{kind.name} could not be set up")
        died = False
        while cases and not died:
            result = _told(mine)
            died = result is None
            if result is None:
                result = Failure(cases[0], _end(worker))
            if isinstance(result, Failure):
                failures.append(result)
            else:
                counts[result] += 1
            cases = cases[1:]
            progress(cases.start, len(failures))
        worker.join()
    return counts, failures


def _told(pipe: Connection) -> str | Failure | None:
    """What the worker says of a case; None where it says nothing any more."""
    try:
        return pipe.recv() if pipe.poll(LONGEST) else None
    except EOFError:
        return None


def _end(worker: multiprocessing.Process) -> str:
    """End a worker that has fallen silent, and say how it did."""
    worker.join(1.0)
    if worker.exitcode is not None:
        return f"the case ended the process, with exit code {worker.exitcode}"
    worker.kill()
    worker.join()
    return f"the case took more than {LONGEST:g} seconds"


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
