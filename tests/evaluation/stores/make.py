"""Small runs as an earlier version wrote them, and how they came to be.

    PYTHONPATH=<that version>/src:<that version>/tests python make.py 1

wrote the store `1`; `write_record` wrote `kenyon/lab/evaluation/ids_1.json`. Both are kept as they are.
"""

from __future__ import annotations

import json
import math
import os
import sys
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

from kenyon.data.backbones import BackboneConfig
from kenyon.data.streams import Curriculum, load_dataset
from kenyon.lab.evaluation import RunConfig, RunFolder, Watch, run, run_dataset
from kenyon.learners import LEARNERS, learner_options

TINY = "evaluation.tiny:Tiny"
CONFIGS: dict[str, dict[str, Any]] = {
    "gen": {},
    "gen-b1": {"options": {"b1": 0.0}},
    "gen-beta": {"options": {"beta": 3.0, "learning_rate": 0.02}},
    "inel": {"options": {"rule": "inel", "decay": 0.001}},
    "oja": {"options": {"rule": "oja", "hidden_layers": [50], "clamp": "off", "hidden_signal": "codes"}},
    "mse": {"options": {"rule": "mse", "threshold": "off", "n_jobs": 2}, "scenario": "task-incremental"},
    "budget": {"options": {"memory_budget": "20KB"}, "scenario": "single-task", "tests": "seen"},
    "ncm": {"learner": "ncm", "labelled": 0.5},
    "slda": {"learner": "slda", "task_sizes": [5, 3, 2], "class_order": "shuffled"},
    "er": {"learner": "er", "scenario": "task-free"},
    "tiny": {"learner": TINY, "options": {"rate": 0.1}},
    "csv": {"dataset": "mine.csv", "learner": "ncm", "scenario": "single-task"},
}
STOPPED = {"learner": TINY, "options": {"rate": 0.2}}


def config_of(values: dict[str, Any]) -> RunConfig:
    """Small, whatever the code that reads it."""
    small: dict[str, Any] = {"dataset": "digits", "max_per_task": 10, "weights_every": 0}
    options = dict(values.get("options", {}))
    if values.get("learner", "kenyon") == "kenyon" and "memory_budget" not in options:
        options["n_hidden"] = 60
    return RunConfig.from_dict(small | values | {"options": options})


def write_csv(path: Path) -> None:
    path.write_text("a,b,label\n" + "".join(f"{i},{i * i % 7},{i % 2}\n" for i in range(40)))


class Interrupted(Exception):
    """The run was stopped on purpose."""


class _Stop(Watch):
    def tested(self, tally: Any) -> None:
        if tally.row == 3:
            raise Interrupted


def write_record(path: Path) -> None:
    """The options and defaults of every learner and of a run, from which the ids of that version follow."""
    curriculum = {f.name: f.default for f in fields(Curriculum) if f.name not in ("scenario", "seed")}
    backbone = {f.name: f.default for f in fields(BackboneConfig)}
    lines = [f' "run": {json.dumps({"weights_every": None, "tests": "all"})},']
    lines += [f' "curriculum": {json.dumps(curriculum)},', f' "backbone": {json.dumps(backbone)},', ' "learners": {']
    lines += [",\n".join(f"  {json.dumps(name)}: {json.dumps(learner_options(name))}" for name in LEARNERS)]
    path.write_text("\n".join(["{", *lines, " }", "}"]) + "\n")


def main(store: Path) -> None:
    store = store.resolve()
    store.mkdir()
    os.chdir(store)
    write_csv(Path("mine.csv"))
    for values in CONFIGS.values():
        run(config_of(values), [0, 1] if values.get("learner") == "ncm" else [0], store)
    config = config_of(STOPPED)
    folder = RunFolder(store / config.folder_name(0))
    with folder.locked(wait=True), suppress(Interrupted):
        often = {"checkpoint_seconds": 0.0, "checkpoint_share": math.inf}
        run_dataset(config, 0, load_dataset("digits"), folder=folder, watch=_Stop(), **often)
    for leftover in [*store.glob("*/lock"), *store.glob("*/environment.json")]:  # of the machine, not of the run
        leftover.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
