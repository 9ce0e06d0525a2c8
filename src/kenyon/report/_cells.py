"""Tables of a report: rows of cells, each a result of ours, a number of the paper, a gap with its reason, or words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

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
        mean, std, n: over n repetitions; std None for one.
        unit: `"%"` (the numbers are percentages), `"MB"`, `"B"` (shown in the unit that reads best), any word, or `""`.
        paper: what the paper has in this place.
        better: which way is better, `"higher"`, `"lower"` or None; what the colour of the difference goes by.
        runs: names of the runs behind it, keys of the report's `runs`.
        command: what repeats it.
        best: whether it is the best of those it is compared with.
        stand_in: what was used in place of what, None where nothing was.
        remark: what else to know about it, such as why it is below the paper's; a footnote.
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
        """Ours less the paper's; None without a number of the paper."""
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
    """A number that was not made here, why, and what would make it."""

    tag: ClassVar = ("kind", "missing")
    reason: str
    command: str | None = None
    paper: Value | None = None


@dataclass(frozen=True)
class Text:
    """Words."""

    tag: ClassVar = ("kind", "text")
    text: str


@dataclass(frozen=True)
class Empty:
    """Nothing belongs here."""

    tag: ClassVar = ("kind", "empty")


Cell = Result | PaperValue | Missing | Text | Empty


@dataclass(frozen=True)
class Row:
    """A labelled row; rows of one group stand together under its name."""

    label: str
    cells: tuple[Cell, ...]
    group: str | None = None


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        id: its anchor: small letters, digits and hyphens.
        columns: headings, without the one over the labels.
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


def check_id(name: str) -> None:
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise DataError(f"id = {name!r}: expected small letters, digits and hyphens, such as 'table-3'")
