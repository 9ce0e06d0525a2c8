"""Frozen networks by name, and how their weights are found."""

from kenyon.features._backbones._config import BackboneConfig
from kenyon.features._backbones._table import BACKBONES, DEFAULT_BACKBONE, BackboneSpec, find_backbone

__all__ = ["BACKBONES", "DEFAULT_BACKBONE", "BackboneConfig", "BackboneSpec", "find_backbone"]
