"""Frozen networks between the images and the learner: by name, their weights, and their features on disk.

>>> spec = find_backbone(DEFAULT_BACKBONE)
>>> isinstance(spec, BackboneSpec), spec.n_features, spec in BACKBONES.values()
(True, 1280, True)
"""

from kenyon.data.backbones._cache import DamagedCacheWarning
from kenyon.data.backbones._config import BackboneConfig
from kenyon.data.backbones._pretrained import Pretrained
from kenyon.data.backbones._table import BACKBONES, DEFAULT_BACKBONE, BackboneSpec, find_backbone

__all__ = [
    "BACKBONES",
    "DEFAULT_BACKBONE",
    "BackboneConfig",
    "BackboneSpec",
    "DamagedCacheWarning",
    "Pretrained",
    "find_backbone",
]
