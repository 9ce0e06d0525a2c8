"""The report as one self-contained HTML file: styles, script and data are inside it, and every text is escaped."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from string import Template

from kenyon.lab.figures import Figure, Heatmap, Scatter
from kenyon.lab.report._data import ReportData, Run
from kenyon.lab.report._html_tables import table_html
from kenyon.lab.report._notes import in_two
from kenyon.lab.table_formats import judged
from kenyon.lab.tables import Missing, Result
from kenyon.utils.system import replace_file

SCRIPTS = ("base", "scale", "chart", "zoom", "lines", "scatter", "heatmap", "bars", "tabs", "detail", "main")
"""The files of the script, in order; together they are the body of one function."""


def write_page(report: ReportData, path: Path) -> None:
    """Write the page, as a whole or not at all.

    Example:
        >>> from pathlib import Path
        >>> write_page(ReportData("Mine"), Path("mine.html"))
        >>> Path("mine.html").exists()
        True
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, page_html(report).encode("utf-8", "replace"))


def page_html(report: ReportData) -> str:
    """The text of the page.
    Nothing of the report's own text can become markup: every value is checked to be of its type, text is escaped, the
    data are JSON without `<`, and the page's policy allows our script alone, by its hash.

    Example:
        >>> page_html(ReportData("Mine")).startswith("<!doctype html>")
        True
    """
    report.check()
    script = _script()
    headline = figure_groups([figure for figure in report.figures if is_headline(figure)])
    others = figure_groups([figure for figure in report.figures if not is_headline(figure)])
    return Template(_read("page.html")).substitute(
        policy=_policy(script),
        style=_read("page.css"),
        script=script,
        data=_embedded(report),
        title=escape(report.title),
        subtitle=paragraph("subtitle", report.subtitle),
        quick=_QUICK if report.quick else "",
        summary=summary_html(report),
        contents=_contents(report, headline, others),
        headline="".join(group_html(group, level=2) for group in headline),
        tables=_section("Tables", "".join(_table(report))),
        figures=_section("Figures", "".join(group_html(group) for group in others)),
        runs=_section("Runs", _filter(report) + runs_html(report.runs)),
        command=copyable(report.command),
        machine=machine_html(report),
        made=escape(report.made.replace("T", " ").replace("+00:00", " UTC")),
    )


_QUICK = (
    '<p class="quick"><strong>Quick form.</strong> Fewer seeds and reduced sizes: '
    "it shows that everything runs, not how well it does.</p>"
)


def _read(name: str) -> str:
    return files("kenyon.lab.report").joinpath("page", name).read_text(encoding="utf-8")


def _script() -> str:
    parts = "\n".join(_read(f"{name}.js") for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}\n}})();'


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    own = f"style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"


