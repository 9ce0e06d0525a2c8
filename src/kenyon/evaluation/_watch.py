"""What a run tells whoever watches it. The base class watches nothing."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from kenyon.evaluation._tally import Tally
from kenyon.protocol import StreamInfo

if TYPE_CHECKING:
    from kenyon.evaluation._result import RunResult


class Watch:
    """Override what you want to see; every method is called in the run's own process and thread."""

    def note(self, message: str) -> None:
        """Something that did not go as it should, in a sentence; the run goes on. By default a Python warning."""
        warnings.warn(message, stacklevel=2)

    def extracting(self, split: str, done: int, total: int) -> None:
        """A backbone has made the features of so many images of a split; never called where they are in the cache."""

    def shared(self, n_runs: int) -> None:
        """So many runs are shared out among other processes: of these, only `note` and `finished` are told."""

    def waiting(self, folder: Path) -> None:
        """Another process holds this run; we wait for it."""

    def started(self, seed: int, info: StreamInfo, n_test: list[int], tally: Tally) -> None:
        """A run starts, or goes on from where the tally says."""

    def learned(self, tally: Tally) -> None:
        """A chunk was learned."""

    def tested(self, tally: Tally) -> None:
        """A row of the accuracy matrix is complete (row 0: before learning)."""

    def finished(self, result: RunResult) -> None:
        """A run is complete, or was found complete in the store."""
