"""What a report is made of.

Tables are rows of cells; a cell is a result of ours, a number of the paper, a gap with its reason, or text. Figures
are heat maps, line plots and plots of points, kept as data: the page draws them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

from kenyon.errors import DataError

BETTER = ("higher", "lower", None)


@dataclass(frozen=True)
class Value:
    """A number with its deviation, as the paper prints it."""

    mean: float
    std: float | None = None


@dataclass(frozen=True)
class Result:
    """A number of ours.

    Attributes:
        mean, std, n: mean and standard deviation over n repetitions; std is None where there is only one.
        unit: `"%"` (the numbers are percentages), `"MB"`, `"B"` (shown in the unit that reads best), any word, or `""`.
        paper: what the paper has in this place.
        better: which way is better, `"higher"`, `"lower"` or None; the difference is coloured by it.
        runs: names of the runs behind it, keys of the report's `runs`.
        command: the command that repeats it.
        best: whether it is the best of those it is compared with.
        stand_in: what was used in place of what; None where nothing was replaced.
        remark: a footnote, such as why the number is below the paper's.

    Example:
        >>> Result(91.5, paper=Value(78.5)).difference
        13.0
    """

    tag: ClassVar = ("kind", "result")
    mean: float
    std: float | None = None
    n: int = 1
    unit: str = ""
    paper: Value | None = None
    better: str | None = None
    runs: tuple[str, ...] = ()
    command: str = ""
    best: bool = False
    stand_in: str | None = None
    remark: str | None = None

    def __post_init__(self) -> None:
        if self.better not in BETTER:
            raise DataError(f"better = {self.better!r}: expected 'higher', 'lower' or null")
        if self.n < 1:
            raise DataError(f"n = {self.n}: expected at least one repetition")

    @property
    def difference(self) -> float | None:
        """Our number minus the paper's; None where the paper has none."""
        return None if self.paper is None else self.mean - self.paper.mean


@dataclass(frozen=True)
class PaperValue:
    """A number of the paper in a column of its own."""

    tag: ClassVar = ("kind", "paper")
    mean: float
    std: float | None = None
    unit: str = ""


@dataclass(frozen=True)
class Missing:
    """A number that was not produced here, the reason, and the command that would produce it."""

    tag: ClassVar = ("kind", "missing")
    reason: str
    command: str | None = None
    paper: Value | None = None


@dataclass(frozen=True)
class Text:
    """Plain text, and the command that repeats what it says of a run, such as that it diverges."""

    tag: ClassVar = ("kind", "text")
    text: str
    command: str | None = None


@dataclass(frozen=True)
class Empty:
    """A cell with nothing in it."""

    tag: ClassVar = ("kind", "empty")


Cell = Result | PaperValue | Missing | Text | Empty
"""What a place in a table may hold."""


@dataclass(frozen=True)
class Row:
    """A row with its label; rows of one group stand together under the group's name."""

    label: str
    cells: tuple[Cell, ...]
    group: str | None = None


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        id: its anchor: lower-case letters, digits and hyphens.
        columns: the headings, without the one above the labels.
        source: the paper's caption and place, `""` where the paper has no such table.
        note: what to know when reading it, plain text.
    """

    id: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    source: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        check_id(self.id)
        for row in self.rows:
            if len(row.cells) != len(self.columns):
                raise DataError(f"row {row.label!r} has {len(row.cells)} cells for {len(self.columns)} columns")


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
    """A line: points in order, with null in y for a gap, and optionally a band `(low, high)` around it."""

    name: str
    x: tuple[float, ...]
    y: tuple[float | None, ...]
    band: tuple[tuple[float | None, ...], ...] | None = None

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


Figure = Heatmap | Lines | Scatter
"""Any of the figures."""
Anchored = TypeVar("Anchored", Table, Figure)


def _check_log(log: bool, axis: str, values: tuple[float | None, ...]) -> None:
    bad = next((value for value in values if log and value is not None and value <= 0), None)
    if bad is not None:
        raise DataError(f"{axis} = {bad} on a logarithmic axis: expected numbers above zero")


def check_id(name: str) -> None:
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise DataError(f"id = {name!r}: expected lower-case letters, digits and hyphens, such as 'table-3'")


def unique(parts: Iterable[Anchored], taken: Iterable[str] = ()) -> tuple[Anchored, ...]:
    """The same parts with anchors that differ: names that differ in punctuation alone have the same slug."""
    seen, kept = set(taken), []
    for part in parts:
        own, n = part.id, 2
        while own in seen:
            own, n = f"{part.id}-{n}", n + 1
        seen.add(own)
        kept.append(replace(part, id=own))
    return tuple(kept)
