"""What is to be done, what is done already, and how long the rest will take.

A job is expected to take as long as runs of its kind in the store took, else as long as the speeds that `speeds.toml`
records say. A kind that neither knows takes the speed of the nearest kind: another scenario, another data set.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from statistics import median
from typing import Any

from kenyon.evaluation import Store
from kenyon.reproduce._jobs import Job, RunJob, SearchJob, speed_key
from kenyon.reproduce._setting import SAMPLE, Setting
from kenyon.reproduce._wanted import Section
from kenyon.search import SearchFolder
from kenyon.streams import list_datasets

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


@dataclass(frozen=True)
class Entry:
    """A job of the plan.

    Attributes:
        experiment: the first that wants it.
        state: `"done"`, `"started"` or `"to do"`.
        estimate: of all of it; zero seconds where it is done.
    """

    job: Job
    experiment: str
    state: str
    estimate: Estimate


@dataclass(frozen=True)
class Plan:
    """Every job once, in the order they are done."""

    entries: tuple[Entry, ...]
    workers: int

    @property
    def left(self) -> list[Job]:
        """What is not done, the first seed of everything first: stopped early, most cells have a number."""
        jobs = [entry.job for entry in self.entries if entry.state != "done"]
        return sorted(jobs, key=lambda job: getattr(job, "seed", 0))

    @property
    def seconds(self) -> float:
        """Expected, of what can be estimated, shared out among the workers."""
        return sum(entry.estimate.seconds or 0.0 for entry in self.entries) / self.workers

    @property
    def unknown(self) -> int:
        """Jobs that nothing is known about."""
        return sum(entry.estimate.seconds is None for entry in self.entries)


def make_plan(parts: Mapping[str, Sequence[Section]], store: Path, clock: Clock, workers: int) -> Plan:
    """The plan of some experiments.

    Args:
        parts: of each experiment, by name.
        store: where finished work is looked for.
        clock: estimates.
        workers: jobs at a time.
    """
    entries: dict[str, Entry] = {}
    for experiment, own in parts.items():
        for job in (job for part in own for job in part.jobs()):
            if job.name in entries:
                continue
            state = "done" if job.done(store) else "started" if job.started(store) else "to do"
            estimate = Estimate(0.0, "store") if state == "done" else clock.estimate(job)
            entries[job.name] = Entry(job, experiment, state, estimate)
    return Plan(tuple(entries.values()), workers)
