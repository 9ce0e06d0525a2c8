"""The one train-and-test loop, its metrics, and the runs store.

>>> from pathlib import Path
>>> config = RunConfig("digits", options={"rule": "mse", "n_hidden": 500})
>>> report = run(config, seeds=parse_seeds(2), store="runs")
>>> isinstance(report, Report), isinstance(report.results[0], RunResult)
(True, True)
>>> "accuracy" in METRICS, len(report.summary("accuracy").per_seed)
(True, 2)
>>> folder = Store(Path("runs")).runs()[0]
>>> isinstance(folder, RunFolder), folder.complete
(True, True)
>>> found = group_runs(Store(Path("runs")).runs())
>>> isinstance(found, Groups), isinstance(found.groups[0], RunGroup)
(True, True)
>>> len(found.groups[0].complete), found.damaged
(2, [])
>>> by_stream(found.groups).keys(), distinguishing(found.groups)
(dict_keys([('digits', 'class-incremental')]), [])
>>> outcomes = read_growing(folder.file("prequential.npy"))
>>> len(outcomes) == sum(report.results[0].n_train), bool((outcomes == WITHHELD).any())
(True, False)
"""

from kenyon.lab.evaluation._backbone import open_dataset, with_backbone
from kenyon.lab.evaluation._checkpoint import read_checkpoint, save_checkpoint, state_hash
from kenyon.lab.evaluation._config import RunConfig, config_keys, labels, parse_seeds
from kenyon.lab.evaluation._files import read_growing
from kenyon.lab.evaluation._groups import Groups, RunGroup, by_stream, distinguishing, group_runs
from kenyon.lab.evaluation._loop import WITHHELD, chunk_size
from kenyon.lab.evaluation._machine import environment
from kenyon.lab.evaluation._metrics import METRICS, FinishedRun, Metric
from kenyon.lab.evaluation._result import Metrics, Report, RunResult, Summary, json_safe
from kenyon.lab.evaluation._run import load_learner, run_dataset
from kenyon.lab.evaluation._runs import RunArguments, run, run_all, run_each
from kenyon.lab.evaluation._store import RunFolder, Store
from kenyon.lab.evaluation._tally import Tally

__all__ = [
    "METRICS",
    "WITHHELD",
    "FinishedRun",
    "Groups",
    "Metric",
    "Metrics",
    "Report",
    "RunArguments",
    "RunConfig",
    "RunFolder",
    "RunGroup",
    "RunResult",
    "Store",
    "Summary",
    "Tally",
    "by_stream",
    "chunk_size",
    "config_keys",
    "distinguishing",
    "environment",
    "group_runs",
    "json_safe",
    "labels",
    "load_learner",
    "open_dataset",
    "parse_seeds",
    "read_checkpoint",
    "read_growing",
    "run",
    "run_all",
    "run_dataset",
    "run_each",
    "save_checkpoint",
    "state_hash",
    "with_backbone",
]
