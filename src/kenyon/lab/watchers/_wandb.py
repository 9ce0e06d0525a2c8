"""A run as a run of Weights & Biases, offline in the folder `wandb` of the store unless `WANDB_MODE` says otherwise.

`wandb sync runs/wandb/offline-run-*` sends it to a server later.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kenyon.errors import require
from kenyon.lab.watchers import _curves
from kenyon.lab.watchers._table import Log

if TYPE_CHECKING:
    from kenyon.data.protocol import StreamInfo
    from kenyon.lab.evaluation import RunResult, Tally


class WandbLog(Log):
    """Configuration, metrics over the samples, and the final metrics as the run's summary."""

    def __init__(self, folder: Path, name: str, config: Mapping[str, Any], seed: int) -> None:
        super().__init__(folder, name, config, seed)
        self._wandb: Any = require("wandb", "wandb", "--log wandb")

    def started(self, seed: int, info: StreamInfo, n_test: list[int], tally: Tally) -> None:
        self._n_test = n_test
        self._run = self._wandb.init(
            project=os.environ.get("WANDB_PROJECT", "kenyon"),
            name=self.name,
            id=hashlib.sha256(self.name.encode()).hexdigest()[:16],
            resume="allow" if os.environ.get("WANDB_MODE") == "online" else None,
            config=_curves.settings(dict(self.config), seed),
            dir=str(self.folder.parent),
            mode=os.environ.get("WANDB_MODE", "offline"),
            reinit="create_new",  # several runs in one process
            settings=self._wandb.Settings(console="off", silent=True),
        )

    def learned(self, tally: Tally) -> None:
        self._run.log(_curves.learning(tally), step=tally.learned)

    def tested(self, tally: Tally) -> None:
        self._run.log(_curves.testing(tally, self._n_test), step=tally.learned)

    def finished(self, result: RunResult) -> None:
        self._run.log(_curves.final(result), step=sum(result.n_train))  # the last values are the run's summary
        self._run.finish()
