"""Tables as text: for a person, for a spreadsheet, for a paper."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence

from kenyon.errors import unknown
from kenyon.lab.comparison._table import Cell, Column, Table, shown
from kenyon.lab.evaluation import METRICS
from kenyon.utils.wording import duration, number, size

_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip


def cell_text(cell: Cell, column: Column, plus: str = " ± ") -> str:
    """A cell for a person: shares in percent, bytes and seconds in suitable units.

    Example:
        >>> cell_text(Cell(0.86, 0.007), Column("accuracy", "accuracy, %", "%", metric=True))
        '86.00 ± 0.70'
    """
    if not column.metric:
        return shown(cell.value)
    if cell.value is None:
        return "-"
    if column.unit == "%":
        return f"{100 * cell.value:.2f}" + ("" if cell.std is None else f"{plus}{100 * cell.std:.2f}")
    if column.unit == "B":
        return size(cell.value)
    if column.unit == "s":
        return duration(cell.value)
    return number(cell.value) + ("" if not cell.std else f"{plus}{number(cell.std)}")


def _csv(table: Table) -> str:
    """Plain numbers: shares from 0 to 1, bytes, seconds; a metric has a second column with its deviation."""
    heads = [name for column in table.columns for name in _names(column)]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heads)
    for row in table.rows:
        writer.writerow(
            [value for cell, column in zip(row, table.columns, strict=True) for value in _raw(cell, column)]
        )
    return out.getvalue()


def _names(column: Column) -> list[str]:
    return [column.key, f"{column.key}_std"] if column.metric else [column.key]


def _raw(cell: Cell, column: Column) -> list[str]:
    if not column.metric:
        return ["" if cell.value is None else shown(cell.value)]
    return ["" if value is None else repr(value) for value in (cell.value, cell.std)]


def _markdown(table: Table) -> str:
    def line(cells: list[str]) -> str:
        return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"

    heads = line([column.heading for column in table.columns])
    rule = line(["---:" if column.metric else "---" for column in table.columns])
    rows = [line([cell_text(c, column) for c, column in zip(row, table.columns, strict=True)]) for row in table.rows]
    return "\n".join([heads, rule, *rows]) + "\n" + (f"\n{table.shared}\n" if table.shared else "")


def _latex(table: Table) -> str:
    r"""A `tabular` of the package booktabs, the best accuracy and forgetting of each data set in bold, ties too."""
    lines = [rf"\begin{{tabular}}{{{''.join('r' if column.metric else 'l' for column in table.columns)}}}", r"\toprule"]
    lines += [" & ".join(_escape(column.heading) for column in table.columns) + r" \\", r"\midrule"]
    for row in table.rows:
        cells = [_latex_cell(row[i], table.columns[i], _is_best(table, row, i)) for i in range(len(row))]
        lines.append(" & ".join(cells) + r" \\")
    note = [f"% {table.shared}"] if table.shared else []
    return "\n".join([*note, *lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _latex_cell(cell: Cell, column: Column, bold: bool) -> str:
    if column.metric and cell.value is not None and column.unit in ("%", ""):
        text = cell_text(cell, column, r" \pm ").replace(",", "{,}")
        return rf"$\mathbf{{{text}}}$" if bold else f"${text}$"
    return _escape(cell_text(cell, column)).replace("±", r"$\pm$")


_STREAM = ("dataset", "scenario", "backbone")
"""Columns that say what a row was run on; rows that differ in them are not compared."""


def _is_best(table: Table, row: Sequence[Cell], i: int) -> bool:
    """Whether a cell of a column of shares is the best of its stream, as it is printed; False where it is alone."""
    column = table.columns[i]
    if column.unit != "%" or row[i].value is None:
        return False
    places = [place for place, other in enumerate(table.columns) if other.key in _STREAM]
    rivals = [r[i].value for r in table.rows if all(r[p].value == row[p].value for p in places)]
    shares = [round(10_000 * value) for value in rivals if value is not None]
    best = min(shares) if METRICS[column.key].lower_is_better else max(shares)
    return len(shares) > 1 and round(10_000 * row[i].value) == best


def _escape(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)


FORMATS: dict[str, Callable[[Table], str]] = {"csv": _csv, "markdown": _markdown, "latex": _latex}
"""How a table can be written, by name."""


def write_table(table: Table, form: str) -> str:
    """A table as text: `csv` with plain numbers, `markdown`, or `latex` (booktabs).

    Example:
        >>> table = Table((Column("learner", "learner"), Column("accuracy", "accuracy, %", "%", True)),
        ...               ((Cell("ncm"), Cell(0.86, 0.007)),))
        >>> print(write_table(table, "markdown"), end="")
        | learner | accuracy, % |
        | --- | ---: |
        | ncm | 86.00 ± 0.70 |
    """
    if form not in FORMATS:
        raise unknown("format of a table", form, FORMATS)
    return FORMATS[form](table)
