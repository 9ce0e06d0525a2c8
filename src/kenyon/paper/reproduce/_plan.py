"""What is to be done, what is done already, and how long the rest will take.

The time that a job will take is estimated from runs of its kind in the store, else from the speeds recorded in
`speeds.toml`. For a kind that is in neither, the speed of the nearest kind is taken: another scenario or data set.
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

from kenyon.data.streams import list_datasets
from kenyon.lab.evaluation import Store
from kenyon.lab.search import SearchFolder
from kenyon.paper.reproduce._jobs import Job, SearchJob, StoredRun, speed_key
from kenyon.paper.reproduce._setting import SAMPLE, Setting
from kenyon.paper.reproduce._wanted import Section

START = 0.5
"""Seconds that a job takes however short it is."""


def measured_speeds(store: Path) -> dict[str, float]:
    """By kind, the median samples per second of the complete runs and evaluations per second of the searches."""
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
    """The processor that the speeds of `speeds.toml` were measured on.

    Example:
        >>> isinstance(recorded_on(), str)
        True
    """
    return str(_recorded()["machine"]["processor"])


@cache
def _recorded() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("speeds.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Estimate:
    """The seconds that a job takes, None where nothing is known; `basis` is `"store"`, `"recorded"` or `"unknown"`."""

    seconds: float | None
    basis: str


class Clock:
    """Estimates how long jobs take."""

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
        if isinstance(job, StoredRun):
            return self._sizes(job.config.dataset) * job.config.curriculum.epochs
        if isinstance(job, SearchJob):
            # the speed is that of the whole search, and the plan divides by workers
            return float(job.evals * job.workers)
        return 0.0


def _sizes(setting: Setting) -> Any:
    known = {status.name: status.n_train for status in list_datasets(setting.data_dir)}
    return lambda name: known.get(name, SAMPLE["train"])


def nearest_speed(table: Mapping[str, float], key: str) -> float | None:
    """The speed of a kind; where it is unknown, the median of the kinds that share the most leading words."""
    words = key.split("/")
    for n in range(len(words), 0, -1):
        similar = [speed for other, speed in table.items() if other.split("/")[:n] == words[:n]]
        if similar:
            return median(similar)
    return None


@dataclass(frozen=True)
class Entry:
    """A job of the plan.

    Attributes:
        experiment: the first experiment that needs it.
        state: `"done"`, `"started"` or `"to do"`.
        estimate: the time for the whole job; zero where it is done.
    """

    job: Job
    experiment: str
    state: str
    estimate: Estimate


@dataclass(frozen=True)
class Plan:
    """Every job once, in the order in which they are done."""

    entries: tuple[Entry, ...]
    workers: int

    @property
    def left(self) -> list[Job]:
        """The jobs that are not done, first seeds first, so that most cells have a number even if it is cut short."""
        jobs = [entry.job for entry in self.entries if entry.state != "done"]
        return sorted(jobs, key=lambda job: getattr(job, "seed", 0))

    @property
    def seconds(self) -> float:
        """The expected time of the jobs that can be estimated, divided by the workers."""
        return sum(entry.estimate.seconds or 0.0 for entry in self.entries) / self.workers

    @property
    def unknown(self) -> int:
        """How many jobs have no estimate."""
        return sum(entry.estimate.seconds is None for entry in self.entries)


def make_plan(parts: Mapping[str, Sequence[Section]], setting: Setting, clock: Clock) -> Plan:
    """Make the plan of some experiments.

    Args:
        parts: the sections of each experiment, by its name.
        setting: where finished work is looked for, and how many jobs run at a time.
        clock: estimates how long each job takes.
    """
    entries: dict[str, Entry] = {}
    for experiment, own in parts.items():
        for job in (job for part in own for job in part.jobs()):
            if job.name in entries:
                continue
            state = "done" if setting.has(job) else "started" if job.started(setting.store) else "to do"
            estimate = Estimate(0.0, "store") if state == "done" else clock.estimate(job)
            entries[job.name] = Entry(job, experiment, state, estimate)
    return Plan(tuple(entries.values()), setting.at_a_time)
