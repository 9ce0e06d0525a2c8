"""Tables of the page: our numbers with the paper's below them, coloured by the difference; every text is escaped."""

from __future__ import annotations

from html import escape
from urllib.parse import quote

from kenyon.lab.table_formats import (
    FULL_COLOUR,
    deviation,
    judged,
    number,
    scale_of,
    signed,
    unit_of_column,
    with_unit,
)
from kenyon.lab.tables import Cell, Empty, Missing, PaperValue, Result, Table, Text

_VERDICTS = {"better": "better than the paper's", "worse": "worse than the paper's", "same": "the same as the paper's"}

LONG, WIDE = 24, 6
"""Words of more than `LONG` letters may be broken; a table of at least `WIDE` columns is set smaller."""


def table_html(table: Table) -> str:
    """The table in a container that scrolls, with its notes below."""
    units = [unit_of_column(table, j) for j in range(len(table.columns))]
    notes: dict[str, str] = {}
    body = []
    for i, (group, row) in enumerate(table.grouped):
        if group is not None:
            heading = f'<th scope="rowgroup" colspan="{len(table.columns) + 1}"><span>{escape(group)}</span></th>'
            body.append(f'<tr class="group">{heading}</tr>')
        cells = (_cell(c, units[j], f"{table.id}/{i}/{j}", notes) for j, c in enumerate(row.cells))
        body.append(f'<tr><th scope="row">{escape(row.label)}</th>{"".join(cells)}</tr>')
    heads = "".join(
        f'<th scope="col"{_side(table, j)}>{escape(name)}{_unit_word(name, unit)}</th>'
        for j, (name, unit) in enumerate(zip(table.columns, units, strict=True))
    )
    corner = f'<th scope="col" class="text">{escape(table.corner)}</th>' if table.corner else "<td></td>"
    head = f"<thead><tr>{corner}{heads}</tr></thead>"
    size = ' class="wide"' if len(table.columns) >= WIDE else ""
    inner = f"<table{size}>{head}<tbody>{''.join(body)}</tbody></table>"
    region = f'<div class="scroll" tabindex="0" role="region" aria-labelledby="{table.id}.h">{inner}</div>'
    return region + _footnotes(notes) + (_key(table) if _judged(table) else "")


def _side(table: Table, column: int) -> str:
    words = all(isinstance(row.cells[column], (Text, Empty)) for row in table.rows)
    return ' class="text"' if words else ""


def _unit_word(heading: str, unit: str | None) -> str:
    return f'&nbsp;<span class="unit">{escape(unit)}</span>' if unit and unit not in heading else ""


def _cell(cell: Cell, column_unit: str | None, place: str, notes: dict[str, str]) -> str:
    if isinstance(cell, Empty):
        return "<td></td>"
    if isinstance(cell, Text):
        kind = "text long" if len(cell.text) > LONG else "text"
        words = escape(cell.text)
        if cell.command:
            words = f'<a class="num" href="#Runs" data-cell="{escape(place)}">{words}</a>'
        return f'<td class="{kind}">{words}</td>'
    if isinstance(cell, PaperValue):
        return f'<td class="of-paper">{_number(cell, cell.unit, column_unit)}</td>'
    if isinstance(cell, Missing):
        return _missing(cell, column_unit or "", place, notes)
    return _result(cell, column_unit, place, notes)


def _number(value: Result | PaperValue, unit: str, column_unit: str | None) -> str:
    word = "" if unit == column_unit else scale_of(value.mean, unit)[1]
    sd = deviation(value, unit)
    tail = (f'<span class="sd">{sd}</span>' if sd else "") + (
        f' <span class="unit">{escape(word)}</span>' if word else ""
    )
    return f"{number(value.mean, unit)}{tail}"


def _result(cell: Result, column_unit: str | None, place: str, notes: dict[str, str]) -> str:
    verdict, strength = judged(cell)
    text = _number(cell, cell.unit, column_unit)
    text = f"<strong>{text}</strong>" if cell.best else text
    target = f"#Run-{quote(cell.runs[0])}" if cell.runs else "#Runs"
    linked = f'<a class="num" href="{target}" data-cell="{escape(place)}">{text}</a>'
    mark = ""
    if cell.stand_in:
        letter = _note(notes, f"Stand-in: {cell.stand_in}")
        mark = f'<span class="stand-in" title="{escape(cell.stand_in)}">stand-in<sup>{letter}</sup></span>'
    style = f' style="--d:{strength:.3f}"' if verdict else ""
    remark = f"<sup>{_note(notes, cell.remark)}</sup>" if cell.remark else ""
    return f'<td class="result {verdict}"{style}>{linked}{remark}{mark}{_against(cell, verdict)}</td>'


def _against(cell: Result, verdict: str) -> str:
    if cell.paper is None or cell.difference is None:
        return ""
    difference = signed(cell.difference, cell.unit, like=cell.mean)
    paper = number(cell.paper.mean, cell.unit, like=cell.mean) + deviation(cell.paper, cell.unit)
    words = (
        f"{difference} {cell.unit}: {_VERDICTS.get(verdict, 'against the paper')} {with_unit(cell.paper, cell.unit)}"
    )
    arrow = "▲" if cell.difference > 0 else "▼" if cell.difference < 0 else "="
    return (
        f'<span class="against" title="{escape(words)}"><span class="paper">paper {paper}</span> '
        f'<span class="diff"><span aria-hidden="true">{arrow}</span> {difference}</span></span>'
    )


def _missing(cell: Missing, unit: str, place: str, notes: dict[str, str]) -> str:
    letter = _note(notes, cell.reason)
    linked = f'<a class="num" href="#Runs" data-cell="{escape(place)}" title="{escape(cell.reason)}">not run</a>'
    paper = ""
    if cell.paper:
        value = number(cell.paper.mean, unit) + deviation(cell.paper, unit)
        paper = f'<span class="against"><span class="paper">paper {value}</span></span>'
    return f'<td class="missing">{linked}<sup>{letter}</sup>{paper}</td>'


def _note(notes: dict[str, str], text: str) -> str:
    """The letter of a footnote: a, b, ... z, aa, ab, ..."""
    if text not in notes:
        n, letters = len(notes), ""
        while True:
            letters = chr(ord("a") + n % 26) + letters
            n = n // 26 - 1
            if n < 0:
                break
        notes[text] = letters
    return notes[text]


def _footnotes(notes: dict[str, str]) -> str:
    items = "".join(f"<li><sup>{letter}</sup> {escape(text)}</li>" for text, letter in notes.items())
    return f'<ul class="footnotes">{items}</ul>' if items else ""


def _judged(table: Table) -> bool:
    return any(isinstance(cell, Result) and judged(cell)[0] for row in table.rows for cell in row.cells)


def _key(table: Table) -> str:
    percent = any(isinstance(c, Result) and c.paper and c.unit == "%" for row in table.rows for c in row.cells)
    full = f"{FULL_COLOUR['%']:.0f} points" if percent else "a difference as large as the paper's number"
    swatches = "".join(f'<i class="{side}" style="--d:{d}"></i>' for side, d in _SCALE)
    return (
        f'<p class="key"><span>worse than the paper</span><span class="scale" aria-hidden="true">{swatches}</span>'
        f"<span>better</span><span>full colour at {full}</span></p>"
    )


_SCALE = [("worse", d) for d in (1, 0.66, 0.33)] + [("same", 0)] + [("better", d) for d in (0.33, 0.66, 1)]
