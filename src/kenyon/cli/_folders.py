"""The runs at a path on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from kenyon.errors import DataError
from kenyon.lab.comparison import select_groups
from kenyon.lab.evaluation import RunFolder, RunGroup, Store, group_runs


def open_runs(path: Path) -> list[RunFolder]:
    """The run where `path` is the folder of a run, or every run where it is a store."""
    if (path / "config.toml").exists():
        return [RunFolder(path)]
    runs = Store(path).runs()
    if not runs:
        raise DataError(f"{path} is neither a run's folder nor a store with runs: name one that `kenyon run` wrote to")
    return runs


def open_groups(path: Path, where: Sequence[str] | None, arrays: bool = False) -> list[RunGroup]:
    """The configurations at a path that meet the conditions `where`; runs that cannot be read are named.

    Args:
        arrays: whether a run whose curves cannot be read is left out too.
    """
    groups, damaged = group_runs(open_runs(path), arrays)
    if not groups:
        raise DataError(damaged[0][1] if len(damaged) == 1 else f"{path}: all {len(damaged)} runs are damaged")
    for folder, reason in damaged:
        say_damaged(folder, reason)
    return select_groups(groups, where or [])


def say_damaged(folder: RunFolder, reason: str) -> None:
    """Name a run that is left out because it cannot be read, and why."""
    typer.echo(f"kenyon: left out {folder.path.name}: {reason}", err=True)
