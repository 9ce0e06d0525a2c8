"""Pictures of a run, a search, a transfer study, or the plots of points of a report, drawn by Matplotlib."""

from __future__ import annotations

from kenyon.plots._reports import plot_report
from kenyon.plots._runs import plot_run
from kenyon.plots._searches import plot_search
from kenyon.plots._transfers import plot_drops

__all__ = ["plot_drops", "plot_report", "plot_run", "plot_search"]
