"""`kenyon plot`: pictures of runs, of a comparison, of a search, or of a report's plots of points."""

from pathlib import Path
from typing import Annotated

import typer

from kenyon.cli._options import WhereOption


def plot(
    path: Annotated[Path, typer.Argument(help="A store, a run's or search's folder, or a report (JSON).")] = Path(
        "runs"
    ),
    out: Annotated[Path | None, typer.Option(help="Folder for the pictures. [the run's own; STORE/figures]")] = None,
    kind: Annotated[
        str, typer.Option("--format", help="png, svg or pdf; csv, markdown or latex: the numbers.")
    ] = "png",
    width: Annotated[str, typer.Option(help="column (of a two-column page) or page.")] = "column",
    where: WhereOption = None,
    runs: Annotated[bool, typer.Option("--runs", help="Draw every run of a store instead of comparing them.")] = False,
) -> None:
    """Draw the figures of a store, a run, a search or a report."""
    from kenyon.lab.plots import check_kind, plot_report, plot_search

    check_kind(kind)
    if (path / "search.toml").exists():
        from kenyon.lab.search import SearchFolder

        pictures = plot_search(SearchFolder(path)).save(out or path, kind)
    elif path.suffix == ".json":
        from kenyon.lab.report import open_report

        pictures = plot_report(open_report(path)).save(out or path.parent, kind)
    elif runs or (path / "config.toml").exists():
        pictures = _draw_runs(path, out, kind)
    else:
        from kenyon.cli._folders import open_groups
        from kenyon.lab.plots import plot_comparison

        groups = open_groups(path, where, arrays=True)
        pictures = plot_comparison(groups, width).save(out or path / "figures", kind)
    for picture in pictures:
        typer.echo(picture)


def _draw_runs(path: Path, out: Path | None, kind: str) -> list[Path]:
    from kenyon.cli._folders import open_runs, say_damaged
    from kenyon.errors import DataError
    from kenyon.lab.plots import plot_run

    runs, pictures = [run for run in open_runs(path) if run.complete], []
    if not runs:
        raise DataError(f"{path} holds no complete run to draw")
    for run in runs:
        folder = run.path if out is None else (out if len(runs) == 1 else out / run.path.name)
        try:
            pictures += plot_run(run).save(folder, kind)
        except DataError as error:
            if len(runs) == 1:
                raise
            say_damaged(run, str(error))
    return pictures
