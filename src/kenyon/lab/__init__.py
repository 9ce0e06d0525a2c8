"""Experiments: run, sweep, search, compare, watch, plot and report.

>>> report = run(RunConfig("digits", "ncm"), seeds=[0, 1], store="runs")
>>> report.summary("accuracy").mean > 0.8
True
>>> table = tabulate(group_runs(Store("runs").runs()).groups, ["learner", "accuracy"])
>>> print(write_table(table, "csv").splitlines()[0])
learner,accuracy,accuracy_std

A name is imported when it is first used, so `import kenyon.lab` loads none of the modules below.
"""

from typing import TYPE_CHECKING

from kenyon.utils.lazy import import_on_use

if TYPE_CHECKING:
    from kenyon.lab.comparison import Comparison as Comparison
    from kenyon.lab.comparison import compare as compare
    from kenyon.lab.comparison import rank_streams as rank_streams
    from kenyon.lab.comparison import select_groups as select_groups
    from kenyon.lab.comparison import sort_groups as sort_groups
    from kenyon.lab.comparison import tabulate as tabulate
    from kenyon.lab.evaluation import METRICS as METRICS
    from kenyon.lab.evaluation import Metric as Metric
    from kenyon.lab.evaluation import Report as Report
    from kenyon.lab.evaluation import RunConfig as RunConfig
    from kenyon.lab.evaluation import RunFolder as RunFolder
    from kenyon.lab.evaluation import RunResult as RunResult
    from kenyon.lab.evaluation import Store as Store
    from kenyon.lab.evaluation import Summary as Summary
    from kenyon.lab.evaluation import by_stream as by_stream
    from kenyon.lab.evaluation import group_runs as group_runs
    from kenyon.lab.evaluation import load_learner as load_learner
    from kenyon.lab.evaluation import open_dataset as open_dataset
    from kenyon.lab.evaluation import parse_seeds as parse_seeds
    from kenyon.lab.evaluation import run as run
    from kenyon.lab.evaluation import run_all as run_all
    from kenyon.lab.evaluation import run_each as run_each
    from kenyon.lab.figures import Heatmap as Heatmap
    from kenyon.lab.figures import Lines as Lines
    from kenyon.lab.figures import Point as Point
    from kenyon.lab.figures import Scatter as Scatter
    from kenyon.lab.figures import Series as Series
    from kenyon.lab.plots import plot_comparison as plot_comparison
    from kenyon.lab.plots import plot_report as plot_report
    from kenyon.lab.plots import plot_run as plot_run
    from kenyon.lab.plots import plot_search as plot_search
    from kenyon.lab.report import ReportData as ReportData
    from kenyon.lab.report import open_report as open_report
    from kenyon.lab.report import read_report as read_report
    from kenyon.lab.report import report_of_runs as report_of_runs
    from kenyon.lab.report import run_command as run_command
    from kenyon.lab.report import write_markdown as write_markdown
    from kenyon.lab.report import write_page as write_page
    from kenyon.lab.report import write_report as write_report
    from kenyon.lab.search import Objective as Objective
    from kenyon.lab.search import SearchResult as SearchResult
    from kenyon.lab.search import make_objective as make_objective
    from kenyon.lab.sweeps import Sweep as Sweep
    from kenyon.lab.sweeps import SweepResult as SweepResult
    from kenyon.lab.sweeps import sweep as sweep
    from kenyon.lab.table_formats import write_table as write_table
    from kenyon.lab.tables import Empty as Empty
    from kenyon.lab.tables import Missing as Missing
    from kenyon.lab.tables import PaperValue as PaperValue
    from kenyon.lab.tables import Result as Result
    from kenyon.lab.tables import Row as Row
    from kenyon.lab.tables import Table as Table
    from kenyon.lab.tables import Text as Text
    from kenyon.lab.tables import Value as Value
    from kenyon.lab.watchers import Event as Event
    from kenyon.lab.watchers import Log as Log
    from kenyon.lab.watchers import Watch as Watch
    from kenyon.lab.watchers import Watches as Watches

_NAMES = {
    "evaluation": (
        "METRICS Metric Report RunConfig RunFolder RunResult Store Summary by_stream group_runs load_learner "
        "open_dataset parse_seeds run run_all run_each"
    ),
    "sweeps": "Sweep SweepResult sweep",
    "search": "Objective SearchResult make_objective",
    "comparison": "Comparison compare rank_streams select_groups sort_groups tabulate",
    "tables": "Empty Missing PaperValue Result Row Table Text Value",
    "table_formats": "write_table",
    "figures": "Heatmap Lines Point Scatter Series",
    "report": "ReportData open_report read_report report_of_runs run_command write_markdown write_page write_report",
    "plots": "plot_comparison plot_report plot_run plot_search",
    "watchers": "Event Log Watch Watches",
}
__all__, __getattr__ = import_on_use(__name__, _NAMES)
