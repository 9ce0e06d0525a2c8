"""The numbers of a run as named curves, the same for every log, and the logs that keep them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from kenyon.lab.watchers._table import Log
from kenyon.utils.events import Event

if TYPE_CHECKING:
    from kenyon.lab.evaluation import RunResult, Tally


class CurveLog(Log):
    """A log of values over the samples learned."""

    @abstractmethod
    def write(self, values: Mapping[str, float], step: int) -> None:
        """Add a point to each of these curves."""

    @abstractmethod
    def close(self) -> None:
        """The run has ended."""

    def progress(self, event: Event) -> None:
        self.write(learning(event.tally), event.tally.learned)

    def tested(self, event: Event) -> None:
        self.write(testing(event), event.tally.learned)

    def finished(self, event: Event) -> None:
        self.write(final(event.result), sum(event.result.n_train))
        self.close()


def learning(tally: Tally) -> dict[str, float]:
    """After a chunk: accuracy before learning so far, and samples per second."""
    values = {}
    if tally.predicted:
        values["prequential_accuracy"] = tally.hits / tally.predicted
    if tally.learn_seconds:
        values["samples_per_second"] = tally.learned / tally.learn_seconds
    return values


def testing(event: Event) -> dict[str, float]:
    """After a row of the accuracy matrix: the accuracy on each task, and its mean over the tasks learned so far."""
    tally = event.tally
    row = tally.accuracies(np.array(event.n_test))[tally.row]
    values = {f"accuracy/task_{j + 1}": float(a) for j, a in enumerate(row) if not np.isnan(a)}
    if tally.row and not np.isnan(row[: tally.row]).any():
        values["accuracy_so_far"] = float(row[: tally.row].mean())
    return values


def final(result: RunResult) -> dict[str, float]:
    """Every metric of a complete run."""
    return {f"final/{name}": float(value) for name, value in result.metrics.items() if value is not None}


def settings(config: dict, seed: int) -> dict[str, str | float | bool]:
    """The configuration as names and plain values, options by their own names."""
    flat = {key: value for key, value in config.items() if key not in ("options", "backbone")} | {"seed": seed}
    flat |= {f"options.{key}": value for key, value in config.get("options", {}).items()}
    if config.get("backbone"):
        flat |= {f"backbone.{key}": value for key, value in config["backbone"].items()}
    return {k: v if isinstance(v, (str, int, float, bool)) else str(v) for k, v in flat.items() if v is not None}
