"""Tables as text: for the screen, a spreadsheet, a document or a paper."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable

from kenyon.errors import unknown
from kenyon.lab.numbers import MINUS, deviation, number, signed, unit_of_column, with_unit
from kenyon.lab.tables import Cell, Missing, PaperValue, Result, Table, Text
from kenyon.utils.wording import slug

_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip


def cell_text(cell: Cell, column_unit: str | None = None) -> str:
    """A cell for the screen; a number without the unit that stands in its column's heading.

    Example:
        >>> cell_text(Result(86.0, 0.7, unit="%"), "%"), cell_text(Result(20_000, unit="B"))
        ('86.00 ± 0.70', '20 KB')
    """
    if isinstance(cell, Text):
        return cell.text
    if not isinstance(cell, (Result, PaperValue)):
        return "-"
    text = _number(cell, column_unit)
    if isinstance(cell, Result) and cell.paper is not None:
        text += f" [{number(cell.paper.mean, cell.unit)}]"
    return text.replace(MINUS, "-")


def _number(cell: Result | PaperValue, column_unit: str | None) -> str:
    return (
        number(cell.mean, cell.unit) + deviation(cell, cell.unit)
        if cell.unit == column_unit
        else (with_unit(cell, cell.unit))
    )


def screen_rows(table: Table) -> tuple[list[str], list[list[str]]]:
    """The headings and the rows of a table as text; the name of a group is a row of its own."""
    units = [unit_of_column(table, j) for j in range(len(table.columns))]
    labels = table.labelled
    rows, group = [], None
    for row in table.rows:
        if row.group not in (group, None):
            rows.append([str(row.group)] + [""] * (len(table.columns) - (not labels)))
        group = row.group
        said = [units[j] or _unit_in(row.label, cell) for j, cell in enumerate(row.cells)]
        rows.append([*[row.label] * labels, *(cell_text(c, unit) for c, unit in zip(row.cells, said, strict=True))])
    return [*[table.corner] * labels, *table.columns], rows


def _unit_in(text: str, cell: Cell) -> str | None:
    """The unit of a cell, if a heading or a label says it already."""
    unit = cell.unit if isinstance(cell, (Result, PaperValue)) else ""
    return unit if unit and unit in text else None


def to_csv(table: Table) -> str:
    """Plain numbers in the units of the table; deviations and numbers of the paper have columns of their own."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    columns = [[row.cells[j] for row in table.rows] for j in range(len(table.columns))]
    spread = [any(_part(cell, "std") for cell in column) for column in columns]
    paper = [any(_part(cell, "paper") for cell in column) for column in columns]
    grouped = any(row.group for row in table.rows)
    heads = [*["group"] * grouped, *[_key(table.corner) or "label"] * table.labelled]
    for name, has_std, has_paper in zip(map(_key, table.columns), spread, paper, strict=True):
        heads += [name, *[f"{name}_std"] * has_std, *[f"{name}_paper"] * has_paper]
    writer.writerow(heads)
    for row in table.rows:
        values = [*[row.group or ""] * grouped, *[row.label] * table.labelled]
        for cell, has_std, has_paper in zip(row.cells, spread, paper, strict=True):
            values += [_plain(cell), *[_part(cell, "std")] * has_std, *[_part(cell, "paper")] * has_paper]
        writer.writerow(values)
    return out.getvalue()


def _key(heading: str) -> str:
    return slug(heading).replace("-", "_")


def _plain(cell: Cell) -> str:
    if isinstance(cell, Text):
        return cell.text
    return f"{cell.mean:.10g}" if isinstance(cell, (Result, PaperValue)) else ""


def _part(cell: Cell, which: str) -> str:
    value = getattr(cell, which, None)
    value = getattr(value, "mean", value)
    return "" if value is None else f"{value:.10g}"


def to_markdown(table: Table) -> str:
    """A grid with numbered notes below it; the paper's number and the difference stand behind ours."""
    notes: dict[str, int] = {}
    units = [unit_of_column(table, j) for j in range(len(table.columns))]
    labels, rows, group = table.labelled, [], None
    for row in table.rows:
        if row.group not in (group, None):
            rows.append([f"*{escape_markdown(str(row.group))}*"] + [""] * (len(table.columns) - (not labels)))
        group = row.group
        cells = [_markdown_cell(cell, units[j], table.columns[j], notes) for j, cell in enumerate(row.cells)]
        rows.append([*[escape_markdown(row.label)] * labels, *cells])
    heads = [*[escape_markdown(table.corner)] * labels, *map(escape_markdown, table.columns)]
    left = [True] * labels + [_is_text(table, j) for j in range(len(table.columns))]
    grid = markdown_grid(heads, rows, left)
    listed = "\n".join(f"{n}. {paragraph(text)}" for text, n in notes.items())
    return grid + (f"\n\n{listed}" if listed else "") + "\n"


