"""How long a job will take: from runs of its kind in the store, else from the speeds that `speeds.toml` records.

A job of a kind that neither knows takes the speed of the nearest kind:
another scenario, another data set.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from statistics import median
from typing import Any

from kenyon.evaluation import Store
from kenyon.reproduce._jobs import Job, RunJob, SearchJob, speed_key
from kenyon.reproduce._setting import SAMPLE, Setting
from kenyon.search import SearchFolder

START = 0.5
"""Seconds that a job takes whatever its length."""


def measured_speeds(store: Path) -> dict[str, float]:
    """Median samples a second of the store's complete runs, and evaluations a second of its searches, by kind."""
    found: dict[str, list[float]] = defaultdict(list)
    for folder in Store(store).runs():
        if folder.complete:
            found[speed_key(folder.config())].append(folder.result().metrics.samples_per_second_overall)
    for log in sorted(store.glob("searches/*/evaluations.csv")):
        ended = SearchFolder(log.parent).evaluations()
        if ended and ended[-1].finished:
            dataset, scenario = log.parent.name.split("-ambs-")[0].split("-", 1)
            found[f"search/{dataset}/{scenario}"].append(len(ended) / ended[-1].finished)
    return {key: round(median(values), 3) for key, values in sorted(found.items())}


@cache
def recorded_speeds() -> dict[str, float]:
    """The speeds of `speeds.toml`."""
    return dict(_recorded()["speeds"])


def recorded_on() -> str:
    """The processor they were measured on."""
    return str(_recorded()["machine"]["processor"])


@cache
def _recorded() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("speeds.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Estimate:
    """Seconds a job takes, None where nothing is known; `basis` is `"store"`, `"recorded"` or `"unknown"`."""

    seconds: float | None
    basis: str


class Clock:
    """Estimates jobs."""

    def __init__(self, setting: Setting) -> None:
        self._sizes = _sizes(setting)
        self._tables = (("store", measured_speeds(setting.store)), ("recorded", recorded_speeds()))

    def estimate(self, job: Job) -> Estimate:
        samples = self._samples(job)
        for basis, table in self._tables:
            if samples and (speed := nearest_speed(table, job.speed_key)):
                return Estimate(samples / speed + START, basis)
        return Estimate(None, "unknown")

    def _samples(self, job: Job) -> float:
        if isinstance(job, RunJob):
            return self._sizes(job.config.dataset) * job.config.curriculum.epochs
        if isinstance(job, SearchJob):
            return float(job.evals * job.workers)  # its speed is of the whole search, and the plan divides by workers
        return 0.0


def _sizes(setting: Setting) -> Any:
    from kenyon.streams import list_datasets

    known = {status.name: status.n_train for status in list_datasets(setting.data_dir)}
    return lambda name: known.get(name, SAMPLE["train"])


def nearest_speed(table: Mapping[str, float], key: str) -> float | None:
    """The speed of a kind; where it is not there, the median of the kinds that share the most leading words."""
    words = key.split("/")
    for n in range(len(words), 0, -1):
        alike = [speed for other, speed in table.items() if other.split("/")[:n] == words[:n]]
        if alike:
            return median(alike)
    return None
