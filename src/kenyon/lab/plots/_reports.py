"""Pictures of a report's plots of points, such as accuracy against bytes of state, for pages without script."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from kenyon.errors import DataError
from kenyon.lab.plots._picture import in_bytes, save_picture
from kenyon.lab.report import Point, ReportData, Scatter

MARKERS = "os^Dvp*hXP"
PLACES = (
    (-4, 4, "right", "bottom"),
    (0, 6, "center", "bottom"),
    (6, 0, "left", "center"),
    (-6, 0, "right", "center"),
    (4, -4, "left", "top"),
    (0, -6, "center", "top"),
    (4, 4, "left", "bottom"),
    (-4, -4, "right", "top"),
)
"""Where a name may stand: how far across and up from its point, and how it is aligned there. The first place is clear
of the line that joins the best points."""


def plot_report(report: ReportData, folder: Path, kind: str = "png") -> list[Path]:
    """Draw every plot of points of a report; returns the files written.

    Args:
        report: the report.
        folder: where the pictures go, each under its figure's id.
        kind: `"png"`, `"svg"` or `"pdf"`.

    Example:
        >>> from pathlib import Path
        >>> from kenyon.lab.report import Point, ReportData, Scatter
        >>> figure = Scatter("sizes", "Accuracy against size", "bytes", "%", (Point(1000, 90, "mine"),))
        >>> [path.name for path in plot_report(ReportData("Mine", figures=(figure,)), Path("pictures"), "svg")]
        ['sizes.svg']
    """
    scatters = [figure for figure in report.figures if isinstance(figure, Scatter) and figure.points]
    if not scatters:
        raise DataError("the report has no plot of points to draw")
    return [
        save_picture(partial(draw_scatter, scatter=scatter), folder / f"{scatter.id}.{kind}", (8, 4.8))
        for scatter in scatters
    ]


def draw_scatter(axes: Any, scatter: Scatter) -> None:
    """Points by group, with their names; the line joins those that nothing else beats."""
    groups = list(dict.fromkeys(point.group for point in scatter.points))
    best = frontier(scatter.points) if scatter.frontier else []
    for number, group in enumerate(groups):
        points = [point for point in scatter.points if point.group == group]
        x, y = [point.x for point in points], [point.y for point in points]
        error = [point.error or 0.0 for point in points]
        marker = MARKERS[number % len(MARKERS)]
        colour = 1 + (number - 1) % 9 if number else 0  # no other group has the first colour
        axes.errorbar(x, y, error, fmt=marker, ms=6, elinewidth=0.8, label=group or None, color=f"C{colour}")
    if best:
        axes.step([p.x for p in best], [p.y for p in best], where="post", color="0.6", lw=1, ls="--", zorder=0)
    axes.set_xscale("log" if scatter.x_log else "linear")
    axes.set_yscale("log" if scatter.y_log else "linear")
    if scatter.x_unit == "B":
        axes.xaxis.set_major_formatter(lambda value, _: in_bytes(value))
    axes.set_xlabel(scatter.x_label)
    axes.set_ylabel(scatter.y_label)
    axes.set_title(scatter.title, fontsize=11)
    axes.grid(alpha=0.25)
    axes.margins(x=0.1)  # room for the names
    if any(groups):
        axes.legend(fontsize=8, loc="lower left" if scatter.frontier else "upper right")
    _name_points(axes, sorted(scatter.points, key=lambda point: point not in best))


def _name_points(axes: Any, points: Sequence[Point]) -> None:
    """Write names beside their points, in order; a name that would cover something is left out."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.transforms import Bbox

    renderer = FigureCanvasAgg(axes.figure).get_renderer()
    axes.figure.draw_without_rendering()  # so that positions are known
    places = [axes.transData.transform((point.x, point.y)) for point in points]
    taken = [Bbox.from_bounds(x - 4, y - 4, 8, 8) for x, y in places]
    if legend := axes.get_legend():
        taken.append(legend.get_window_extent(renderer))
    inside = axes.get_window_extent(renderer)
    for point in points:
        for across, up, ha, va in PLACES:
            text = axes.annotate(
                point.name, (point.x, point.y), (across, up), textcoords="offset points", ha=ha, va=va, fontsize=8
            )
            box = text.get_window_extent(renderer).padded(3, 0)
            if inside.x0 < box.x0 and box.x1 < inside.x1 and not any(box.overlaps(other) for other in taken):
                taken.append(box)
                break
            text.remove()


def frontier(points: tuple[Point, ...]) -> list[Point]:
    """The points that no other point beats with less x and more y, from left to right."""
    best: list[Point] = []
    for point in sorted(points, key=lambda point: (point.x, -point.y)):
        if not best or point.y > best[-1].y:
            best.append(point)
    return best
