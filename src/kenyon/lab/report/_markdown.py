"""The report as Markdown: tables with our numbers, the paper's and the difference, the commands, and the machine."""

from __future__ import annotations

import re
from pathlib import Path

from kenyon.lab.figure_tables import figure_table
from kenyon.lab.figures import Figure, Heatmap, Lines
from kenyon.lab.report._data import ReportData
from kenyon.lab.report._notes import in_two
from kenyon.lab.table_formats import escape_markdown, markdown_grid, number, paragraph, to_markdown, with_unit
from kenyon.lab.tables import Cell, Missing, PaperValue, Result, Table, Text
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
        >>> from kenyon.lab import Row, Table, Text
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
    parts += [_table(table, table is report.tables[0]) for table in report.tables]
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


def _table(table: Table, shown: bool) -> str:
    source = f"*{escape_markdown(table.source)}*" if table.source else ""
    grid = _folded(f"{len(table.rows)} rows", to_markdown(table).rstrip(), shown)
    first, rest = in_two(table.note)
    notes = _folded("Notes", paragraph(rest)) if rest else ""
    parts = [f"## {escape_markdown(table.title)}", source, paragraph(first), grid, notes, _commands(table)]
    return "\n\n".join(part for part in parts if part)


def _folded(title: str, inner: str, shown: bool = False) -> str:
    """A block that opens when its title is clicked."""
    return f'<details markdown="1"{" open" * shown}><summary>{title}</summary>\n\n{inner}\n\n</details>'


def _commands(table: Table) -> str:
    """The commands of the table, each once."""
    cells = [cell for row in table.rows for cell in row.cells]
    found = dict.fromkeys(c.command for c in cells if isinstance(c, (Result, Missing, Text)) and c.command)
    return _folded("Commands", _code(list(found))) if found else ""


def _figure(figure: Figure) -> str:
    """A figure as a table; nothing where it would be too wide."""
    table = figure_table(figure, MOST)
    if len(table.columns) > WIDEST or not table.rows:
        return ""
    rows = [[escape_markdown(row.label), *(_number(figure, cell) for cell in row.cells)] for row in table.rows]
    source = f"*{escape_markdown(figure.source)}*" if figure.source else ""
    grid = _folded(f"{len(rows)} rows", _grid([escape_markdown(name) for name in (table.corner, *table.columns)], rows))
    parts = [f"## {escape_markdown(table.title)}", source, paragraph(figure.note), grid]
    return "\n\n".join(part for part in parts if part)


def _number(figure: Figure, cell: Cell) -> str:
    """A number of a figure: of a line with four digits, of a heat map without its unit."""
    if not isinstance(cell, PaperValue):
        return ""
    if isinstance(figure, Lines):
        return f"{cell.mean:.4g}"
    return number(cell.mean, cell.unit) if isinstance(figure, Heatmap) else escape_markdown(with_unit(cell, cell.unit))


def _grid(heads: list[str], rows: list[list[str]]) -> str:
    return markdown_grid(heads, rows, [True] + [False] * (len(heads) - 1))


def _code(lines: list[str]) -> str:
    """A block of code, whose fence is longer than any run of backticks in it."""
    text = "\n".join(line.strip() for line in lines if line)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}\n{text}\n{fence}" if text else ""
