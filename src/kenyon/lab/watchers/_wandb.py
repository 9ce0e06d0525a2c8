"""A run as a run of Weights & Biases, offline in the folder `wandb` of the store unless `WANDB_MODE` says otherwise.

`wandb sync runs/wandb/offline-run-*` sends it to a server later.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kenyon.errors import require
from kenyon.lab.watchers import _curves
from kenyon.utils.events import Event


class WandbLog(_curves.CurveLog):
    """Configuration, metrics over the samples, and the final metrics as the run's summary."""

    def __init__(self, folder: Path, name: str, config: Mapping[str, Any], seed: int) -> None:
        super().__init__(folder, name, config, seed)
        self._wandb: Any = require("wandb", "wandb", "--log wandb")

    def opened(self, event: Event) -> None:
        self._run = self._wandb.init(
            project=os.environ.get("WANDB_PROJECT", "kenyon"),
            name=self.name,
            id=hashlib.sha256(self.name.encode()).hexdigest()[:16],
            resume="allow" if os.environ.get("WANDB_MODE") == "online" else None,
            config=_curves.settings(dict(self.config), self.seed),
            dir=str(self.folder.parent),
            mode=os.environ.get("WANDB_MODE", "offline"),
            reinit="create_new",  # several runs in one process
            settings=self._wandb.Settings(console="off", silent=True),
        )

    def write(self, values: Mapping[str, float], step: int) -> None:
        self._run.log(dict(values), step=step)  # the last ones are the run's summary

    def close(self) -> None:
        self._run.finish()
