"""The report as Markdown: tables with our numbers, the paper's and the difference, the commands, and the machine."""

from __future__ import annotations

import re
from pathlib import Path

from kenyon.lab.figures import Bars, Figure, Heatmap, Lines, Scatter, Series
from kenyon.lab.report._data import ReportData
from kenyon.lab.table_formats import escape_markdown, markdown_grid, number, paragraph, to_markdown, with_unit
from kenyon.lab.tables import Missing, PaperValue, Result, Table, Text
from kenyon.utils.system import replace_file

WIDEST = 12
"""A heat map of at most this many columns is written as a table."""

MOST = 40
"""At most this many points of a plot are listed, the highest first."""


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
    parts = [f"# {escape_markdown(report.title)}", paragraph(report.subtitle)]
    if report.quick:
        parts.append("**Quick form**: fewer seeds and reduced sizes; not to be compared with the paper.")
    cells = [cell for table in report.tables for row in table.rows for cell in row.cells]
    compared = any(isinstance(cell, Result) and cell.paper for cell in cells)
    behind = "; behind it the paper's number and the difference" if compared else ""
    parts.append(f"Mean ± standard deviation over seeds{behind}. The best is bold.")
    parts += [_table(table) for table in report.tables]
    parts += [text for figure in report.figures if (text := _figure(figure))]
    parts += ["## How it was made", f"Written {escape_markdown(report.made)}, by", _code([report.command])]
    machine = [("Kenyon", report.kenyon), *report.machine.items()]
    parts.append(
        _grid(
            ["", ""],
            [[escape_markdown(key), escape_markdown(str(value))] for key, value in machine if value is not None],
        )
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(table: Table) -> str:
    source = f"*{escape_markdown(table.source)}*" if table.source else ""
    grid = to_markdown(table).rstrip()
    parts = [f"## {escape_markdown(table.title)}", source, paragraph(table.note), grid, _commands(table)]
    return "\n\n".join(part for part in parts if part)


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
            [
                escape_markdown(p.name),
                escape_markdown(with_unit(PaperValue(p.x), unit)),
                with_unit(PaperValue(p.y, p.error), ""),
            ]
            for p in sorted(figure.points, key=lambda p: -p.y)[:MOST]
        ]
        if len(figure.points) > MOST:
            rows.append([f"and {len(figure.points) - MOST} lower", "", ""])
    elif isinstance(figure, Bars):
        head, errors = ["", figure.x_label], figure.errors or (None,) * len(figure.values)
        rows = [
            [escape_markdown(name), with_unit(PaperValue(value, error), "")]
            for name, value, error in zip(figure.names, figure.values, errors, strict=True)
        ]
    elif isinstance(figure, Heatmap) and len(figure.columns) <= WIDEST:
        head = ["", *figure.columns]
        rows = [
            [escape_markdown(name), *("" if value is None else number(value, figure.unit) for value in values)]
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
    title = f"## {escape_markdown(figure.title)}" + (f", {escape_markdown(series)}" if series else "")
    source = f"*{escape_markdown(figure.source)}*" if figure.source else ""
    parts = [title, source, paragraph(figure.note), _grid([escape_markdown(name) for name in head], rows)]
    return "\n\n".join(part for part in parts if part)


def _grid(heads: list[str], rows: list[list[str]]) -> str:
    return markdown_grid(heads, rows, [True] + [False] * (len(heads) - 1))


def _ends(figure: Lines) -> list[float]:
    """Where a table of lines has rows: at the ends of tasks, the last one's included."""
    last = max((series.x[-1] for series in figure.series if series.x), default=None)
    return [] if last is None else [*figure.marks, last]


def _until(series: Series, x: float) -> float | None:
    """The last value up to x; None where the line begins later."""
    found = [y for own, y in zip(series.x, series.y, strict=True) if own <= x]
    return found[-1] if found else None


def _code(lines: list[str]) -> str:
    """A block of code, whose fence is longer than any run of backticks in it."""
    text = "\n".join(line.strip() for line in lines if line)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}\n{text}\n{fence}" if text else ""
