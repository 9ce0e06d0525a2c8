"""One way to work in parallel: jobs are done by processes on this machine or by a Ray cluster.

>>> import math
>>> jobs = [Call(number, math.sqrt, (number,)) for number in (4.0, 9.0)]
>>> [answer.result() for answer in perform(jobs)]
[2.0, 3.0]
>>> Answer("a job", error=WorkerDiedError("it ran out of memory")).value is None, "local" in ENGINES
(True, True)
"""

from kenyon.utils.parallel._pool import (
    ENGINES,
    Answer,
    Call,
    InProcessPool,
    Pool,
    WorkerDiedError,
    check_engine,
    open_pool,
    perform,
)

__all__ = [
    "ENGINES",
    "Answer",
    "Call",
    "InProcessPool",
    "Pool",
    "WorkerDiedError",
    "check_engine",
    "open_pool",
    "perform",
]
