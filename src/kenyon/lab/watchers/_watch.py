"""Gets told about the progress of a run. The base class does nothing."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kenyon.data.protocol import StreamInfo
    from kenyon.lab.evaluation import RunResult, Tally


class Watch:
    """Override the methods that you need; each is called in the process and thread of the run.

    Example:
        >>> from kenyon.lab.evaluation import RunConfig, run
        >>> class Rows(Watch):
        ...     def tested(self, tally):
        ...         print("row", tally.row)
        >>> _ = run(RunConfig("digits", "ncm"), seeds=[0], watch=Rows())
        row 0
        row 1
        row 2
        row 3
        row 4
        row 5
    """

    def note(self, message: str) -> None:
        """Something went wrong, described in a sentence, and the run goes on. By default this is a Python warning."""
        warnings.warn(message, stacklevel=2)

    def extracting(self, split: str, done: int, total: int) -> None:
        """A backbone has made the features of so many images of a split; not called where they are in the cache."""

    def shared(self, n_runs: int) -> None:
        """So many runs are given to other processes; for these, only `note` and `finished` are called."""

    def waiting(self, folder: Path) -> None:
        """Another process holds this run; we wait for it."""

    def started(self, seed: int, info: StreamInfo, n_test: list[int], tally: Tally) -> None:
        """A run starts, or continues from the place of the tally."""

    def learned(self, tally: Tally) -> None:
        """A chunk was learned."""

    def tested(self, tally: Tally) -> None:
        """A row of the accuracy matrix is complete (row 0: before learning)."""

    def finished(self, result: RunResult) -> None:
        """A run is complete, or was found complete in the store."""


class Watches(Watch):
    """Several watches as one: each is told everything.

    Example:
        >>> from kenyon.lab.evaluation import RunConfig, run
        >>> class Done(Watch):
        ...     def finished(self, result):
        ...         print("done")
        >>> _ = run(RunConfig("digits", "ncm"), seeds=[0], watch=Watches([Done(), Done()]))
        done
        done
    """

    def __init__(self, watches: Sequence[Watch]) -> None:
        self._watches = tuple(watches)

    def note(self, message: str) -> None:
        for watch in self._watches:
            watch.note(message)

    def extracting(self, split: str, done: int, total: int) -> None:
        for watch in self._watches:
            watch.extracting(split, done, total)

    def shared(self, n_runs: int) -> None:
        for watch in self._watches:
            watch.shared(n_runs)

    def waiting(self, folder: Path) -> None:
        for watch in self._watches:
            watch.waiting(folder)

    def started(self, seed: int, info: StreamInfo, n_test: list[int], tally: Tally) -> None:
        for watch in self._watches:
            watch.started(seed, info, n_test, tally)

    def learned(self, tally: Tally) -> None:
        for watch in self._watches:
            watch.learned(tally)

    def tested(self, tally: Tally) -> None:
        for watch in self._watches:
            watch.tested(tally)

    def finished(self, result: RunResult) -> None:
        for watch in self._watches:
            watch.finished(result)
