"""Reports of what was run, for a person to read: tables and figures, as a page or as Markdown."""

from __future__ import annotations

from kenyon.report._command import config_command, run_command
from kenyon.report._data import REPORT_FILE, ReportData, Run, read_report, write_report
from kenyon.report._from_runs import machine, open_report, report_of_runs
from kenyon.report._markdown import markdown, write_markdown
from kenyon.report._page import page_html, write_page
from kenyon.report._parts import (
    Cell,
    Empty,
    Figure,
    Heatmap,
    Lines,
    Missing,
    PaperValue,
    Point,
    Result,
    Row,
    Scatter,
    Series,
    Table,
    Text,
    Value,
)
from kenyon.report._run_figures import (
    accuracy_curve,
    bytes_figure,
    matrix_figure,
    record_samples,
    stream_figure,
    weights_figure,
)

__all__ = [
    "REPORT_FILE",
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
    "accuracy_curve",
    "bytes_figure",
    "config_command",
    "machine",
    "markdown",
    "matrix_figure",
    "open_report",
    "page_html",
    "read_report",
    "record_samples",
    "report_of_runs",
    "run_command",
    "stream_figure",
    "weights_figure",
    "write_markdown",
    "write_page",
    "write_report",
]
