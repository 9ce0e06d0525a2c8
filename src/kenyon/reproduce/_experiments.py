"""The table of experiments: a name, what of the paper it regenerates, and what makes its parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kenyon.errors import unknown
from kenyon.reproduce._comparison import comparison
from kenyon.reproduce._setting import Setting
from kenyon.reproduce._wanted import Part


@dataclass(frozen=True)
class Experiment:
    """One row.

    Attributes:
        name: how it is asked for.
        regenerates: tables and figures of the paper.
        parts: from the circumstances to tables and figures that name the work behind them.
    """

    name: str
    regenerates: str
    parts: Callable[[Setting], Sequence[Part]]


_ROWS = (Experiment("comparison", "Table 3 and its extended form, Table 8", comparison),)

EXPERIMENTS: dict[str, Experiment] = {row.name: row for row in _ROWS}


def find_experiments(names: Sequence[str]) -> list[Experiment]:
    """Those named, in the table's order; all of them for none or `all`."""
    for name in names:
        if name != "all" and name not in EXPERIMENTS:
            raise unknown("experiment", name, (*EXPERIMENTS, "all"))
    everything = not names or "all" in names
    return [row for row in _ROWS if everything or row.name in names]
