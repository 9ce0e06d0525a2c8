"""A run as a run of MLflow: on the server of `MLFLOW_TRACKING_URI`, else in the database `mlflow.db` of the store.

`mlflow ui --backend-store-uri sqlite:///runs/mlflow.db` shows that one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kenyon.errors import require
from kenyon.lab.watchers import _curves
from kenyon.utils.events import Event

EXPERIMENT = "kenyon"
TAG = "kenyon.run"


class MLflowLog(_curves.CurveLog):
    """Parameters, metrics over the samples, and the final metrics; nothing of MLflow's global state is touched."""

    def __init__(self, folder: Path, name: str, config: Mapping[str, Any], seed: int) -> None:
        super().__init__(folder, name, config, seed)
        mlflow: Any = require("mlflow", "mlflow", "--log mlflow")
        address = os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{folder.parent.resolve() / 'mlflow.db'}"
        self._client = mlflow.MlflowClient(tracking_uri=address)
        self._entities = mlflow.entities

    def opened(self, event: Event) -> None:
        self._id = self._going_on() if event.tally.learned else None
        if self._id is None:
            experiment = self._client.get_experiment_by_name(EXPERIMENT)
            number = experiment.experiment_id if experiment else self._client.create_experiment(EXPERIMENT)
            run = self._client.create_run(number, run_name=self.name, tags={TAG: self.name})
            self._id = run.info.run_id
            settings = _curves.settings(dict(self.config), self.seed).items()
            params = [self._entities.Param(key, str(value)) for key, value in settings]
            self._client.log_batch(self._id, params=params)

    def close(self) -> None:
        self._client.set_terminated(self._id)

    def _going_on(self) -> str | None:
        """The run that was stopped, if it is there."""
        experiment = self._client.get_experiment_by_name(EXPERIMENT)
        if experiment is None:
            return None
        found = self._client.search_runs([experiment.experiment_id], f"tags.`{TAG}` = '{self.name}'", max_results=1)
        return found[0].info.run_id if found else None

    def write(self, values: Mapping[str, float], step: int) -> None:
        now = int(time.time() * 1000)
        entries = [self._entities.Metric(key, value, now, step) for key, value in values.items()]
        if entries:
            self._client.log_batch(self._id, metrics=entries)
