"""Reports of what was run, for a person to read: tables and figures, as a page or as Markdown.

>>> from kenyon.lab.figures import Heatmap, Lines, Point, Scatter, Series
>>> from kenyon.lab.tables import Empty, Missing, PaperValue, Result, Row, Table, Text, Value
>>> ours = Result(91.6, 0.4, n=5, unit="%", paper=Value(78.8), better="higher")
>>> first = Row("GEN", (ours, PaperValue(78.8), Text("all seeds")))
>>> second = Row("MSE", (Missing("not run yet"), PaperValue(61.2), Empty()))
>>> table = Table("rules", "Rules", ("ours", "paper", "remark"), (first, second))
>>> curve = Lines("curve", "Accuracy", "samples", "%", (Series("GEN", (1, 2), (50.0, 90.0)),))
>>> tasks = Heatmap("tasks", "Accuracy by task", ("after 1",), ("task 1",), ((0.9,),))
>>> sizes = Scatter("sizes", "Accuracy against size", "bytes", "%", (Point(429_000, 91.6, "GEN"),))
>>> runs = {"first": Run(config="", command="kenyon run", seed=0)}
>>> report = ReportData("Mine", (table,), (curve, tasks, sizes), runs)
>>> REPORT_FILE
'report.json'
>>> from pathlib import Path
>>> from kenyon.lab.evaluation import RunConfig, Store, by_stream, group_runs, run
>>> _ = run(RunConfig("digits", options={"n_hidden": 200}), seeds=[0], store="runs")
>>> ((stream, groups),) = by_stream(group_runs(Store(Path("runs")).runs()).groups).items()
>>> figures = [stream_figure(stream, groups), bytes_figure(stream, groups)]
>>> figures += [matrix_figure(stream, groups[0]), weights_figure(stream, groups[0]), tasks_figure(stream, groups)]
>>> [type(figure).__name__ for figure in [*figures, forgetting_figure(stream, groups)]]
['Lines', 'Scatter', 'Heatmap', 'Lines', 'Lines', 'Bars']
"""

from __future__ import annotations

from kenyon.lab.report._command import config_command, run_command
from kenyon.lab.report._data import REPORT_FILE, ReportData, Run, read_report, write_report
from kenyon.lab.report._from_runs import machine, open_report, report_of_runs
from kenyon.lab.report._markdown import markdown, write_markdown
from kenyon.lab.report._page import page_html, write_page
from kenyon.lab.report._run_figures import (
    accuracy_curve,
    bytes_figure,
    forgetting_figure,
    matrix_figure,
    record_samples,
    stream_figure,
    tasks_figure,
    weights_figure,
)

__all__ = [
    "REPORT_FILE",
    "ReportData",
    "Run",
    "accuracy_curve",
    "bytes_figure",
    "config_command",
    "forgetting_figure",
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
    "tasks_figure",
    "weights_figure",
    "write_markdown",
    "write_page",
    "write_report",
]
