"""The one train-and-test loop, its metrics, and the runs store.

The names are imported when first used: the streams and the baselines import this package's protocol,
and the loop imports the streams.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kenyon.evaluation._protocol import Learner, LearnerSpec, StreamInfo

if TYPE_CHECKING:
    from kenyon.evaluation._config import RunConfig
    from kenyon.evaluation._metrics import Metrics, Summary
    from kenyon.evaluation._result import Report, RunResult
    from kenyon.evaluation._run import run, run_dataset
    from kenyon.evaluation._store import RunFolder, Store
    from kenyon.evaluation._watch import Watch

_HOMES = {
    "RunConfig": "_config",
    "Metrics": "_metrics",
    "Summary": "_metrics",
    "Report": "_result",
    "RunResult": "_result",
    "run": "_run",
    "run_dataset": "_run",
    "RunFolder": "_store",
    "Store": "_store",
    "Watch": "_watch",
}

__all__ = [
    "Learner",
    "LearnerSpec",
    "Metrics",
    "Report",
    "RunConfig",
    "RunFolder",
    "RunResult",
    "Store",
    "StreamInfo",
    "Summary",
    "Watch",
    "run",
    "run_dataset",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
