"""Tables, plots, the page: what was run, for a person to read."""

from __future__ import annotations

from kenyon.report._cells import Cell, Empty, Missing, PaperValue, Result, Row, Table, Text, Value
from kenyon.report._command import config_command, run_command
from kenyon.report._data import ReportData, Run, read_report, write_report
from kenyon.report._figures import Figure, Heatmap, Lines, Point, Scatter, Series
from kenyon.report._from_runs import machine, report_of_runs
from kenyon.report._markdown import markdown, write_markdown
from kenyon.report._open import open_report
from kenyon.report._page import page_html, write_page

__all__ = [
    "Cell",
    "Empty",
    "Figure",
    "Heatmap",
    "Lines",
    "Missing",
    "PaperValue",
    "Point",
    "ReportData",
    "Result",
    "Row",
    "Run",
    "Scatter",
    "Series",
    "Table",
    "Text",
    "Value",
    "config_command",
    "machine",
    "markdown",
    "open_report",
    "page_html",
    "read_report",
    "report_of_runs",
    "run_command",
    "write_markdown",
    "write_page",
    "write_report",
]
