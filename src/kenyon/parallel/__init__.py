"""One way to work in parallel: jobs are done by processes on this machine or by a Ray cluster."""

from kenyon.parallel._pool import ENGINES, Answer, Call, Pool, WorkerDiedError, check_engine, perform

__all__ = ["ENGINES", "Answer", "Call", "Pool", "WorkerDiedError", "check_engine", "perform"]
