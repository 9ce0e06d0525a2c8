"""Hyperparameters chosen on a held-out slice of the training stream, read from `tuned.toml`."""

from __future__ import annotations

import math
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from kenyon.evaluation._protocol import StreamInfo


def family(shape: tuple[int, ...]) -> str:
    """Which row serves a stream: `"cifar"` for three-channel images, `"digits"` for fewer than 256 features (such
    sets are small too, and a short stream asks for larger steps), `"mnist"` for all else."""
    if len(shape) == 3 and shape[0] == 3:
        return "cifar"
    return "digits" if math.prod(shape) < 256 else "mnist"


def tuned(name: str, info: StreamInfo) -> dict[str, float]:
    """The chosen values of a baseline for this kind of data and scenario; empty where none were chosen.

    A single task without a row of its own takes the task-incremental one: like it, it has no forgetting to avoid.
    """
    scenarios: tuple[str, ...] = ("task-incremental",) if info.task_heads else ("class-incremental",)
    if len(info.tasks) == 1:
        scenarios = ("single-task", "task-incremental")
    for scenario in scenarios:
        row = _table().get(f"{name}/{family(info.shape)}/{scenario}")
        if row:
            return dict(row["values"])
    return {}


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("tuned.toml").read_text())
