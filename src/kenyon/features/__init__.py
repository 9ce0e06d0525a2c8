"""Feature extraction `F_e`: from a sample `u` to its sparse activity `x_e`."""

from kenyon.features._base import BLOCK, Active, Features, Workspace, make_active
from kenyon.features._identity import Identity
from kenyon.features._sparse import SparseProjection
from kenyon.features._windows import Windows

FEATURES: dict[str, type[Features]] = {
    "sparse": SparseProjection,
    "identity": Identity,
}
"""The kinds of feature layer by name."""

__all__ = [
    "BLOCK",
    "FEATURES",
    "Active",
    "Features",
    "Identity",
    "SparseProjection",
    "Windows",
    "Workspace",
    "make_active",
]
