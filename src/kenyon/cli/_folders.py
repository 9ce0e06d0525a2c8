"""The runs at a path on the command line."""

from __future__ import annotations

from pathlib import Path

import typer

from kenyon.errors import DataError
from kenyon.lab.evaluation import RunFolder, Store


def open_runs(path: Path) -> list[RunFolder]:
    """The run where `path` is the folder of a run, or every run where it is a store."""
    if (path / "config.toml").exists():
        return [RunFolder(path)]
    runs = Store(path).runs()
    if not runs:
        raise DataError(f"{path} is neither a run's folder nor a store with runs: name one that `kenyon run` wrote to")
    return runs


def say_damaged(folder: RunFolder, reason: str) -> None:
    """Name a run that is left out because it cannot be read, and why."""
    typer.echo(f"kenyon: left out {folder.path.name}: {reason}", err=True)
