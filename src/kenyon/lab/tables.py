"""The model of a table: rows of cells, each a result, a number of the paper, a gap with its reason, or text.

`kenyon.lab.table_formats` writes a table for the screen and as Markdown, LaTeX and CSV, `kenyon.lab.report` as HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, TypeVar

from kenyon.errors import DataError

if TYPE_CHECKING:
    from kenyon.lab.figures import Figure

BETTER = ("higher", "lower", None)


@dataclass(frozen=True)
class Value:
    """A number with its deviation, as the paper prints it."""

    mean: float
    std: float | None = None


@dataclass(frozen=True)
class Result:
    """A result of ours.

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
        title: what it shows; empty for none.
        columns: the headings, without the one above the labels.
        corner: the heading above the labels.
        source: the paper's caption and place, `""` where the paper has no such table.
        note: what to know when reading it, plain text.
    """

    id: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    source: str = ""
    note: str = ""
    corner: str = ""

    def __post_init__(self) -> None:
        check_id(self.id)
        for row in self.rows:
            if len(row.cells) != len(self.columns):
                raise DataError(f"row {row.label!r} has {len(row.cells)} cells for {len(self.columns)} columns")

    @property
    def labelled(self) -> bool:
        """Whether there is a column of labels."""
        return bool(self.corner) or any(row.label for row in self.rows)

    @property
    def grouped(self) -> Iterator[tuple[str | None, Row]]:
        """The rows, each with the name of the group that begins with it."""
        group = None
        for row in self.rows:
            yield (None if row.group == group else row.group), row
            group = row.group

    @classmethod
    def of_text(cls, columns: Sequence[str], rows: Iterable[Sequence[str]], title: str = "", note: str = "") -> Table:
        """A table of text, with the labels in its first column.

        Example:
            >>> Table.of_text(("name", "classes"), [("digits", "10")]).rows[0].label
            'digits'
        """
        made = tuple(Row(first, tuple(Text(cell) if cell else Empty() for cell in rest)) for first, *rest in rows)
        return cls("table", title, tuple(columns[1:]), made, note=note, corner=columns[0])


Anchored = TypeVar("Anchored", "Table", "Figure")


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
