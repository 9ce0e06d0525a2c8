"""Pictures of one run, and of the figures of a report."""

from __future__ import annotations

from pathlib import Path

from kenyon.errors import DataError
from kenyon.lab.evaluation import RunFolder, by_stream, group_runs
from kenyon.lab.plots._picture import save_figure
from kenyon.lab.report import ReportData, matrix_figure, stream_figure, weights_figure
from kenyon.lab.search import SearchFolder, search_figures


def plot_run(run: RunFolder, folder: Path, kind: str = "png") -> list[Path]:
    """Draw a complete run: accuracy matrix, accuracy over the stream, weights.

    Args:
        run: the run.
        folder: where the pictures go.
        kind: `"png"`, `"svg"` or `"pdf"`; or `"csv"`, `"markdown"` or `"latex"` for the numbers as a table.

    Returns:
        The files written; what the run did not record, or was copied without, is left out.

    Example:
        >>> from pathlib import Path
        >>> from kenyon.lab.evaluation import RunConfig, Store, run
        >>> _ = run(RunConfig("digits", "ncm"), seeds=[0], store="runs")
        >>> [path.name for path in plot_run(Store(Path("runs")).runs()[0], Path("pictures"), "svg")]
        ['accuracy_matrix.svg', 'accuracy.svg']
    """
    groups, damaged = group_runs([run], arrays=True)
    if damaged:
        raise DataError(damaged[0][1])
    ((stream, (group,)),) = by_stream(groups).items()
    if not group.complete:
        raise DataError(f"{run.path} holds no complete run")
    figures = {
        "accuracy_matrix": matrix_figure(stream, group),
        "accuracy": stream_figure(stream, [group]),
        "weights": weights_figure(stream, group),
    }
    return [save_figure(figure, folder, name, kind, (7, 4.2)) for name, figure in figures.items() if figure is not None]


def plot_search(folder: SearchFolder, out: Path, kind: str = "png") -> list[Path]:
    """Draw a search with at least one evaluation that succeeded; returns the files written.

    Args:
        folder: the search.
        out: where the pictures go.
        kind: `"png"`, `"svg"` or `"pdf"`; or `"csv"`, `"markdown"` or `"latex"` for the numbers as a table.
    """
    return [save_figure(figure, out, name, kind, (8, 4.6)) for name, figure in search_figures(folder).items()]


def plot_report(report: ReportData, folder: Path, kind: str = "png") -> list[Path]:
    """Draw every figure of a report; returns the files written.

    Args:
        report: the report.
        folder: where the pictures go, each under its figure's id.
        kind: `"png"`, `"svg"` or `"pdf"`; or `"csv"`, `"markdown"` or `"latex"` for the numbers as a table.

    Example:
        >>> from pathlib import Path
        >>> from kenyon.lab.report import Point, ReportData, Scatter
        >>> figure = Scatter("sizes", "Accuracy against size", "bytes", "%", (Point(1000, 90, "mine"),))
        >>> [path.name for path in plot_report(ReportData("Mine", figures=(figure,)), Path("pictures"), "svg")]
        ['sizes.svg']
    """
    if not report.figures:
        raise DataError("the report has no figure to draw")
    return [save_figure(figure, folder, figure.id, kind, (8, 4.8), titled=True) for figure in report.figures]
