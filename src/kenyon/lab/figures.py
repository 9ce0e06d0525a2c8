"""The model of a figure: heat maps, lines, points and bars, kept as data.

`kenyon.lab.report` draws them on its page and lists them as Markdown, `kenyon.lab.plots` draws them with Matplotlib.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kenyon.errors import DataError
from kenyon.lab.tables import check_id


@dataclass(frozen=True)
class Heatmap:
    """A matrix of numbers, null where there is none. Consecutive heat maps of one title are drawn side by side.

    Attributes:
        series: what distinguishes it from the others of its title, such as the learner.
        runs: names of the runs behind it.
    """

    tag: ClassVar = ("type", "heatmap")
    id: str
    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    unit: str = ""
    series: str = ""
    source: str = ""
    note: str = ""
    row_label: str = ""
    column_label: str = ""
    runs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_id(self.id)
        if len(self.values) != len(self.rows) or any(len(row) != len(self.columns) for row in self.values):
            raise DataError(f"values are not {len(self.rows)} rows of {len(self.columns)} columns")


@dataclass(frozen=True)
class Series:
    """A line: points in order, with null in y for a gap, and optionally a band `(low, high)` around it.

    `group` is what many lines have in common, such as the learner; `faint` lines stay in the background.
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float | None, ...]
    band: tuple[tuple[float | None, ...], ...] | None = None
    group: str = ""
    faint: bool = False

    def __post_init__(self) -> None:
        if len(self.x) != len(self.y):
            raise DataError(f"series {self.name!r} has {len(self.x)} x for {len(self.y)} y")
        if self.band is not None and [len(edge) for edge in self.band] != [len(self.x)] * 2:
            raise DataError(f"the band of series {self.name!r} is not two lists of {len(self.x)} numbers")


@dataclass(frozen=True)
class Lines:
    """Lines over a common axis.

    Attributes:
        x_unit, y_unit: `"B"` writes the axis in bytes, KB, MB; any other unit is written after the numbers.
        marks: places on the x axis that are marked with a thin line, such as the end of a task.
        x_names: names of the places 0, 1, ... on the x axis.
        runs: names of the runs behind it.
    """

    tag: ClassVar = ("type", "lines")
    id: str
    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    x_log: bool = False
    y_log: bool = False
    source: str = ""
    note: str = ""
    x_unit: str = ""
    y_unit: str = ""
    marks: tuple[float, ...] = ()
    runs: tuple[str, ...] = ()
    x_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_id(self.id)
        for series in self.series:
            _check_log(self.x_log, "x", series.x)
            _check_log(self.y_log, "y", series.y)


@dataclass(frozen=True)
class Point:
    """A point; `error` is half the length of its vertical bar, and `run` the name of the run that it opens."""

    x: float
    y: float
    name: str
    group: str = ""
    run: str | None = None
    text: str = ""
    error: float | None = None


@dataclass(frozen=True)
class Scatter:
    """Points; `frontier` draws a line through those that no other point beats with less x and more y."""

    tag: ClassVar = ("type", "scatter")
    id: str
    title: str
    x_label: str
    y_label: str
    points: tuple[Point, ...]
    x_log: bool = False
    y_log: bool = False
    frontier: bool = False
    source: str = ""
    note: str = ""
    x_unit: str = ""
    y_unit: str = ""

    def __post_init__(self) -> None:
        check_id(self.id)
        _check_log(self.x_log, "x", tuple(point.x for point in self.points))
        _check_log(self.y_log, "y", tuple(point.y for point in self.points))


@dataclass(frozen=True)
class Bars:
    """Bars with their names, in order from the top; `errors` are half the lengths of their error bars."""

    tag: ClassVar = ("type", "bars")
    id: str
    title: str
    x_label: str
    names: tuple[str, ...]
    values: tuple[float, ...]
    errors: tuple[float | None, ...] = ()
    unit: str = ""
    source: str = ""
    note: str = ""
    runs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_id(self.id)
        if len(self.names) != len(self.values) or len(self.errors) not in (0, len(self.values)):
            counts = f"{len(self.names)} names, {len(self.values)} values and {len(self.errors)} errors"
            raise DataError(f"there are {counts}: expected as many of each, or no errors")


Figure = Heatmap | Lines | Scatter | Bars
"""Any of the figures."""


def _check_log(log: bool, axis: str, values: tuple[float | None, ...]) -> None:
    bad = next((value for value in values if log and value is not None and value <= 0), None)
    if bad is not None:
        raise DataError(f"{axis} = {bad} on a logarithmic axis: expected numbers above zero")
