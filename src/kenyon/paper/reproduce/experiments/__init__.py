"""The table of experiments: the name of each, what it regenerates of the paper, and the function that describes it.

>>> EXPERIMENTS["comparison"].regenerates
'Table 3 and its extended form, Table 8'
>>> [experiment.name for experiment in find_experiments(["memory"]) if isinstance(experiment, Experiment)]
['memory']
>>> single("mnist", "mse")["rule"], optimised("mnist")["rule"]
('mse', 'inel')
>>> chosen("mnist", "class-incremental")["rule"]
'gen'
>>> published("single_configurations", "mnist", "inel")["n_hidden"] == single("mnist", "inel")["n_hidden"]
True
>>> UNIT["cifar10"]
1.0
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kenyon.errors import unknown
from kenyon.paper.reproduce._setting import Setting
from kenyon.paper.reproduce._wanted import Section
from kenyon.paper.reproduce.experiments._ablations import ablations
from kenyon.paper.reproduce.experiments._comparison import comparison
from kenyon.paper.reproduce.experiments._configurations import (
    UNIT,
    as_printed,
    chosen,
    lengths,
    on_length_1,
    optimised,
    published,
    single,
)
from kenyon.paper.reproduce.experiments._distances import distances
from kenyon.paper.reproduce.experiments._features import features
from kenyon.paper.reproduce.experiments._figures import search_trajectory, weight_evolution
from kenyon.paper.reproduce.experiments._memory import memory
from kenyon.paper.reproduce.experiments._normalisation import normalisation
from kenyon.paper.reproduce.experiments._orders import orders
from kenyon.paper.reproduce.experiments._permuted import permuted
from kenyon.paper.reproduce.experiments._pixels import pixels
from kenyon.paper.reproduce.experiments._single import configurations, single_task
from kenyon.paper.reproduce.experiments._transfer import transfer

__all__ = [
    "EXPERIMENTS",
    "UNIT",
    "Experiment",
    "as_printed",
    "chosen",
    "find_experiments",
    "lengths",
    "on_length_1",
    "optimised",
    "published",
    "single",
]


@dataclass(frozen=True)
class Experiment:
    """One row of the table.

    Attributes:
        name: its name on the command line.
        regenerates: the tables and figures of the paper that it regenerates.
        parts: gives the tables and figures for a setting; they name the jobs behind them.
    """

    name: str
    regenerates: str
    parts: Callable[[Setting], Sequence[Section]]


_ROWS = (
    Experiment("features", "the main CIFAR table, which the paper does not have", features),
    Experiment("comparison", "Table 3 and its extended form, Table 8", comparison),
    Experiment("pixels", "the paper's protocol on Split-CIFAR-10: networks from pixels", pixels),
    Experiment("permuted", "permuted MNIST, which the paper does not have", permuted),
    Experiment("memory", "accuracy against bytes of state", memory),
    Experiment("configurations", "Tables 1 and 7", configurations),
    Experiment("single-task", "Table 2", single_task),
    Experiment("transfer", "Table 4 and Figure 3", transfer),
    Experiment("distances", "Tables 5 and 6", distances),
    Experiment("weights", "Figure 4", weight_evolution),
    Experiment("search", "Figure 2", search_trajectory),
    Experiment("orders", "Table 3 in shuffled class orders", orders),
    Experiment("normalisation", "the paper's configurations on activity of any length", normalisation),
    Experiment("ablations", "the appendix's ablations", ablations),
)

EXPERIMENTS: dict[str, Experiment] = {row.name: row for row in _ROWS}
"""The experiments by name, in the order in which they are run."""


def find_experiments(names: Sequence[str]) -> list[Experiment]:
    """The experiments of these names, in the order of the table; all of them for no name or for `all`.

    Example:
        >>> [experiment.name for experiment in find_experiments(["memory", "comparison"])]
        ['comparison', 'memory']
    """
    for name in names:
        if name != "all" and name not in EXPERIMENTS:
            raise unknown("experiment", name, (*EXPERIMENTS, "all"))
    everything = not names or "all" in names
    return [row for row in _ROWS if everything or row.name in names]
