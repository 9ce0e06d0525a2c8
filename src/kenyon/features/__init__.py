"""Feature extraction `F_e`: from a sample `u` to its sparse activity `x_e`."""

from kenyon.features._backbones import BACKBONES, BackboneConfig
from kenyon.features._base import BLOCK, Active, Features, Workspace, make_active
from kenyon.features._identity import Identity
from kenyon.features._pretrained import Pretrained
from kenyon.features._sparse import SparseProjection

__all__ = [
    "BACKBONES",
    "BLOCK",
    "Active",
    "BackboneConfig",
    "Features",
    "Identity",
    "Pretrained",
    "SparseProjection",
    "Workspace",
    "make_active",
]
