"""The report as one HTML file that needs nothing else: styles, script and data are inside it."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from kenyon.report._data import ReportData
from kenyon.report._html_parts import (
    FigureGroup,
    copyable,
    figure_groups,
    group_html,
    is_headline,
    machine_html,
    paragraph,
    runs_html,
    summary_html,
)
from kenyon.report._html_tables import table_html
from kenyon.system import replace_file

SCRIPTS = ("base", "scale", "chart", "zoom", "lines", "scatter", "heatmap", "tabs", "detail", "main")
"""The files of the script, in order; together they are one function's body."""


def write_page(report: ReportData, path: Path) -> None:
    """Write the page, as a whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, page_html(report).encode("utf-8", "replace"))


def page_html(report: ReportData) -> str:
    """The page's text.

    Nothing of the report's own text can become markup: it is escaped, the data are JSON without `<`, and the
    page's policy lets no script run but ours, by its hash.
    """
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
    return files("kenyon.report").joinpath("page", name).read_text(encoding="utf-8")


def _script() -> str:
    parts = "\n".join(_read(f"{name}.js") for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}\n}})();'


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    own = f"style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"


def _embedded(report: ReportData) -> str:
    """What the script draws from, as JSON in which no markup can begin or end."""
    values = report.to_dict()
    tables = [{"id": t["id"], "columns": t["columns"], "rows": t["rows"]} for t in values["tables"]]
    text = json.dumps({"tables": tables, "figures": values["figures"]}, allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _section(title: str, inner: str) -> str:
    """A part of the page; its anchor has a capital, which no table's or figure's has."""
    head = f'<section id="{title}" aria-labelledby="{title}.h"><h2 id="{title}.h">{title}</h2>'
    return f"{head}{inner}</section>" if inner else ""


def _table(report: ReportData) -> list[str]:
    return [
        f'<section class="table" id="{table.id}" aria-labelledby="{table.id}.h">'
        f'<h3 id="{table.id}.h">{escape(table.title)}</h3>{paragraph("source", table.source)}'
        f"{paragraph('note', table.note)}{table_html(table)}</section>"
        for table in report.tables
    ]


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
