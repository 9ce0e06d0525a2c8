"""Figures of the model drawn with Matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kenyon.lab.figures import Bars, Figure, Heatmap, Lines, Point, Scatter
from kenyon.utils.wording import scale_of_bytes

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d31")
"""Distinct for the colour-blind (Okabe & Ito), and by brightness."""
RULES = {"mse": "tab:blue", "oja": "tab:red", "gen": "tab:green", "inel": "tab:cyan"}
"""The colours of rules in the paper's figure of a search."""
LINES = ("-", "--", ":", "-.")
NAMED = 10
"""Up to this many lines, each has its own entry in the legend."""
MOST_NUMBERS = 12
"""A heat map of at most this many columns shows its numbers."""
MOST_NAMES = 60
"""Beyond this many points, those of the frontier alone have their names beside them."""
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


def draw_figure(axes: Any, figure: Figure) -> None:
    """Draw any figure of the model."""
    if isinstance(figure, Heatmap):
        draw_heatmap(axes, figure)
    elif isinstance(figure, Lines):
        draw_lines(axes, figure)
    elif isinstance(figure, Bars):
        draw_bars(axes, figure)
    else:
        draw_scatter(axes, figure)


def draw_heatmap(axes: Any, figure: Heatmap) -> None:
    """A matrix in colours, with its numbers where they fit."""
    matrix = np.array([[np.nan if v is None else v for v in row] for row in figure.values], np.float64)
    scale = {"vmin": 0, "vmax": 100} if figure.unit == "%" else {}
    image = axes.imshow(matrix, cmap="viridis", **scale)
    if matrix.shape[1] <= MOST_NUMBERS:
        middle = 60 if figure.unit == "%" else float(np.nanmean(matrix))
        for i, j in np.argwhere(np.isfinite(matrix)):
            colour = "w" if matrix[i, j] < middle else "k"
            axes.text(j, i, f"{matrix[i, j]:.1f}", ha="center", va="center", color=colour)
    axes.set_xticks(range(len(figure.columns)), figure.columns)
    axes.set_yticks(range(len(figure.rows)), figure.rows)
    axes.set_xlabel(figure.column_label)
    axes.set_ylabel(figure.row_label)
    axes.figure.colorbar(image, label=f"accuracy, {figure.unit}" if figure.unit == "%" else figure.unit)


def draw_lines(axes: Any, figure: Lines) -> None:
    """Lines with their bands; beyond `NAMED` of them, colours and names are those of their groups."""
    named = len(figure.series) <= NAMED or not any(series.group for series in figure.series)
    groups = list(dict.fromkeys(series.group for series in figure.series))
    for place, series in enumerate(figure.series):
        number = place if named else groups.index(series.group)
        colour = COLOURS[number % len(COLOURS)] if len(figure.series) <= len(COLOURS) or not named else None
        colour = RULES.get(series.group, colour)
        y = np.array([np.nan if v is None else v for v in series.y], np.float64)
        first = [other.group for other in figure.series].index(series.group) == place
        label = series.name if named else series.group if first else None
        style = LINES[0 if named else place % len(LINES)]
        marker = "o" if len(series.x) <= 20 else None
        alpha, width = (0.2, 0.5) if series.faint else (0.9, 1.1)
        (line,) = axes.plot(series.x, y, style, color=colour, marker=marker, ms=3, lw=width, alpha=alpha, label=label)
        if series.band is not None:
            low, high = (np.array([np.nan if v is None else v for v in edge], np.float64) for edge in series.band)
            axes.fill_between(series.x, low, high, color=line.get_color(), alpha=0.15, lw=0)
    for mark in figure.marks:
        axes.axvline(mark, color="0.8", lw=0.8, zorder=0)
    axes.set_xscale("log" if figure.x_log else "linear")
    axes.set_yscale("log" if figure.y_log else "linear")
    counts = sorted({x for series in figure.series for x in series.x})
    if figure.x_names:
        axes.set_xticks(range(len(figure.x_names)), figure.x_names, fontsize=6, rotation=60, ha="right")
    elif len(counts) <= 20 and all(x == int(x) for x in counts):
        axes.set_xticks(counts)
    axes.set_xlabel(figure.x_label)
    axes.set_ylabel(figure.y_label)
    legend_below(axes)


def draw_bars(axes: Any, figure: Bars) -> None:
    """Horizontal bars, the first on top."""
    places = range(len(figure.names) - 1, -1, -1)
    errors = [error or 0.0 for error in figure.errors] or None
    axes.barh(places, figure.values, 0.7, xerr=errors, color=COLOURS[0], error_kw={"elinewidth": 0.7})
    axes.set_yticks(places, figure.names)
    axes.axvline(0, color="0.3", lw=0.6)
    axes.set_xlabel(figure.x_label)


def legend_below(axes: Any) -> None:
    """A legend below the picture, so that it covers nothing."""
    handles, names = axes.get_legend_handles_labels()
    if handles:
        long = max(map(len, names)) > 18
        axes.figure.legend(handles, names, loc="outside lower center", ncols=1 if long else min(5, len(names)))


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
        shown = RULES.get(group.partition(",")[0], f"C{colour}")
        axes.errorbar(x, y, error, fmt=marker, ms=6, elinewidth=0.8, label=group or None, color=shown)
    if best:
        axes.step([p.x for p in best], [p.y for p in best], where="post", color="0.6", lw=1, ls="--", zorder=0)
    axes.set_xscale("log" if scatter.x_log else "linear")
    axes.set_yscale("log" if scatter.y_log else "linear")
    if scatter.x_unit == "B":
        axes.xaxis.set_major_formatter(lambda value, _: in_bytes(value))
    axes.set_xlabel(scatter.x_label)
    axes.set_ylabel(scatter.y_label)
    axes.grid(alpha=0.25)
    axes.margins(x=0.1)  # space for the names
    if any(groups):
        axes.legend(fontsize=8, loc="lower left" if scatter.frontier else "upper right")
    few = len(scatter.points) <= MOST_NAMES
    _name_points(axes, sorted(scatter.points, key=lambda point: point not in best) if few else best)


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


def in_bytes(value: float) -> str:
    """A number of bytes as the label of a tick."""
    divisor, unit = scale_of_bytes(value)
    return f"{value / divisor:g} {unit}"
