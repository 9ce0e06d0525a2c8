"""One way to work in parallel: jobs in, answers out as they finish, from processes on this machine or a Ray cluster."""

from kenyon.parallel._pool import ENGINES, Answer, Call, Pool, WorkerDiedError, check_engine, perform

__all__ = ["ENGINES", "Answer", "Call", "Pool", "WorkerDiedError", "check_engine", "perform"]
