"""Figures as tables, for formats that cannot draw: Markdown, LaTeX, CSV and the screen."""

from __future__ import annotations

from kenyon.lab.figures import Bars, Figure, Heatmap, Lines, Series
from kenyon.lab.tables import Cell, Empty, PaperValue, Row, Table


def figure_table(figure: Figure, most: int | None = None) -> Table:
    """The numbers of a figure.

    Args:
        figure: the figure.
        most: at most this many points of a scatter, the highest first, and lines at the ends of tasks alone; None for
            every number.

    Example:
        >>> bars = Bars("forgetting", "Forgetting", "forgetting, %", ("ncm", "slda"), (1.5, 3.0))
        >>> [(row.label, row.cells[0].mean) for row in figure_table(bars).rows]
        [('ncm', 1.5), ('slda', 3.0)]
    """
    corner = ""
    if isinstance(figure, Bars):
        heads, errors = [figure.x_label], figure.errors or (None,) * len(figure.values)
        rows = [
            (name, [_cell(value, figure.unit, error)])
            for name, value, error in zip(figure.names, figure.values, errors, strict=True)
        ]
    elif isinstance(figure, Heatmap):
        heads = list(figure.columns)
        values = zip(figure.rows, figure.values, strict=True)
        rows = [(name, [_cell(value, figure.unit) for value in own]) for name, own in values]
    elif isinstance(figure, Lines):
        corner, heads = figure.x_label, [series.name for series in figure.series]
        places = sorted({x for series in figure.series for x in series.x}) if most is None else _ends(figure)
        rows = [(f"{x:g}", [_cell(_until(series, x)) for series in figure.series]) for x in places]
    else:
        heads, unit = [figure.x_label, figure.y_label], figure.x_unit or _bytes_in(figure.x_label)
        points = sorted(figure.points, key=lambda point: -point.y)
        rows = [(point.name, [_cell(point.x, unit), _cell(point.y, "", point.error)]) for point in points[:most]]
        if most is not None and len(points) > most:
            rows.append((f"and {len(points) - most} lower", [Empty(), Empty()]))
    made = tuple(Row(label, tuple(cells)) for label, cells in rows)
    series = f", {figure.series}" if isinstance(figure, Heatmap) and figure.series else ""
    return Table(figure.id, figure.title + series, tuple(heads), made, figure.source, figure.note, corner)


def _cell(value: float | None, unit: str = "", error: float | None = None) -> Cell:
    return Empty() if value is None else PaperValue(value, error, unit)


def _bytes_in(label: str) -> str:
    return "B" if "bytes" in label.lower() else ""


def _ends(figure: Lines) -> list[float]:
    """The ends of tasks, the last one's included."""
    last = max((series.x[-1] for series in figure.series if series.x), default=None)
    return [] if last is None else [*figure.marks, last]


def _until(series: Series, x: float) -> float | None:
    """The last value up to x; None where the line begins later."""
    found = [y for own, y in zip(series.x, series.y, strict=True) if own <= x]
    return found[-1] if found else None
