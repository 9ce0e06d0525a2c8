"""The report as Markdown: tables with our numbers, the paper's and the difference, the commands, and the machine."""

from __future__ import annotations

import re
from pathlib import Path

from kenyon.lab.report._data import ReportData
from kenyon.lab.report._numbers import number, signed, unit_of_column, with_unit
from kenyon.lab.report._parts import (
    Cell,
    Figure,
    Heatmap,
    Lines,
    Missing,
    PaperValue,
    Result,
    Scatter,
    Series,
    Table,
    Text,
)
from kenyon.utils.system import replace_file

WIDEST = 12
"""A heat map of at most so many columns is written as a table."""

MOST = 40
"""At most so many points of a plot are listed, the highest first."""


def write_markdown(report: ReportData, path: Path) -> None:
    """Write the Markdown file, as a whole or not at all.

    Example:
        >>> from pathlib import Path
        >>> write_markdown(ReportData("Mine"), Path("mine.md"))
        >>> Path("mine.md").read_text().startswith("# Mine")
        True
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, markdown(report).encode("utf-8", "replace"))


def markdown(report: ReportData) -> str:
    """The Markdown text. Line plots, which only make sense as pictures, are left to the page.

    Example:
        >>> table = Table("rules", "Rules", ("accuracy",), (Row("GEN", (Text("91.6"),)),))
        >>> markdown(ReportData("Mine", (table,))).splitlines()[0]
        '# Mine'
    """
    report.check()
    parts = [f"# {_escape(report.title)}", _block(report.subtitle)]
    if report.quick:
        parts.append("**Quick form**: fewer seeds and reduced sizes; not to be compared with the paper.")
    cells = [cell for table in report.tables for row in table.rows for cell in row.cells]
    compared = any(isinstance(cell, Result) and cell.paper for cell in cells)
    behind = "; behind it the paper's number and the difference" if compared else ""
    parts.append(f"Mean ± standard deviation over seeds{behind}. The best is bold.")
    parts += [_table(table) for table in report.tables]
    parts += [text for figure in report.figures if (text := _figure(figure))]
    parts += ["## How it was made", f"Written {_escape(report.made)}, by", _code([report.command])]
    machine = [("Kenyon", report.kenyon), *report.machine.items()]
    parts.append(_grid(["", ""], [[_escape(key), _escape(str(value))] for key, value in machine if value is not None]))
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(table: Table) -> str:
    notes: dict[str, int] = {}
    rows, group = [], None
    units = [unit_of_column(table, j) for j in range(len(table.columns))]
    for row in table.rows:
        if row.group != group and row.group is not None:
            rows.append([f"*{_escape(row.group)}*"] + [""] * len(table.columns))
        group = row.group
        rows.append([_escape(row.label), *(_cell(c, units[j] or "", notes) for j, c in enumerate(row.cells))])
    grid = _grid(["", *map(_escape, table.columns)], rows)
    listed = "\n".join(f"{n}. {_block(text)}" for text, n in notes.items())
    source = f"*{_escape(table.source)}*" if table.source else ""
    parts = [f"## {_escape(table.title)}", source, _block(table.note), grid, listed, _commands(table)]
    return "\n\n".join(part for part in parts if part)


def _cell(cell: Cell, unit: str, notes: dict[str, int]) -> str:
    if isinstance(cell, Text):
        return _escape(cell.text)
    if isinstance(cell, PaperValue):
        return _escape(with_unit(cell, cell.unit))
    if isinstance(cell, Missing):
        paper = f" (paper {number(cell.paper.mean, unit)})" if cell.paper else ""
        return f"not run [{_note(notes, cell.reason)}]{paper}"
    if not isinstance(cell, Result):
        return ""
    text = _escape(with_unit(cell, cell.unit))
    text = f"**{text}**" if cell.best else text
    if cell.stand_in:
        text += f" stand-in [{_note(notes, f'Stand-in: {cell.stand_in}')}]"
    if cell.paper is not None and cell.difference is not None:
        text += f" (paper {number(cell.paper.mean, cell.unit)}, {signed(cell.difference, cell.unit, like=cell.mean)})"
    if cell.remark:
        text += f" [{_note(notes, cell.remark)}]"
    return text


def _note(notes: dict[str, int], text: str) -> int:
    return notes.setdefault(text, len(notes) + 1)


def _commands(table: Table) -> str:
    """The commands of the table, each once, in a block that opens when it is clicked."""
    cells = [cell for row in table.rows for cell in row.cells]
    found = dict.fromkeys(c.command for c in cells if isinstance(c, (Result, Missing, Text)) and c.command)
    return f"<details><summary>Commands</summary>\n\n{_code(list(found))}\n\n</details>" if found else ""


def _figure(figure: Figure) -> str:
    if isinstance(figure, Scatter):
        head = ["", figure.x_label, figure.y_label]
        unit = figure.x_unit or ("B" if "bytes" in figure.x_label.lower() else "")
        rows = [
            [_escape(p.name), _escape(with_unit(PaperValue(p.x), unit)), with_unit(PaperValue(p.y, p.error), "")]
            for p in sorted(figure.points, key=lambda p: -p.y)[:MOST]
        ]
        if len(figure.points) > MOST:
            rows.append([f"and {len(figure.points) - MOST} lower", "", ""])
    elif isinstance(figure, Heatmap) and len(figure.columns) <= WIDEST:
        head = ["", *figure.columns]
        rows = [
            [_escape(name), *("" if value is None else number(value, figure.unit) for value in values)]
            for name, values in zip(figure.rows, figure.values, strict=True)
        ]
    elif isinstance(figure, Lines) and len(figure.series) <= WIDEST and (ends := _ends(figure)):
        head = [figure.x_label, *(series.name for series in figure.series)]
        rows = [
            [f"{x:g}", *("" if (y := _until(series, x)) is None else f"{y:.4g}" for series in figure.series)]
            for x in ends
        ]
    else:
        return ""
    series = figure.series if isinstance(figure, Heatmap) else ""
    title = f"## {_escape(figure.title)}" + (f", {_escape(series)}" if series else "")
    source = f"*{_escape(figure.source)}*" if figure.source else ""
    parts = [title, source, _block(figure.note), _grid([_escape(name) for name in head], rows)]
    return "\n\n".join(part for part in parts if part)


def _ends(figure: Lines) -> list[float]:
    """Where a table of lines has rows: at the ends of tasks, the last one's included."""
    last = max((series.x[-1] for series in figure.series if series.x), default=None)
    return [] if last is None else [*figure.marks, last]


def _until(series: Series, x: float) -> float | None:
    """The last value up to x; None where the line begins later."""
    found = [y for own, y in zip(series.x, series.y, strict=True) if own <= x]
    return found[-1] if found else None


def _grid(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _code(lines: list[str]) -> str:
    """A block of code, whose fence is longer than any run of backticks in it."""
    text = "\n".join(line.strip() for line in lines if line)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}\n{text}\n{fence}" if text else ""


def _escape(text: str) -> str:
    """Text on one line, escaped so that Markdown shows it as it is: no markup, no HTML."""
    text = re.sub(r"([\\`*_\[\]|])", r"\\\1", " ".join(text.split()))
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _block(text: str) -> str:
    """Text of a paragraph: its beginning, too, cannot become a heading, a list, a quotation or a fence."""
    text = _escape(text)
    return re.sub(r"^(\d*)([#>+=~.)-])", r"\1\\\2", text)
