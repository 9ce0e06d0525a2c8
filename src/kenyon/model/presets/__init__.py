"""Configurations that searches found, by name: `KenyonClassifier.from_preset("split-mnist")`."""

from kenyon.model.presets._load import Preset, load_preset, preset_names

__all__ = ["Preset", "load_preset", "preset_names"]
