"""A trial: a run that may well diverge, which is then its result."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from kenyon.errors import DivergenceError
from kenyon.lab.evaluation import RunConfig
from kenyon.lab.report import run_command
from kenyon.lab.tables import Cell, Result, Text, Value
from kenyon.paper.reproduce._jobs import speed_key
from kenyon.paper.reproduce._wanted import Computed
from kenyon.utils.system import replace_json


@dataclass(frozen=True)
class TrialJob:
    """One configuration with one seed; what became of it is kept in `trials/`, and nothing else."""

    config: RunConfig
    seed: int = 0

    @property
    def name(self) -> str:
        return f"trials/{self.config.folder_name(self.seed)}.json"

    @property
    def speed_key(self) -> str:
        return speed_key(self.config.to_dict())

    def done(self, store: Path) -> bool:
        return (store / self.name).exists()

    def started(self, store: Path) -> bool:
        return False

    def do(self, store: Path, data_dir: Path | None) -> str:
        from kenyon.lab.evaluation import run

        try:
            accuracy = run(self.config, [self.seed], None, data_dir=data_dir).results[0].metrics.accuracy
        except DivergenceError:
            accuracy = None
        path = store / self.name
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_json(path, {"accuracy": accuracy})
        return "diverges" if accuracy is None else f"{100 * accuracy:.2f} %"

    def accuracy(self, store: Path) -> float | None:
        """The accuracy; None where it diverged."""
        return json.loads((store / self.name).read_text(encoding="utf-8"))["accuracy"]


def trial(config: RunConfig, paper: Value | None = None) -> Computed:
    """A cell: the accuracy of one seed, or "diverges"."""
    job, command = TrialJob(config), run_command(config.to_dict(), [0])

    def compute(store: Path) -> Cell:
        accuracy = job.accuracy(store)
        if accuracy is None:
            return Text("diverges", command)
        return Result(100 * accuracy, None, 1, "%", paper=paper, better="higher", command=command)

    return Computed((job,), compute, command, paper)
