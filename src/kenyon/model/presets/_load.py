"""Read the presets: one TOML file each, the options and the search that found them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from kenyon.errors import unknown
from kenyon.model.plain import classifier_params


@dataclass(frozen=True)
class Preset:
    """A configuration with its origin.

    Attributes:
        name: how it is asked for.
        dataset, scenario, epochs: the stream it was found on.
        n_features, n_classes: of that data set, or of the backbone's features.
        options: options of the learner, as in a configuration file.
        search: the command that found it, its seed, evaluations and held-out score.
        backbone: frozen network whose features it learns; None for the samples themselves.

    Example:
        >>> from kenyon import KenyonClassifier
        >>> model = KenyonClassifier(**load_preset("split-mnist-20kb").classifier_params())
        >>> model.n_hidden
        500
    """

    name: str
    dataset: str
    scenario: str
    epochs: float
    n_features: int
    n_classes: int
    options: Mapping[str, Any]
    search: Mapping[str, Any]
    backbone: str | None = None

    def classifier_params(self) -> dict[str, Any]:
        """The options as parameters of `KenyonClassifier`."""
        return classifier_params(self.options) | {"expected_classes": self.n_classes}


def preset_names() -> tuple[str, ...]:
    """Every preset there is.

    Example:
        >>> "split-mnist-20kb" in preset_names()
        True
    """
    entries = files("kenyon.model.presets").iterdir()
    return tuple(sorted(entry.name.removesuffix(".toml") for entry in entries if entry.name.endswith(".toml")))


def load_preset(name: str) -> Preset:
    """A preset by name.

    Example:
        >>> preset = load_preset("split-mnist-20kb")
        >>> preset.dataset, preset.scenario, preset.options["n_hidden"]
        ('mnist', 'class-incremental', 500)
    """
    if name not in preset_names():
        raise unknown("preset", name, preset_names())
    values = tomllib.loads(files("kenyon.model.presets").joinpath(f"{name}.toml").read_text(encoding="utf-8"))
    return Preset(name, **values)