def _markdown_cell(cell: Cell, unit: str | None, heading: str, notes: dict[str, int]) -> str:
    def note(text: str) -> int:
        return notes.setdefault(text, len(notes) + 1)

    if isinstance(cell, Text):
        return escape_markdown(cell.text)
    if isinstance(cell, PaperValue):
        return escape_markdown(_number(cell, _unit_in(heading, cell)))
    if isinstance(cell, Missing):
        paper = f" (paper {number(cell.paper.mean, unit or '')})" if cell.paper else ""
        return f"not run [{note(cell.reason)}]{paper}"
    if not isinstance(cell, Result):
        return ""
    text = escape_markdown(_number(cell, _unit_in(heading, cell)))
    text = f"**{text}**" if cell.best else text
    if cell.stand_in:
        text += f" stand-in [{note(f'Stand-in: {cell.stand_in}')}]"
    if cell.paper is not None and cell.difference is not None:
        text += f" (paper {number(cell.paper.mean, cell.unit)}, {signed(cell.difference, cell.unit, like=cell.mean)})"
    return text + (f" [{note(cell.remark)}]" if cell.remark else "")


def markdown_grid(heads: list[str], rows: list[list[str]], left: list[bool]) -> str:
    """A table of Markdown from cells that are escaped already; columns are aligned left or right."""
    lines = [heads, ["---" if words else "---:" for words in left], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def escape_markdown(text: str) -> str:
    """Text on one line, escaped so that Markdown shows it as it is: no markup, no HTML."""
    text = re.sub(r"([\\`*_\[\]|])", r"\\\1", " ".join(text.split()))
    return text.replace("&", "&amp;").replace("<", "&lt;")


def paragraph(text: str) -> str:
    """Text of a paragraph: its beginning, too, cannot become a heading, a list, a quotation or a fence."""
    return re.sub(r"^(\d*)([#>+=~.)-])", r"\1\\\2", escape_markdown(text))


def to_latex(table: Table) -> str:
    r"""A `tabular` of the package booktabs, the best results in bold."""
    units = [unit_of_column(table, j) for j in range(len(table.columns))]
    labels = table.labelled
    form = "l" * labels + "".join("l" if _is_text(table, j) else "r" for j in range(len(table.columns)))
    heads = [*[table.corner] * labels, *table.columns]
    lines = [rf"\begin{{tabular}}{{{form}}}", r"\toprule", " & ".join(map(_escape_latex, heads)) + r" \\", r"\midrule"]
    group = None
    for row in table.rows:
        if row.group not in (group, None):
            lines.append(rf"\multicolumn{{{len(form)}}}{{l}}{{\textit{{{_escape_latex(str(row.group))}}}}} \\")
        group = row.group
        cells = [*[_escape_latex(row.label)] * labels, *(_latex_cell(c, units[j]) for j, c in enumerate(row.cells))]
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _latex_cell(cell: Cell, column_unit: str | None) -> str:
    if not isinstance(cell, (Result, PaperValue)) or cell.unit not in ("%", ""):
        return _escape_latex(cell_text(cell, column_unit))
    text = (number(cell.mean, cell.unit) + deviation(cell, cell.unit)).replace(MINUS, "-")
    text = text.replace(" ± ", r" \pm ").replace(",", "{,}")
    return rf"$\mathbf{{{text}}}$" if isinstance(cell, Result) and cell.best else f"${text}$"


def _escape_latex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text).replace("±", r"$\pm$")


def _is_text(table: Table, column: int) -> bool:
    cells = [row.cells[column] for row in table.rows]
    return bool(cells) and not any(isinstance(cell, (Result, PaperValue, Missing)) for cell in cells)


def _with_note(write: Callable[[Table], str], before: str = "") -> Callable[[Table], str]:
    def both(table: Table) -> str:
        if not table.note:
            return write(table)
        return f"{before}{table.note}\n{write(table)}" if before else f"{write(table)}\n{paragraph(table.note)}\n"

    return both


FORMATS: dict[str, Callable[[Table], str]] = {
    "csv": to_csv,
    "markdown": _with_note(to_markdown),
    "latex": _with_note(to_latex, "% "),
}
"""How a table can be written, by name."""


def write_table(table: Table, form: str) -> str:
    """A table as text: `csv` with plain numbers, `markdown`, or `latex` (booktabs).

    Example:
        >>> from kenyon.lab.tables import Row
        >>> row = Row("ncm", (Result(86.0, 0.7, unit="%"),))
        >>> table = Table("mine", "", ("accuracy, %",), (row,), corner="learner")
        >>> print(write_table(table, "csv"), end="")
        learner,accuracy,accuracy_std
        ncm,86,0.7
    """
    if form not in FORMATS:
        raise unknown("format of a table", form, FORMATS)
    return FORMATS[form](table)
