"""What a report holds, however it is drawn: tables, figures and the runs behind them. It is kept as `report.json`.

The file is strict JSON (no NaN) with one object per dataclass, keyed by the names of the attributes; a cell also has
its `kind`, and a figure its `type`. A file that does not fit is refused, and the error names the place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kenyon.errors import DataError
from kenyon.lab.figures import Figure, Scatter
from kenyon.lab.report._plain import from_plain, to_plain
from kenyon.lab.tables import Result, Table
from kenyon.utils.system import replace_file

FORMAT = 1
REPORT_FILE = "report.json"
"""The name of a report's data in a store."""


@dataclass(frozen=True)
class Run:
    """A run behind the numbers.

    Attributes:
        config: its `config.toml`.
        command: the command that repeats it.
        metrics: its numbers by name; accuracies are shares, as in `metrics.json`.
        folder: the name of its folder in the store.
    """

    config: str
    command: str
    seed: int
    accuracy: float | None = None
    metrics: dict[str, float | None] = field(default_factory=dict)
    folder: str = ""


@dataclass(frozen=True)
class ReportData:
    """A report.

    Attributes:
        command: the command that makes it again.
        made: when it was made, in ISO 8601.
        quick: whether it is the reduced form, which is not to be compared with the paper.
        kenyon: the version of the package.
        machine: facts about where it was made, by name: processor, cores, python, ...
        runs: the runs behind the numbers, by the names of their folders.

    Example:
        >>> report = ReportData("Mine", subtitle="a first look")
        >>> ReportData.from_dict(report.to_dict()) == report
        True
    """

    title: str
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    runs: dict[str, Run] = field(default_factory=dict)
    subtitle: str = ""
    command: str = ""
    made: str = ""
    quick: bool = False
    kenyon: str = ""
    machine: dict[str, str | int | float | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.runs:  # a run is looked up in the store by this name, and nowhere else
            if not name or name == ".." or Path(name).name != name:
                raise DataError(f"a run is called {name!r}: expected the name of a folder in the store")
        seen: set[str] = set()
        for part in (*self.tables, *self.figures):
            if part.id in seen:
                raise DataError(f"two tables or figures have the id {part.id!r}: expected each once")
            seen.add(part.id)
            for name in _runs_of(part):
                if name not in self.runs:
                    raise DataError(f"{part.id} refers to the run {name!r}, which is not among the runs")

    def check(self) -> None:
        """Refuse a value that is not of its declared type, wherever it came from; the error names its place.

        Whatever draws a report calls this first, so text in the place of a number never reaches the page.
        """
        from_plain(type(self), to_plain(self), "report")

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values, which `from_dict` reads."""
        return {"format": FORMAT} | to_plain(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ReportData:
        """Read plain values and check them; an error names the place and what was expected there."""
        if not isinstance(values, Mapping) or "format" not in values:
            raise DataError("the report has no 'format': it is not a report of Kenyon")
        if values["format"] != FORMAT:
            raise DataError(f"format = {values['format']!r}: this version of Kenyon reads format {FORMAT}")
        report: ReportData = from_plain(cls, {k: v for k, v in values.items() if k != "format"}, "report")
        return report


def _runs_of(part: Table | Figure) -> list[str]:
    if isinstance(part, Table):
        return [name for row in part.rows for cell in row.cells if isinstance(cell, Result) for name in cell.runs]
    if isinstance(part, Scatter):
        return [point.run for point in part.points if point.run is not None]
    return list(part.runs)


def write_report(report: ReportData, path: Path) -> None:
    """Write `report.json` without spaces, as a whole or not at all.

    Example:
        >>> from pathlib import Path
        >>> write_report(ReportData("Mine"), Path(REPORT_FILE))
        >>> read_report(Path(REPORT_FILE)).title
        'Mine'
    """
    try:
        text = json.dumps(report.to_dict(), allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    except ValueError as error:
        raise DataError(f"a number of the report is not finite ({error}): expected null in its place") from error
    replace_file(path, (text + "\n").encode())


def read_report(path: Path) -> ReportData:
    """Read and check `report.json`.

    Example:
        >>> from pathlib import Path
        >>> write_report(ReportData("Mine"), Path("report.json"))
        >>> read_report(Path("report.json")) == open_report(Path("report.json"))
        True
    """
    try:
        return ReportData.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, DataError) as error:
        raise DataError(f"{path} is damaged: {error}") from error
