"""Feature extraction `F_e`: from a sample `u` to its sparse activity `x_e`.

>>> import numpy as np
>>> features = FEATURES["sparse"](n_inputs=64, n_units=500, n_connections=6)
>>> workspace = features.workspace()
>>> units, values, counts = features.activate(np.arange(64, dtype=np.uint8)[None, :], workspace)
>>> bool(0 < counts[0] < 500)
True
>>> len(make_active(500)[0]) == BLOCK
True
"""

from kenyon.features._base import BLOCK, Active, Features, Workspace, make_active
from kenyon.features._dense import DenseProjection
from kenyon.features._identity import Identity
from kenyon.features._own_range import as_bytes
from kenyon.features._ramps import Ramps, inputs_beside, ramp_sizes
from kenyon.features._rescaling import Rescaling
from kenyon.features._rows import SparseRows
from kenyon.features._shape import Layout, layout_of
from kenyon.features._sparse import SparseProjection
from kenyon.features._windows import Windows

FEATURES: dict[str, type[Features]] = {
    "sparse": SparseProjection,
    "windows": Windows,
    "ramps": Ramps,
    "dense": DenseProjection,
    "identity": Identity,
}
"""The kinds of feature layer by name."""

__all__ = [
    "BLOCK",
    "FEATURES",
    "Active",
    "DenseProjection",
    "Features",
    "Identity",
    "Layout",
    "Ramps",
    "Rescaling",
    "SparseProjection",
    "SparseRows",
    "Windows",
    "Workspace",
    "as_bytes",
    "inputs_beside",
    "layout_of",
    "make_active",
    "ramp_sizes",
]
