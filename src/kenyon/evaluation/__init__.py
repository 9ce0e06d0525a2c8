"""The one train-and-test loop, its metrics, and the runs store."""

from kenyon.evaluation._config import RunConfig
from kenyon.evaluation._metrics import Metrics, Summary
from kenyon.evaluation._result import Report, RunResult
from kenyon.evaluation._run import run, run_dataset
from kenyon.evaluation._store import RunFolder, Store
from kenyon.evaluation._watch import Watch

__all__ = [
    "Metrics",
    "Report",
    "RunConfig",
    "RunFolder",
    "RunResult",
    "Store",
    "Summary",
    "Watch",
    "run",
    "run_dataset",
]
