"""Tables as text: for the screen, a spreadsheet, a document or a paper; and how a number is written in them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable

from kenyon.errors import unknown
from kenyon.lab.tables import Cell, Missing, PaperValue, Result, Table, Text, Value
from kenyon.utils.wording import duration, scale_of_bytes, slug

_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip


MINUS = "\N{MINUS SIGN}"
FULL_COLOUR = {"%": 10.0}
"""The difference, by unit, at which the colour is full; for other units it is the size of the paper's number."""


def scale_of(value: float, unit: str) -> tuple[float, str]:
    """The divisor and the unit (powers of 1000) in which a number of bytes reads best; other units stay as they are."""
    return scale_of_bytes(value) if unit == "B" else (1.0, unit)


def unit_of_column(table: Table, column: int) -> str | None:
    """The unit that all numbers of a column share, so that the heading can show it; None where they differ."""
    units = {c.unit for row in table.rows if isinstance(c := row.cells[column], (Result, PaperValue))}
    return units.pop() if len(units) == 1 and not units & {"B", "s"} else None


def _decimals(value: float, unit: str) -> int:
    if unit == "%":
        return 2
    size = abs(value)
    return 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3


def number(value: float, unit: str = "", like: float | None = None) -> str:
    """A number without its unit, with as many decimals as `like` has where that is given."""
    reference = value if like is None else like
    divisor, word = scale_of(reference, unit)
    shown = value / divisor
    if unit != "%" and like is None and shown == int(shown) and abs(shown) < 1e15:
        return f"{int(shown):,}".replace("-", MINUS)
    if like is None and shown and abs(shown) < 0.001 and unit != "%":
        text = f"{shown:.2g}"
    else:
        text = f"{shown:,.{_decimals(reference / divisor, word)}f}"
    return text.replace("-", MINUS)


def deviation(value: Result | PaperValue | Value, unit: str) -> str:
    """`" ± 0.30"`, or nothing."""
    return "" if value.std is None else f" ± {number(value.std, unit, like=value.mean)}"


def with_unit(value: Result | PaperValue | Value, unit: str) -> str:
    """`"94.21 ± 0.30 %"`; seconds as a duration."""
    if unit == "s":
        return duration(value.mean)
    word = scale_of(value.mean, unit)[1]
    return number(value.mean, unit) + deviation(value, unit) + (f" {word}" if word else "")


def signed(difference: float, unit: str, like: float) -> str:
    """`"+2.11"`, in the unit and with the decimals of `like`."""
    text = number(difference, unit, like=like)
    return text if text.startswith(MINUS) or not difference else f"+{text}"


def judged(cell: Result) -> tuple[str, float]:
    """How a result compares with the paper's: `"better"`, `"worse"` or `"same"`, and how strongly, from 0 to 1.

    `""` where there is nothing to compare with.
    """
    difference = cell.difference
    if difference is None or cell.better is None or cell.paper is None:
        return "", 0.0
    gain = difference if cell.better == "higher" else -difference
    full = FULL_COLOUR.get(cell.unit) or max(abs(cell.paper.mean), 1e-12)
    return "same" if gain == 0 else "better" if gain > 0 else "worse", min(1.0, abs(gain) / full)


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
    rows = []
    for group, row in table.grouped:
        if group is not None:
            rows.append([group] + [""] * (len(table.columns) - (not labels)))
        said = [units[j] or _unit_in(row.label, cell) for j, cell in enumerate(row.cells)]
        rows.append([*[row.label] * labels, *(cell_text(c, unit) for c, unit in zip(row.cells, said, strict=True))])
    return [*[table.corner] * labels, *_headings(table)], rows


def _headings(table: Table) -> list[str]:
    """The headings, with the unit of a column where neither they nor the title say it."""
    units = [unit_of_column(table, j) for j in range(len(table.columns))]
    return [
        f"{name}, {unit}" if unit and not {unit} & {*_words(name), *_words(table.title)} else name
        for name, unit in zip(table.columns, units, strict=True)
    ]


def _words(text: str) -> list[str]:
    return re.split(r"[\s,()]+", text)


def _unit_in(text: str, cell: Cell) -> str | None:
    """The unit of a cell, if a heading or a label says it already."""
    unit = cell.unit if isinstance(cell, (Result, PaperValue)) else ""
    return unit if unit and unit in _words(text) else None


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
    labels, rows = table.labelled, []
    for group, row in table.grouped:
        if group is not None:
            rows.append([f"*{escape_markdown(group)}*"] + [""] * (len(table.columns) - (not labels)))
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
    heads = [*[table.corner] * labels, *_headings(table)]
    lines = [rf"\begin{{tabular}}{{{form}}}", r"\toprule", " & ".join(map(_escape_latex, heads)) + r" \\", r"\midrule"]
    for group, row in table.grouped:
        if group is not None:
            lines.append(rf"\multicolumn{{{len(form)}}}{{l}}{{\textit{{{_escape_latex(group)}}}}} \\")
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