def _embedded(report: ReportData) -> str:
    """The data that the script draws, as JSON in which no markup can begin or end."""
    values = report.to_dict()
    tables = [{"id": t["id"], "columns": t["columns"], "rows": t["rows"]} for t in values["tables"]]
    text = json.dumps({"tables": tables, "figures": values["figures"]}, allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _section(title: str, inner: str) -> str:
    """A section of the page; its anchor begins with a capital letter, which no anchor of a table or figure does."""
    head = f'<section id="{title}" aria-labelledby="{title}.h"><h2 id="{title}.h">{title}</h2>'
    return f"{head}{inner}</section>" if inner else ""


def _table(report: ReportData) -> list[str]:
    """Tables of which one is open at a time: browsers close the others of a name."""
    return [
        f'<section class="table" id="{table.id}" aria-labelledby="{table.id}.h">'
        f'<details name="tables"{" open" * (table is report.tables[0])}>'
        f'<summary><h3 id="{table.id}.h">{escape(table.title)}</h3></summary>{paragraph("source", table.source)}'
        f"{paragraph('note', first)}{table_html(table)}{_notes(rest)}</details></section>"
        for table in report.tables
        for first, rest in [in_two(table.note)]
    ]


def _notes(text: str) -> str:
    return f"<details><summary>Notes</summary>{paragraph('note', text)}</details>" if text else ""


def _filter(report: ReportData) -> str:
    if not report.runs:
        return ""
    return (
        '<p class="filter"><label for="Filter">Show runs whose name has</label> '
        '<input id="Filter" type="search" autocomplete="off" spellcheck="false"><output for="Filter"></output></p>'
    )


def _contents(report: ReportData, headline: list[FigureGroup], others: list[FigureGroup]) -> str:
    parts = [_link(group.id, group.title) for group in headline]
    for title, entries in (
        ("Tables", [(table.id, table.title) for table in report.tables]),
        ("Figures", [(group.id, group.title) for group in others]),
    ):
        if entries:
            inner = "".join(f"<li>{_link(own, text)}</li>" for own, text in entries)
            parts.append(f"{_link(title, title)}<ol>{inner}</ol>")
    parts += [_link("Runs", "Runs")] if report.runs else []
    parts += [_link("Made", "How it was made")]
    return "".join(f"<li>{part}</li>" for part in parts)


def _link(anchor: str, text: str) -> str:
    return f'<a href="#{anchor}">{escape(text)}</a>'


@dataclass(frozen=True)
class FigureGroup:
    """Figures that belong together: their common title, and each figure with its own label."""

    title: str
    members: tuple[tuple[str, Figure], ...]

    @property
    def id(self) -> str:
        return self.members[0][1].id


def figure_groups(figures: Sequence[Figure]) -> list[FigureGroup]:
    """Groups of neighbouring figures of one type whose titles are the same up to a colon."""
    groups = []
    for (_, title), members in groupby(figures, key=lambda f: (type(f), f.title.split(": ")[0])):
        listed = list(members)
        if len(listed) == 1:
            title = listed[0].title
        groups.append(FigureGroup(title, tuple((_member(figure), figure) for figure in listed)))
    return groups


def _member(figure: Figure) -> str:
    rest = figure.title.partition(": ")[2] or figure.title
    if isinstance(figure, Heatmap) and figure.series:
        return figure.series
    return rest


def is_headline(figure: Figure) -> bool:
    """Whether a figure is shown at the top of the page: accuracy against bytes, with its frontier."""
    return isinstance(figure, Scatter) and figure.frontier


def group_html(group: FigureGroup, level: int = 3) -> str:
    """One figure, several figures behind tabs, or heat maps side by side in one block per title."""
    head = f'<h{level} id="{group.id}.h">{escape(group.title)}</h{level}>'
    figures = [figure for _, figure in group.members]
    if isinstance(figures[0], Heatmap):
        titles = [list(part) for _, part in groupby(figures, key=lambda f: f.title)]
        inner = "".join(_multiples(part, titled=len(titles) > 1) for part in titles)
    elif len(figures) == 1:
        inner = _figure(figures[0])
    else:
        tabs = "".join(
            f'<button type="button" role="tab" id="{f.id}.tab" aria-controls="{f.id}">{escape(label)}</button>'
            for label, f in group.members
        )
        panels = "".join(
            _figure(f, f' role="tabpanel" aria-labelledby="{f.id}.tab"', label) for label, f in group.members
        )
        inner = f'<div class="tabs" role="tablist" aria-label="{escape(group.title)}">{tabs}</div>{panels}'
    return f'<section class="figures" aria-labelledby="{group.id}.h">{head}{inner}</section>'


def _figure(figure: Figure, attributes: str = "", label: str = "") -> str:
    shown = f'<p class="tab-title">{escape(label)}</p>' if label else ""
    return (
        f'<figure id="{figure.id}"{attributes}>{shown}<div class="plot" data-figure="{figure.id}"></div>'
        f"<figcaption>{_caption(figure)}</figcaption></figure>"
    )


def _multiples(figures: Sequence[Figure], titled: bool) -> str:
    """Heat maps of one title, with the captions that they share below."""
    title = figures[0].title.partition(": ")[2] if titled else ""
    maps = "".join(
        f'<figure id="{f.id}"><figcaption class="name">{escape(getattr(f, "series", ""))}</figcaption>'
        f'<div class="plot" data-figure="{f.id}"></div></figure>'
        for f in figures
    )
    captions = dict.fromkeys(_caption(f) for f in figures)
    head = f"<h4>{escape(title)}</h4>" if title else ""
    return f'{head}<div class="multiples">{maps}</div><div class="caption">{"".join(captions)}</div>'


def _caption(figure: Figure) -> str:
    return paragraph("source", figure.source) + paragraph("note", figure.note)


def paragraph(kind: str, text: str) -> str:
    return f'<p class="{kind}">{escape(text)}</p>' if text else ""


def runs_html(runs: dict[str, Run]) -> str:
    """Every run, folded, with the command that repeats it, in a part of the page that scrolls."""
    listed = "".join(_run(name, run) for name, run in runs.items())
    return f'<div class="runs" tabindex="0" role="region" aria-label="Runs">{listed}</div>' if listed else ""


def _run(name: str, run: Run) -> str:
    accuracy = "" if run.accuracy is None else f"{100 * run.accuracy:.2f} %"
    return (
        f'<details class="run" id="Run-{escape(name)}"><summary><code>{escape(name)}</code>'
        f'<span class="seed">seed {escape(str(run.seed))}</span><span class="accuracy">{accuracy}</span></summary>'
        f'{copyable(run.command)}<p class="label">config.toml</p>{copyable(run.config)}</details>'
    )


def copyable(text: str) -> str:
    """Text with a button that copies it; the script makes the button work."""
    if not text:
        return ""
    return (
        f'<div class="copyable"><pre tabindex="0"><code>{_words(text.rstrip())}</code></pre>'
        f'<button type="button" class="copy">Copy</button></div>'
    )


def _words(text: str) -> str:
    """Code. A command is split into options with their values, so that a line breaks between them where it can."""
    if "\n" in text:
        return escape(text)
    return " ".join(f"<span>{escape(piece)}</span>" for piece in re.split(" (?=--)", text))


def summary_html(report: ReportData) -> str:
    """How many numbers reach the paper's, how many are missing."""
    cells = [cell for table in report.tables for row in table.rows for cell in row.cells]
    verdicts = [verdict for cell in cells if isinstance(cell, Result) and (verdict := judged(cell)[0])]
    missing = sum(isinstance(cell, Missing) for cell in cells)
    stand_ins = sum(isinstance(cell, Result) and cell.stand_in is not None for cell in cells)
    facts = []
    if verdicts:
        reached = sum(verdict != "worse" for verdict in verdicts)
        facts.append((f"{reached} of {len(verdicts)}", "numbers at or above the paper's"))
    if stand_ins:
        facts.append((str(stand_ins), "with a stand-in"))
    if missing and verdicts:
        facts.append((str(missing), "not run here"))
    facts.append((f"{len(report.runs):,}", "runs behind them" if verdicts else "runs"))
    items = "".join(f"<div><dt>{escape(what)}</dt><dd>{escape(figure)}</dd></div>" for figure, what in facts)
    return f'<dl class="facts">{items}</dl>'


def machine_html(report: ReportData) -> str:
    known = [("Kenyon", report.kenyon), *((key, value) for key, value in report.machine.items())]
    return "".join(
        f"<div><dt>{escape(str(key))}</dt><dd>{escape('not installed' if value is None else str(value))}</dd></div>"
        for key, value in known
        if value != ""
    )
