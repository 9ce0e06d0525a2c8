"""A backbone's configuration: plain values, checked, with what the network was trained with filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from kenyon.data.backbones._images import GREYSCALE, INTERPOLATIONS, find_normalisation
from kenyon.data.backbones._table import DEFAULT_BACKBONE, find_backbone
from kenyon.data.backbones._weights import check_weights, sha256_of
from kenyon.errors import ConfigError, unknown

LARGEST = 4096
"""Largest resolution, so that a typing error does not exhaust the memory."""


@dataclass(frozen=True)
class BackboneConfig:
    """Which network processes the images, and how they are prepared for it.

    Args:
        name: a key of `BACKBONES`, the path of an `.onnx` file, or `module:function` for a function of yours that
            returns an `nn.Module`.
        weights: a `.pth` file in place of the published weights; for a name in the table only.
        sha256: what the SHA-256 sum of the weights (or `.onnx`) file must begin with. Without it the sum of the
            file at hand is filled in, so that a configuration names its weights by content.
        resolution: pixels per side; by default the backbone's own. For your own network it must be given.
        interpolation: how images are resized, a key of `INTERPOLATIONS`.
        normalisation: a key of `NORMALISATIONS`, or mean and standard deviation of each channel on the scale
            of 0 to 255; by default the backbone's own. For your own network it must be given.
        greyscale: "refuse" grey images, or "repeat" them in all three channels.

    Example:
        >>> config = BackboneConfig("resnet18", resolution=96)
        >>> config.normalisation, BackboneConfig.from_value(config.to_dict()) == config
        ('imagenet', True)
    """

    name: str = DEFAULT_BACKBONE
    weights: str | None = None
    sha256: str | None = None
    resolution: int | None = None
    interpolation: str = "bilinear"
    normalisation: Any = None
    greyscale: str = "refuse"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ConfigError(f"backbone is {self.name!r}: expected a name, such as {DEFAULT_BACKBONE!r}")
        for name in ("weights", "sha256", "interpolation", "greyscale"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise ConfigError(f"{name} of the backbone is {value!r}: expected a text")
        if self.sha256 is not None and not re.fullmatch(r"[0-9a-fA-F]{8,64}", str(self.sha256)):
            raise ConfigError(f"the backbone's sha256 is {self.sha256!r}: expected 8 to 64 hexadecimal digits")
        self._fill_weights()
        self._fill_format()

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)  # the one way to normalise a field of a frozen dataclass

    def _fill_weights(self) -> None:
        if self.kind != "named" and self.weights:
            raise ConfigError(
                f"weights = {self.weights!r} is for a backbone of the table, {self.name!r} brings its own"
            )
        file = self.name if self.kind == "onnx" else self.weights
        if file:
            self._set("sha256", check_weights(Path(file), self.sha256) if self.sha256 else sha256_of(Path(file)))
        elif self.kind == "named" and not find_backbone(self.name).file:
            raise ConfigError(f"weights of {self.name!r} are not given: expected a converted file (docs/backbones.md)")
        elif self.sha256:
            raise ConfigError(f"sha256 is given without a weights file: the sum of {self.name!r} is known")

    def _fill_format(self) -> None:
        spec = find_backbone(self.name) if self.kind == "named" else None
        for name in ("resolution", "normalisation"):
            if getattr(self, name) is None:
                if spec is None:
                    raise ConfigError(
                        f"{name} is not given: say what {self.name!r} was trained with, no table of ours knows it"
                    )
                self._set(name, getattr(spec, name))
        size = self.resolution
        if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= LARGEST:
            raise ConfigError(f"resolution is {size!r}: expected an integer of pixels from 1 to {LARGEST}")
        find_normalisation(self.normalisation)
        if self.interpolation not in INTERPOLATIONS:
            raise unknown("interpolation", self.interpolation, INTERPOLATIONS)
        if self.greyscale not in GREYSCALE:
            raise unknown("value of greyscale", self.greyscale, GREYSCALE)

    @property
    def kind(self) -> str:
        """`"named"`, `"onnx"` or `"module"`."""
        if self.name.lower().endswith(".onnx"):
            return "onnx"
        return "module" if ":" in self.name else "named"

    @classmethod
    def from_value(cls, value: str | Mapping[str, Any]) -> BackboneConfig:
        """From a name, or a table of this class's arguments."""
        if isinstance(value, str):
            return cls(value)
        if not isinstance(value, Mapping):
            raise ConfigError(f"backbone is {value!r}: expected a name or a table")
        names = [field.name for field in fields(cls)]
        for key in value:
            if key not in names:
                raise unknown("backbone key", key, names)
        return cls(**value)

    def to_dict(self) -> dict[str, Any]:
        """Every value that is set, as `from_value` takes them."""
        return {name: value for name, value in asdict(self).items() if value is not None}
