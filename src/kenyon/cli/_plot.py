"""`kenyon plot`: pictures of runs, of a search, or of a report's plots of points."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def plot(
    path: Annotated[Path, typer.Argument(help="A run's or search's folder, a report (JSON), or a store: its runs.")],
    out: Annotated[Path | None, typer.Option(help="Folder for the pictures; by default the run's own.")] = None,
    kind: Annotated[str, typer.Option("--format", help="png or svg.")] = "png",
) -> None:
    """Draw a run, a search or a report."""
    from kenyon.cli._folders import open_runs, say_damaged
    from kenyon.errors import DataError, unknown
    from kenyon.plots import plot_report, plot_run, plot_search

    if kind not in ("png", "svg"):
        raise unknown("picture format", kind, ("png", "svg"))
    pictures: list[Path] = []
    if (path / "search.toml").exists():
        from kenyon.search import SearchFolder

        pictures = plot_search(SearchFolder(path), out or path, kind)
    elif path.suffix == ".json":
        from kenyon.report import open_report

        pictures = plot_report(open_report(path), out or path.parent, kind)
    else:
        runs = [run for run in open_runs(path) if run.complete]
        if not runs:
            raise DataError(f"{path} holds no complete run to draw")
        for run in runs:
            folder = run.path if out is None else (out if len(runs) == 1 else out / run.path.name)
            try:
                pictures += plot_run(run, folder, kind)
            except DataError as error:
                if len(runs) == 1:
                    raise
                say_damaged(run, str(error))
    for picture in pictures:
        typer.echo(picture)
