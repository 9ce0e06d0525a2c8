"""Configurations side by side: tables for the screen and the paper, and differences with their uncertainty.

>>> from pathlib import Path
>>> from kenyon.lab.evaluation import RunConfig, Store, group_runs, run_all
>>> configs = [RunConfig("digits", name) for name in ("ncm", "slda")]
>>> _ = run_all(configs, seeds=[0, 1, 2], store="runs")
>>> groups = group_runs(Store(Path("runs")).runs()).groups
>>> table = tabulate(sort_groups(select_groups(groups, ["accuracy>50"]), "accuracy"))
>>> table.corner, table.columns[:2]
('learner', ('accuracy, %', 'forgetting, %'))
>>> found = compare(groups, ["ncm", "slda"])
>>> isinstance(found, Comparison), isinstance(found.pairs[0], Pair), found.pairs[0].seeds, found.ranks is None
(True, True, (0, 1, 2), True)
"""

from kenyon.lab.comparison._paired import Comparison, Pair, compare
from kenyon.lab.comparison._ranks import Ranks, rank_streams
from kenyon.lab.comparison._select import pick_groups, select_groups, sort_groups
from kenyon.lab.comparison._table import tabulate

__all__ = [
    "Comparison",
    "Pair",
    "Ranks",
    "compare",
    "pick_groups",
    "rank_streams",
    "select_groups",
    "sort_groups",
    "tabulate",
]
