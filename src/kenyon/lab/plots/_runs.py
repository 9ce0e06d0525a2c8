"""One run, a search, and the figures of a report."""

from __future__ import annotations

from kenyon.errors import DataError
from kenyon.lab.evaluation import RunFolder, by_stream, group_runs
from kenyon.lab.plots._picture import Picture, Pictures
from kenyon.lab.report import ReportData, matrix_figure, stream_figure, weights_figure
from kenyon.lab.search import SearchFolder, search_figures


def plot_run(run: RunFolder) -> Pictures:
    """A complete run: accuracy matrix, accuracy over the stream, weights. What it did not record is left out.

    Example:
        >>> from pathlib import Path
        >>> from kenyon.lab.evaluation import RunConfig, Store, run
        >>> _ = run(RunConfig("digits", "ncm"), seeds=[0], store="runs")
        >>> plot_run(Store(Path("runs")).runs()[0])
        Pictures(accuracy_matrix, accuracy)
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
    return Pictures({name: Picture(figure, (7, 4.2)) for name, figure in figures.items() if figure is not None})


def plot_search(folder: SearchFolder) -> Pictures:
    """A search with at least one evaluation that succeeded."""
    return Pictures({name: Picture(figure, (8, 4.6)) for name, figure in search_figures(folder).items()})


def plot_report(report: ReportData) -> Pictures:
    """Every figure of a report, by its id.

    Example:
        >>> from kenyon.lab import Point, ReportData, Scatter
        >>> figure = Scatter("sizes", "Accuracy against size", "bytes", "%", (Point(1000, 90, "mine"),))
        >>> plot_report(ReportData("Mine", figures=(figure,)))
        Pictures(sizes)
    """
    if not report.figures:
        raise DataError("the report has no figure to draw")
    return Pictures({figure.id: Picture(figure, (8, 4.8)) for figure in report.figures}, titled=True)
