"""Hyperparameters chosen on a held-out slice of the training stream, read from `tuned.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from kenyon.evaluation._protocol import StreamInfo


def family(shape: tuple[int, ...]) -> str:
    """Which row serves a stream: `"cifar"` for three-channel images, `"mnist"` for all else."""
    return "cifar" if len(shape) == 3 and shape[0] == 3 else "mnist"


def tuned(name: str, info: StreamInfo) -> dict[str, float]:
    """The chosen values of a baseline for this kind of data and scenario; empty where none were chosen."""
    scenario = "task-incremental" if info.task_heads else "class-incremental"
    return dict(_table().get(f"{name}/{family(info.shape)}/{scenario}", {}).get("values", {}))


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("tuned.toml").read_text())
