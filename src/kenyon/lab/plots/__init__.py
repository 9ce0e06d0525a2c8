"""A run, a search, a comparison or the figures of a report, drawn by Matplotlib.

`plot_run(run)["accuracy"]` is a Matplotlib figure; `plot_run(run).save("pictures", "svg")` writes all of them.

>>> KINDS
('png', 'svg', 'pdf')
"""

from __future__ import annotations

from kenyon.lab.plots._comparisons import plot_comparison
from kenyon.lab.plots._picture import KINDS, Pictures, check_kind, draw_picture, save_picture
from kenyon.lab.plots._runs import plot_report, plot_run, plot_search

__all__ = [
    "KINDS",
    "Pictures",
    "check_kind",
    "draw_picture",
    "plot_comparison",
    "plot_report",
    "plot_run",
    "plot_search",
    "save_picture",
]
