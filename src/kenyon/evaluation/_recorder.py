"""Where a run's records go: nowhere, or into its folder with checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import DataError
from kenyon.evaluation._checkpoint import Timer, read_checkpoint, save_checkpoint
from kenyon.evaluation._files import GrowingArray
from kenyon.evaluation._result import RunResult
from kenyon.evaluation._store import RunFolder, writing
from kenyon.evaluation._tally import Tally
from kenyon.evaluation._watch import Watch
from kenyon.protocol import Learner


class NoRecorder:
    """Keeps nothing."""

    def __init__(self, n_tasks: int) -> None:
        self.tally = Tally.empty(n_tasks)

    def outcomes(self, outcomes: NDArray[np.uint8]) -> None:
        """Let go."""

    def weights(self, means: NDArray[np.float32]) -> None:
        """Let go."""

    def pause(self, task_end: bool) -> None:
        """Go on."""

    def finish(self, result: RunResult) -> None:
        """Let go."""


class FolderRecorder:
    """Keeps the curves in a run's folder, and checkpoints.

    Raises DataError where there is a checkpoint and the run cannot go on from it; the learner is then to be thrown
    away, and the checkpoint to be removed.

    Args:
        folder: the run's folder, its lock held.
        run_ids: the first goes into the checkpoint, so that no other run's is taken for it; one with any of them is.
        learner: as it is before the stream; put back to its checkpoint if there is one.
        sizes: training samples, weight records and classes of the run.
        n_tasks: tasks of the run.
        timer: says when a checkpoint is due.
        watch: is told where a checkpoint cannot be written; the run goes on without.
    """

    def __init__(
        self,
        folder: RunFolder,
        run_ids: Sequence[str],
        learner: Learner,
        sizes: tuple[int, int, int],
        n_tasks: int,
        timer: Timer,
        watch: Watch,
    ) -> None:
        self._folder, self._run_id, self._learner, self._timer = folder, run_ids[0], learner, timer
        self._watch, self._told = watch, False
        self._path = folder.file("checkpoint.safetensors")
        checkpoint = read_checkpoint(self._path, *run_ids)
        if checkpoint is None:
            self.tally = Tally.empty(n_tasks)
            self._open(sizes)
            return
        state, self.tally = checkpoint
        try:
            self._open(sizes)
            learner.restore(state)
        except Exception as error:  # what a learner makes of a damaged state is its own affair
            reason = f"{type(error).__name__}: {error}"
            raise DataError(f"the run cannot go on from {self._path} ({reason})") from error

    def _open(self, sizes: tuple[int, int, int]) -> None:
        """Open the curves where the tally says. Shorter ones raise: the machine stopped, not only the process."""
        file, tally, (n_train, n_records, n_classes) = self._folder.file, self.tally, sizes
        with writing(self._folder.path):
            self._outcomes = GrowingArray(file("prequential.npy"), np.uint8, (n_train,), tally.learned)
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
        """Take a checkpoint if one is due. The curves go to disk first: a checkpoint never runs ahead of them."""
        if not self._timer.due(task_end):
            return
        begin = perf_counter()
        try:
            self._sync()
            save_checkpoint(self._path, self._run_id, self._learner.state(), self.tally)
        except OSError as error:
            if not self._told:
                self._watch.note(f"{self._path} cannot be written ({error}): the run goes on without it")
            self._told = True
        self._timer.taken(perf_counter() - begin)

    def finish(self, result: RunResult) -> None:
        """Close the curves and write the results."""
        with writing(self._folder.path):
            self._sync()
            self._outcomes.close()
            self._weights.close()
            self._folder.finish(result)
