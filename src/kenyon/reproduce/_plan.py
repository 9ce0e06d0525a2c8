"""What is to be done, what is done already, and how long the rest will take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kenyon.reproduce._jobs import Job
from kenyon.reproduce._speeds import Clock, Estimate
from kenyon.reproduce._wanted import Part


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


def make_plan(parts: Mapping[str, Sequence[Part]], store: Path, clock: Clock, workers: int) -> Plan:
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
