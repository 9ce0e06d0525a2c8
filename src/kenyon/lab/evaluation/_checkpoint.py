"""Where the records of a run go: nowhere, or into its folder, with checkpoints.

A checkpoint is one safetensors file that holds the learner and the tally, replaced as a whole.
Tensors `learner/<name>` are the learner's `state()`, `run/<name>` the tally's arrays; the metadata
hold the format's version, the run's id, and a SHA-256 over all of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from kenyon.data.protocol import Learner
from kenyon.errors import DataError
from kenyon.lab.evaluation._files import GrowingArray, writing
from kenyon.lab.evaluation._tally import Tally
from kenyon.utils.events import Event, Watch
from kenyon.utils.system import replacing

if TYPE_CHECKING:
    from kenyon.lab.evaluation._result import RunResult
    from kenyon.lab.evaluation._store import RunFolder

FORMAT = "1"


def _plain(array: NDArray) -> NDArray:
    # safetensors writes the buffer as it lies in memory: a transposed array would come back scrambled.
    return np.asarray(array, order="C")


def save_checkpoint(path: Path, run_id: str, state: dict[str, NDArray], tally: Tally) -> None:
    """Write a checkpoint; an OSError where it cannot be written.

    Example:
        >>> from pathlib import Path
        >>> import numpy as np
        >>> save_checkpoint(Path("checkpoint.safetensors"), "an id", {"w": np.ones(2)}, Tally.empty(n_tasks=2))
        >>> state, tally = read_checkpoint(Path("checkpoint.safetensors"), "an id")
        >>> state["w"].tolist()
        [1.0, 1.0]
    """
    tensors = {f"learner/{name}": _plain(array) for name, array in state.items()}
    tensors |= {f"run/{name}": array for name, array in tally.to_arrays().items()}
    metadata = {"format": FORMAT, "run": run_id, "sha256": _sum(run_id, tensors)}
    with replacing(path) as temporary:
        try:
            save_file(tensors, temporary, metadata=metadata)
        except SafetensorError as error:
            raise OSError(str(error)) from error


def read_checkpoint(path: Path, run_id: str) -> tuple[dict[str, NDArray], Tally] | None:
    """The learner's state and the tally; None where there is no checkpoint.

    Raises DataError, with the reason, where the checkpoint is damaged or another run's.

    Example:
        >>> from pathlib import Path
        >>> read_checkpoint(Path("checkpoint.safetensors"), "an id") is None
        True
    """
    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
    except (SafetensorError, ValueError, OSError) as error:
        raise DataError(f"{path} cannot be read ({error})") from error
    if metadata.get("format") != FORMAT:
        raise DataError(f"{path} has the format {metadata.get('format')!r}: expected {FORMAT!r}")
    if metadata.get("run") != run_id:
        raise DataError(f"{path} belongs to the run {metadata.get('run')!r}: expected {run_id!r}")
    if metadata.get("sha256") != _sum(run_id, tensors):
        raise DataError(f"{path} is damaged: its content is not what was written")
    try:
        tally = Tally.from_arrays({name[4:]: array for name, array in tensors.items() if name.startswith("run/")})
    except (KeyError, ValueError) as error:
        raise DataError(f"{path} is damaged ({error})") from error
    return {name[8:]: array for name, array in tensors.items() if name.startswith("learner/")}, tally


def _sum(run_id: str, tensors: dict[str, NDArray]) -> str:
    return hashlib.sha256(f"{FORMAT}\0{run_id}\0{state_hash(tensors)}".encode()).hexdigest()


def state_hash(state: dict[str, NDArray]) -> str:
    """SHA-256 over names, types, shapes and bytes, in the order of the names.

    Example:
        >>> import numpy as np
        >>> state_hash({"w": np.zeros(3)}) == state_hash({"w": np.zeros(3)})
        True
    """
    digest = hashlib.sha256()
    for name in sorted(state):
        array = _plain(state[name])
        digest.update(f"{name}\0{array.dtype.str}\0{array.shape}\0".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


class Timer:
    """Decides when the next checkpoint is due: how much is lost when a run is killed, never its results.

    Args:
        interval: seconds between checkpoints within a task, and a tenth of it at task ends; a run that takes less
            is quicker to run again than to keep.
        share: the largest share of the time that checkpoints may take.
    """

    def __init__(self, interval: float, share: float) -> None:
        self._interval, self._share = interval, share
        self._last, self._cost = perf_counter(), 0.0

    def due(self, task_end: bool) -> bool:
        waited = perf_counter() - self._last
        return waited >= max(self._interval / 10 if task_end else self._interval, self._cost / self._share)

    def taken(self, seconds: float) -> None:
        self._last, self._cost = perf_counter(), seconds


class Recorder:
    """Where the loop's records go. This one keeps nothing."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally

    def outcomes(self, outcomes: NDArray[np.uint8]) -> None:
        """Whether each sample was predicted right before it was learned: 1, 0, or `WITHHELD`."""

    def weights(self, means: NDArray[np.float32]) -> None:
        """Rows of mean incoming weights, one column per class."""

    def pause(self, task_end: bool) -> None:
        """Called where the run could be resumed; may take a checkpoint."""

    def finish(self, result: RunResult) -> None:
        """Called at the end."""


class FolderRecorder(Recorder):
    """Keeps the curves in a run's folder, and checkpoints.

    Raises DataError where there is a checkpoint from which the run cannot continue; the learner must then be thrown
    away, and the checkpoint removed.

    Args:
        folder: the run's folder, its lock held.
        run_id: the run's id, which its checkpoints hold.
        learner: the learner before the stream; it is restored from the checkpoint if there is one.
        sizes: how many training samples each task has, and how many weight records and classes the run has.
        timer: says when a checkpoint is due.
        watch: receives a note when a checkpoint cannot be written; the run continues without it.
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
        state, tally = read_checkpoint(self._path, run_id) or (None, empty)
        super().__init__(tally)
        if state is None:
            self._open(sizes)
            return
        try:
            tally.check(sizes[0], sizes[1], empty)
            self._open(sizes)
            learner.restore(state)
        except Exception as error:  # a learner may raise anything for a damaged state
            reason = f"{type(error).__name__}: {error}"
            raise DataError(f"the run cannot continue from {self._path} ({reason})") from error

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
                    Event("note", message=f"{self._path} cannot be written ({error}): the run continues without it")
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
