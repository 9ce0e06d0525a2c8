"""Where the records of a run go: nowhere, or into its folder, with checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from kenyon.data.protocol import Learner
from kenyon.errors import DataError
from kenyon.lab.evaluation._checkpoint import Timer, read_checkpoint, save_checkpoint
from kenyon.lab.evaluation._files import GrowingArray
from kenyon.lab.evaluation._result import RunResult
from kenyon.lab.evaluation._store import RunFolder, writing
from kenyon.lab.evaluation._tally import Tally
from kenyon.utils.events import Event, Watch


class NoRecorder:
    """Keeps nothing."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally

    def outcomes(self, outcomes: NDArray[np.uint8]) -> None:
        """Ignored."""

    def weights(self, means: NDArray[np.float32]) -> None:
        """Ignored."""

    def pause(self, task_end: bool) -> None:
        """Ignored: there is no checkpoint."""

    def finish(self, result: RunResult) -> None:
        """Ignored."""


class FolderRecorder:
    """Keeps the curves in a run's folder, and checkpoints.

    Raises DataError where there is a checkpoint from which the run cannot continue; the learner must then be thrown
    away, and the checkpoint removed.

    Args:
        folder: the run's folder, its lock held.
        run_id: the run's id, which its checkpoints hold.
        learner: the learner before the stream; it is restored from the checkpoint if there is one.
        sizes: how many training samples each task has, and how many weight records and classes the run has.
        timer: says when a checkpoint is due.
        watch: receives a note when a checkpoint cannot be written; the run goes on without it.
        empty: the tally of a run that has not begun.
    """

    def __init__(
        self,
        folder: RunFolder,
        run_id: str,
        learner: Learner,
        sizes: tuple[Sequence[int], int, int],
        timer: Timer,
        watch: Watch,
        empty: Tally,
    ) -> None:
        self._folder, self._run_id, self._learner, self._timer = folder, run_id, learner, timer
        self._watch, self._warned = watch, False
        self._path = folder.file("checkpoint.safetensors")
        checkpoint = read_checkpoint(self._path, run_id)
        if checkpoint is None:
            self.tally = empty
            self._open(sizes)
            return
        state, self.tally = checkpoint
        try:
            self.tally.check(sizes[0], sizes[1], empty)
            self._open(sizes)
            learner.restore(state)
        except Exception as error:  # a learner may raise anything for a damaged state
            reason = f"{type(error).__name__}: {error}"
            raise DataError(f"the run cannot go on from {self._path} ({reason})") from error

    def _open(self, sizes: tuple[Sequence[int], int, int]) -> None:
        """Open the curves at the place of the tally.

        Curves that are shorter raise an error: not only the process was stopped, but the machine.
        """
        file, tally, (n_train, n_records, n_classes) = self._folder.file, self.tally, sizes
        with writing(self._folder.path):
            self._outcomes = GrowingArray(file("prequential.npy"), np.uint8, (sum(n_train),), tally.learned)
            self._weights = GrowingArray(file("weights.npy"), np.float32, (n_records, n_classes), tally.records)

    def _sync(self) -> None:
        self._outcomes.sync()
        self._weights.sync()

    def outcomes(self, outcomes: NDArray[np.uint8]) -> None:
        with writing(self._folder.path):
            self._outcomes.append(outcomes)

    def weights(self, means: NDArray[np.float32]) -> None:
        with writing(self._folder.path):
            self._weights.append(means)

    def pause(self, task_end: bool) -> None:
        """Take a checkpoint if one is due. The curves are written first, so a checkpoint is never ahead of them."""
        if not self._timer.due(task_end):
            return
        begin = perf_counter()
        try:
            self._sync()
            save_checkpoint(self._path, self._run_id, self._learner.state(), self.tally)
        except OSError as error:
            if not self._warned:
                self._watch(
                    Event("note", message=f"{self._path} cannot be written ({error}): the run goes on without it")
                )
            self._warned = True
        self._timer.taken(perf_counter() - begin)

    def finish(self, result: RunResult) -> None:
        """Close the curves and write the results."""
        with writing(self._folder.path):
            self._sync()
            self._outcomes.close()
            self._weights.close()
            self._folder.finish(result)
