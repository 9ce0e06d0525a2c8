"""Events: one kind of message for everything that takes time, and `Watch`, which receives them.

A run, a sweep, a search, a reproduction and the learning of shards send the same events, so one display shows them all
and one watcher logs them all.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

KINDS = ("planned", "started", "opened", "progress", "tested", "finished", "failed", "waiting", "note")
"""The kinds of events, in the order in which a job sends them; `Watch` has a method of the same name for each."""


@dataclass(frozen=True)
class Event:
    """Something that happened to a job: a run, an evaluation of a search, a measurement, a piece of a shard.

    Only the fields that its kind needs are set; `Watch` says which.

    Attributes:
        kind: one of `KINDS`.
        job: the name of the job; empty where the event is about all jobs.
        group: jobs of one group take about the same time.
        message: one sentence.
        done, total: how much is done of how much: jobs, images, rows.
        seconds: how long a finished job took; 0 where its result was found in the store.
        score: the accuracy of a finished job, from 0 to 1.
        seed: the seed of a run.
        config: the configuration of a run (`kenyon.lab.evaluation.RunConfig`).
        info, n_test: the stream of a run and how many test samples each of its tasks has.
        tally: the counts of a run so far (`kenyon.lab.evaluation.Tally`).
        result: what a finished job returned.
        error: why a job failed.
        folder: the folder of a run.

    Example:
        >>> Event("progress", "features of the test set", done=20, total=100).done
        20
    """

    kind: str
    job: str = ""
    group: str = ""
    message: str = ""
    done: int = 0
    total: int = 0
    seconds: float = 0.0
    score: float | None = None
    seed: int | None = None
    config: Any = None
    info: Any = None
    n_test: Sequence[int] = ()
    tally: Any = None
    result: Any = None
    error: Exception | None = None
    folder: Path | None = None


class Watch:
    """Receives events in the process and thread of the job. Override the methods that you need, or `__call__`.

    Example:
        >>> from kenyon.lab.evaluation import RunConfig, run
        >>> class Rows(Watch):
        ...     def tested(self, event):
        ...         print("row", event.tally.row)
        >>> _ = run(RunConfig("digits", "ncm"), seeds=[0], watch=Rows())
        row 0
        row 1
        row 2
        row 3
        row 4
        row 5
    """

    def __call__(self, event: Event) -> None:
        """Receive an event: calls the method that its kind names."""
        getattr(self, event.kind)(event)

    def planned(self, event: Event) -> None:
        """`total` jobs are about to run, `done` of them are complete already."""

    def started(self, event: Event) -> None:
        """A job (`job`, `group`, for a run also `config` and `seed`) starts here or was given to a worker."""

    def opened(self, event: Event) -> None:
        """A run has its stream and its learner and continues from `tally`; also `seed`, `info`, `n_test`.

        Not sent for a run in another process; neither are `progress` and `tested`.
        """

    def progress(self, event: Event) -> None:
        """A run has learned a chunk (`tally`), or `done` of `total` images or rows are done."""

    def tested(self, event: Event) -> None:
        """A row of the accuracy matrix is complete (`tally`; row 0 is before learning)."""

    def finished(self, event: Event) -> None:
        """A job is complete: `result`, `seconds`, and `score` if it has one."""

    def failed(self, event: Event) -> None:
        """A job ended with `error`."""

    def waiting(self, event: Event) -> None:
        """Another process works on the run in `folder`; we wait for it."""

    def note(self, event: Event) -> None:
        """Something went wrong and the job continues; `message` says what. By default this is a Python warning."""
        warnings.warn(event.message, stacklevel=2)


class Watches(Watch):
    """Several watches as one: each receives every event.

    Example:
        >>> class Print(Watch):
        ...     def note(self, event):
        ...         print(event.message)
        >>> Watches([Print(), Print()])(Event("note", message="the disk is full"))
        the disk is full
        the disk is full
    """

    def __init__(self, watches: Sequence[Watch]) -> None:
        self._watches = tuple(watches)

    def __call__(self, event: Event) -> None:
        for watch in self._watches:
            watch(event)
