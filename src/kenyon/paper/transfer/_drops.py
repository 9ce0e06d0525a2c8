"""Picture of a transfer study: how the accuracy drop depends on how far apart the data sets are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kenyon.errors import DataError
from kenyon.lab.plots import draw_picture
from kenyon.paper.transfer._matrix import rank_correlation
from kenyon.paper.transfer._metrics import COEFFICIENTS


def plot_drops(rows: Sequence[dict[str, Any]]) -> Any:
    """A Matplotlib figure: the accuracy drop of transfers against each transfer coefficient, with its rank correlation.

    Args:
        rows: `drop` (a share), and the coefficients by name, None where there is none.

    Example:
        >>> names = ("effective dimension", "smallest centroid distance")
        >>> rows = [{"source": "a", "target": "b", "drop": drop, **dict.fromkeys(names, drop)} for drop in (0.1, 0.2)]
        >>> plot_drops(rows).axes[0].get_ylabel()
        'accuracy drop, %'
    """
    if not rows:
        raise DataError("no transfer between data sets as single tasks: there is no drop to draw")

    def draw(axes: Any) -> None:
        for name, marker in zip(COEFFICIENTS, "os", strict=False):
            points = [(row[name], 100 * row["drop"]) for row in rows if row[name] is not None]
            x, y = [p[0] for p in points], [p[1] for p in points]
            rank = rank_correlation(x, y)
            axes.plot(x, y, marker, label=name + ("" if rank is None else f", rank correlation {rank:.2f}"))
        for row in rows:
            text = f"{row['source']} on {row['target'].split('/')[0].split('+')[0]}"
            place = (row[next(iter(COEFFICIENTS))], 100 * row["drop"])
            axes.annotate(text, place, (0, 6), textcoords="offset points", ha="center", fontsize=8, color="0.35")
        axes.margins(0.15)
        if all(row[name] is None or row[name] > 0 for row in rows for name in COEFFICIENTS):
            axes.set_xscale("log")
        axes.axhline(0, color="0.8", lw=0.8, zorder=0)
        axes.set_xlabel("transfer coefficient")
        axes.set_ylabel("accuracy drop, %")
        axes.legend()

    return draw_picture(draw, (8, 4.6))
