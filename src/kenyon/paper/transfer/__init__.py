"""How well a configuration found on one data set or scenario does on another.

>>> source = Source("mine", "mnist", "class-incremental", {"rule": "mse", "n_hidden": 500})
>>> target = Target("digits", "class-incremental", epochs=1.0)
>>> (cell,) = transfer([source], [target], seeds=[0], max_per_task=50)
>>> isinstance(cell, TransferResult), 0.1 < cell.mean < 1.0
(True, True)
>>> for name, coefficient in COEFFICIENTS.items():
...     print(name)
effective dimension
smallest centroid distance
"""

from kenyon.paper.transfer._drops import plot_drops
from kenyon.paper.transfer._matrix import (
    Drop,
    Source,
    Target,
    TransferResult,
    default_targets,
    drops,
    load_source,
    parse_target,
    rank_correlation,
    transfer,
)
from kenyon.paper.transfer._metrics import (
    COEFFICIENTS,
    Moments,
    centroid_distances,
    moments,
    transfer_coefficient,
)

__all__ = [
    "COEFFICIENTS",
    "Drop",
    "Moments",
    "Source",
    "Target",
    "TransferResult",
    "centroid_distances",
    "default_targets",
    "drops",
    "load_source",
    "moments",
    "parse_target",
    "plot_drops",
    "rank_correlation",
    "transfer",
    "transfer_coefficient",
]
