"""Does a configuration found on one data set or scenario serve on another?"""

from kenyon.transfer._matrix import (
    Cell,
    Drop,
    Source,
    Target,
    default_targets,
    drops,
    load_source,
    parse_target,
    rank_correlation,
    transfer,
)
from kenyon.transfer._metrics import (
    COEFFICIENTS,
    Moments,
    centroid_distances,
    effective_dimension,
    moments,
    transfer_coefficient,
)

__all__ = [
    "COEFFICIENTS",
    "Cell",
    "Drop",
    "Moments",
    "Source",
    "Target",
    "centroid_distances",
    "default_targets",
    "drops",
    "effective_dimension",
    "load_source",
    "moments",
    "parse_target",
    "rank_correlation",
    "transfer",
    "transfer_coefficient",
]
