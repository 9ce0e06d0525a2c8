"""Checkpoints: one safetensors file that holds the learner and the tally, replaced as a whole.

Tensors `learner/<name>` are the learner's `state()`, `run/<name>` the tally's arrays; the metadata
hold the format's version, the run's id, and a SHA-256 over all of it.
"""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from kenyon.errors import DataError
from kenyon.lab.evaluation._tally import Tally
from kenyon.utils.system import replacing

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
        >>> state, tally = load_checkpoint(Path("checkpoint.safetensors"), "an id")
        >>> state["w"].tolist(), load_checkpoint(Path("checkpoint.safetensors"), "another id")
        ([1.0, 1.0], None)
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


def load_checkpoint(path: Path, run_id: str) -> tuple[dict[str, NDArray], Tally] | None:
    """The learner's state and the tally, or None where there is no usable checkpoint of this run.

    Example:
        >>> from pathlib import Path
        >>> load_checkpoint(Path("checkpoint.safetensors"), "an id") is None
        True
    """
    try:
        return read_checkpoint(path, run_id)
    except DataError:
        return None


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
    """Says when the next checkpoint is due. This decides how much is lost when a run is killed, never its results.

    Args:
        interval: seconds between checkpoints within a task, and a tenth of it at task ends; a run that takes less
            is quicker to run again than to keep.
        share: the largest share of the time that checkpoints may take.
    """

    def __init__(self, interval: float, share: float) -> None:
        self._interval, self._share = interval, share
        self._last, self._cost = time.perf_counter(), 0.0

    def due(self, task_end: bool) -> bool:
        waited = time.perf_counter() - self._last
        return waited >= max(self._interval / 10 if task_end else self._interval, self._cost / self._share)

    def taken(self, seconds: float) -> None:
        self._last, self._cost = time.perf_counter(), seconds
