"""Pictures that compare configurations, in the size and type of a paper with two columns."""

from __future__ import annotations

from collections.abc import Sequence

from kenyon.errors import DataError, unknown
from kenyon.lab.evaluation import RunGroup, by_stream
from kenyon.lab.figures import Figure
from kenyon.lab.plots._draw import NAMED
from kenyon.lab.plots._picture import Picture, Pictures
from kenyon.lab.report import bytes_figure, forgetting_figure, stream_figure, tasks_figure
from kenyon.utils.wording import slug

WIDTHS = {"column": 3.35, "page": 6.9}
"""Inches: one column of a two-column page, or both."""
STYLE = {
    "font.size": 8, "axes.labelsize": 8, "axes.titlesize": 8, "legend.fontsize": 7, "xtick.labelsize": 7,
    "ytick.labelsize": 7, "lines.linewidth": 1.1, "lines.markersize": 4, "axes.linewidth": 0.6,
    "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "pdf.fonttype": 42,
}  # fmt: skip


def plot_comparison(groups: Sequence[RunGroup], width: str = "column") -> Pictures:
    """The configurations of each stream: accuracy over the stream, accuracy against bytes, and forgetting.

    Args:
        groups: the configurations; those without a complete run are left out.
        width: `"column"` for one column of a page with two, `"page"` for both.

    Example:
        >>> from pathlib import Path
        >>> from kenyon.lab.evaluation import RunConfig, Store, group_runs, run_all
        >>> _ = run_all([RunConfig("digits", name) for name in ("ncm", "slda")], seeds=[0], store="runs")
        >>> groups = group_runs(Store(Path("runs")).runs()).groups
        >>> [name.split("-")[-1] for name in plot_comparison(groups)]
        ['accuracy', 'bytes', 'forgetting']
    """
    if width not in WIDTHS:
        raise unknown("width of a picture", width, WIDTHS)
    shown = [group for group in groups if group.complete and not group.outdated]
    if not shown:
        raise DataError("there is no complete run to draw")
    pictures = {}
    for stream, members in by_stream(shown).items():
        several = len(members[0].report.accuracy_matrix) > 1
        accuracy = tasks_figure(stream, members) if several else stream_figure(stream, members)
        rows = min(len(members), NAMED)
        figures: list[tuple[str, Figure | None, float]] = [
            ("accuracy", accuracy, 2.5 + 0.12 * rows),
            ("bytes", bytes_figure(stream, members), 2.5),
            ("forgetting", forgetting_figure(stream, members) if several else None, 0.85 + 0.2 * len(members)),
        ]
        for name, figure, height in figures:
            if figure is not None:
                pictures[f"{slug(*stream)}-{name}"] = Picture(figure, (WIDTHS[width], min(9.0, height)))
    return Pictures(pictures, STYLE)
