"""From a path to a report: its `report.json` where there is one, else from the runs."""

from __future__ import annotations

from pathlib import Path

from kenyon.errors import DataError
from kenyon.report._data import FILE, ReportData, read_report
from kenyon.report._from_runs import report_of_runs


def open_report(path: Path) -> ReportData:
    """The report of a store, of one run, or in a JSON file."""
    if path.is_file():
        return read_report(path)
    if not path.is_dir():
        raise DataError(f"there is no store {path}: name a folder that `kenyon run` or `kenyon reproduce` wrote to")
    return read_report(path / FILE) if (path / FILE).exists() else report_of_runs(path)
