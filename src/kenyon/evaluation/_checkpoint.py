"""Checkpoints: one safetensors file that holds the learner and the tally, replaced as a whole.

Tensors `learner/<name>` are the learner's `state()`, `run/<name>` the tally's arrays; the metadata
hold the format's version and the run's id.
"""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from kenyon.evaluation._tally import Tally
from kenyon.system import replacing

FORMAT = "1"


def _plain(array: NDArray) -> NDArray:
    # safetensors writes the buffer as it lies in memory: a transposed array would come back scrambled.
    return np.asarray(array, order="C")


def save_checkpoint(path: Path, run_id: str, state: dict[str, NDArray], tally: Tally) -> None:
    tensors = {f"learner/{name}": _plain(array) for name, array in state.items()}
    tensors |= {f"run/{name}": array for name, array in tally.to_arrays().items()}
    with replacing(path) as temporary:
        save_file(tensors, temporary, metadata={"format": FORMAT, "run": run_id})


def load_checkpoint(path: Path, *run_ids: str) -> tuple[dict[str, NDArray], Tally] | None:
    """The learner's state and the tally, or None where there is no usable checkpoint of this run."""
    if not path.exists():
        return None
    try:
        with safe_open(path, framework="numpy") as file:
            if file.metadata() not in [{"format": FORMAT, "run": run_id} for run_id in run_ids]:
                return None
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
        tally = Tally.from_arrays({name[4:]: array for name, array in tensors.items() if name.startswith("run/")})
    except (SafetensorError, KeyError, ValueError, OSError):
        return None
    return {name[8:]: array for name, array in tensors.items() if name.startswith("learner/")}, tally


def state_hash(state: dict[str, NDArray]) -> str:
    """SHA-256 over names, types, shapes and bytes, in the order of the names."""
    digest = hashlib.sha256()
    for name in sorted(state):
        array = _plain(state[name])
        digest.update(f"{name}\0{array.dtype.str}\0{array.shape}\0".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


class Timer:
    """When the next checkpoint is due. It decides how much a kill can cost, never what a run computes.

    Args:
        interval: seconds between checkpoints within a task; a tenth of it at task ends, since a run that
            is over in a moment is sooner run again than kept.
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
