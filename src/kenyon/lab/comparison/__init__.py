"""Configurations side by side: tables for the screen and the paper, and differences with their uncertainty.

>>> from pathlib import Path
>>> from kenyon.lab.evaluation import RunConfig, Store, group_runs, run_all
>>> configs = [RunConfig("digits", name) for name in ("ncm", "slda")]
>>> _ = run_all(configs, seeds=[0, 1, 2], store="runs")
>>> groups = group_runs(Store(Path("runs")).runs()).groups
>>> table = tabulate(sort_groups(select_groups(groups, ["accuracy>50"]), "accuracy"))
>>> isinstance(table, Table), [column.key for column in table.columns[:3]]
(True, ['learner', 'accuracy', 'forgetting'])
>>> write_table(table, "csv").splitlines()[0].startswith("learner,accuracy,accuracy_std")
True
>>> sorted(FORMATS)
['csv', 'latex', 'markdown']
>>> found = compare(groups, ["ncm", "slda"])
>>> isinstance(found, Comparison), isinstance(found.pairs[0], Pair), found.pairs[0].seeds, found.ranks is None
(True, True, (0, 1, 2), True)
"""

from kenyon.lab.comparison._formats import FORMATS, cell_text, write_table
from kenyon.lab.comparison._paired import Comparison, Pair, compare
from kenyon.lab.comparison._ranks import Ranks, rank_streams
from kenyon.lab.comparison._select import pick_groups, select_groups, sort_groups
from kenyon.lab.comparison._table import Cell, Column, Table, tabulate

__all__ = [
    "FORMATS",
    "Cell",
    "Column",
    "Comparison",
    "Pair",
    "Ranks",
    "Table",
    "cell_text",
    "compare",
    "pick_groups",
    "rank_streams",
    "select_groups",
    "sort_groups",
    "tabulate",
    "write_table",
]
