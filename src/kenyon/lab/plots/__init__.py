"""Pictures of a run, a search, a transfer study, a comparison, or the figures of a report, by Matplotlib.

>>> KINDS
('png', 'svg', 'pdf')
"""

from __future__ import annotations

from kenyon.lab.plots._comparisons import plot_comparison
from kenyon.lab.plots._picture import KINDS, check_kind, save_picture
from kenyon.lab.plots._runs import plot_report, plot_run, plot_search

__all__ = ["KINDS", "check_kind", "plot_comparison", "plot_report", "plot_run", "plot_search", "save_picture"]
