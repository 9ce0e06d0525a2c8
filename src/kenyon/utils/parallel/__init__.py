"""One way to work in parallel: jobs are done by processes on this machine or by a Ray cluster.

>>> import math
>>> with open_pool(Workers()) as pool:
...     for number in (4.0, 9.0):
...         pool.submit(number, math.sqrt, number)
...     [answer.result() for answer in pool.answers()]
[2.0, 3.0]
>>> Answer("a job", error=WorkerDiedError("it ran out of memory")).value is None
True
"""

from kenyon.utils.parallel._pool import Answer, InProcessPool, Pool, WorkerDiedError, Workers, open_pool

__all__ = ["Answer", "InProcessPool", "Pool", "WorkerDiedError", "Workers", "open_pool"]
