"""Pictures of a run, a search, a transfer study, a comparison, or the plots of points of a report, by Matplotlib.

>>> KINDS
('png', 'svg', 'pdf')
"""

from __future__ import annotations

from kenyon.plots._comparisons import plot_comparison
from kenyon.plots._picture import KINDS, check_kind
from kenyon.plots._reports import plot_report
from kenyon.plots._runs import plot_run
from kenyon.plots._searches import plot_search
from kenyon.plots._transfers import plot_drops

__all__ = ["KINDS", "check_kind", "plot_comparison", "plot_drops", "plot_report", "plot_run", "plot_search"]
