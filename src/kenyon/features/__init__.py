"""Feature extraction `F_e`: from a sample `u` to its sparse activity `x_e`.

>>> import numpy as np
>>> part = FEATURES["sparse"](units=500, density=6, inhibitory=0.0, threshold=1.8)
>>> features = part.build(Setting(n_inputs=64))
>>> workspace = features.workspace()
>>> units, values, counts = features.activate(np.arange(64, dtype=np.uint8)[None, :], workspace)
>>> bool(0 < counts[0] < 500)
True
>>> len(make_active(500)[0]) == BLOCK
True
"""

from kenyon.features._base import BLOCK, Active, Case, Features, FeaturesPart, Setting, Workspace, make_active
from kenyon.features._dense import Dense, DenseProjection
from kenyon.features._identity import Identity, IdentityUnits
from kenyon.features._own_range import as_bytes
from kenyon.features._patches import Patches, PatchUnits
from kenyon.features._ramps import Ramps, RampUnits, inputs_beside
from kenyon.features._rescaling import Rescaling
from kenyon.features._rows import SparseRows
from kenyon.features._shape import Layout, layout_of
from kenyon.features._sparse import Sparse, SparseProjection
from kenyon.features._windows import Windows, WindowUnits
from kenyon.utils.options import part_named

FEATURES: dict[str, type[FeaturesPart]] = {
    "sparse": Sparse,
    "windows": Windows,
    "patches": Patches,
    "ramps": Ramps,
    "dense": Dense,
    "identity": Identity,
}
"""The kinds of feature layer by name."""


def features_part(value: FeaturesPart | str) -> FeaturesPart:
    """A feature layer by name, `module:Class`, or the part itself.

    Example:
        >>> features_part("sparse")
        Sparse()
    """
    return part_named(value, FEATURES, FeaturesPart, "features")


__all__ = [
    "BLOCK",
    "FEATURES",
    "Active",
    "Case",
    "Dense",
    "DenseProjection",
    "Features",
    "FeaturesPart",
    "Identity",
    "IdentityUnits",
    "Layout",
    "PatchUnits",
    "Patches",
    "RampUnits",
    "Ramps",
    "Rescaling",
    "Setting",
    "Sparse",
    "SparseProjection",
    "SparseRows",
    "WindowUnits",
    "Windows",
    "Workspace",
    "as_bytes",
    "features_part",
    "inputs_beside",
    "layout_of",
    "make_active",
]
