"""Hyperparameters chosen on a held-out slice of the training stream, read from `tuned.toml`."""

from __future__ import annotations

import math
import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from kenyon.data.protocol import StreamInfo
from kenyon.errors import unknown

TUNED = Path(__file__).with_name("tuned.toml")
"""Where the values that were chosen for each baseline are kept."""


def grid_of(name: str) -> dict[str, list[Any]]:
    """The values to try for each option of a baseline: its row in `grids.toml`.

    Example:
        >>> grid_of("er")
        {'lr': [0.03, 0.1, 0.2]}
    """
    grids = tomllib.loads(files(__package__).joinpath("grids.toml").read_text())
    if name not in grids:
        raise unknown("baseline with a grid", name, grids)
    return grids[name]


def family(shape: tuple[int, ...]) -> str:
    """Which row serves a stream: `"cifar"` for three-channel images, `"digits"` for fewer than 256 features (such
    sets are small too, and a short stream needs larger steps), `"mnist"` for all else.

    Example:
        >>> family((28, 28)), family((3, 32, 32)), family((8, 8))
        ('mnist', 'cifar', 'digits')
    """
    if len(shape) == 3 and shape[0] == 3:
        return "cifar"
    return "digits" if math.prod(shape) < 256 else "mnist"


def tuned(name: str, info: StreamInfo) -> dict[str, float]:
    """The chosen values of a baseline for this kind of data and scenario; empty where none were chosen."""
    scenario = "task-incremental" if info.task_heads else "class-incremental"
    return tuned_values(name, "single-task" if len(info.tasks) == 1 else scenario).get(family(info.shape), {})


def tuned_values(name: str, scenario: str) -> dict[str, dict[str, float]]:
    """The values chosen for a baseline in a scenario, by kind of data.

    A single task without a row of its own takes the task-incremental one: it has no forgetting to avoid either.
    Every other scenario without one takes the class-incremental one.

    Example:
        >>> tuned_values("er", "class-incremental")["mnist"]
        {'lr': 0.1}
    """
    rows = {"single-task": ("task-incremental", "single-task"), "task-incremental": ("task-incremental",)}
    values: dict[str, dict[str, float]] = {}
    for row in rows.get(scenario, ("class-incremental",)):
        for kind in ("cifar", "digits", "mnist"):
            if found := _table().get(f"{name}/{kind}/{row}"):
                values[kind] = dict(found["values"])
    return values


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("tuned.toml").read_text())
