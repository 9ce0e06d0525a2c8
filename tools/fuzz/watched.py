"""Cases in a process of their own, watched from outside: a crash, a hang and a hunger for memory are noticed too."""

from __future__ import annotations

import multiprocessing
import resource
import sys
from collections import Counter
from collections.abc import Callable
from multiprocessing.connection import Connection

from fuzz.target import Failure, Target, folder_in_memory, run_one

LONGEST = 30.0
"""Seconds that a case may take, kernels compiled on the way included; the machine may be busy with other things."""

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
        for case in cases:
            result = _told(mine, worker, case)
            if isinstance(result, Failure):
                failures.append(result)
            else:
                counts[result] += 1
            progress(case + 1, len(failures))
            cases = range(case + 1, cases.stop)
            if not worker.is_alive() and not mine.poll():
                break
        worker.join()
    return counts, failures


def _told(pipe: Connection, worker: multiprocessing.Process, case: int) -> str | Failure:
    """What the worker says of a case; where it says nothing any more, it is ended."""
    try:
        if pipe.poll(LONGEST):
            return pipe.recv()
        worker.kill()
        worker.join()
        return Failure(case, f"the case took more than {LONGEST:g} seconds")
    except EOFError:
        worker.join()
        return Failure(case, f"the case ended the process, with exit code {worker.exitcode}")


def _work(kind: type[Target], seed: int, cases: range, pipe: Connection) -> None:
    with folder_in_memory() as folder:
        target = kind(folder)
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
