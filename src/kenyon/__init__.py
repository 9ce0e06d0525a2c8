"""Kenyon: learn continuously from a stream without storing it.

A model is composed of parts: `KenyonClassifier(features=Windows(window=6), layer=SecondOrder(bits=16))`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kenyon.classifier import KenyonClassifier
    from kenyon.features import Dense, Identity, Patches, Ramps, Sparse, Windows
    from kenyon.layers import Counting, Diagonal, LocalError, Plastic, SecondOrder
    from kenyon.model.recommend import recommend
    from kenyon.model.spec import Spec
    from kenyon.regressor import KenyonRegressor
    from kenyon.rules import GEN, INEL, MEAN, MSE, OJA

    __version__: str

_PLACES = {
    "kenyon.classifier": ("KenyonClassifier",),
    "kenyon.regressor": ("KenyonRegressor",),
    "kenyon.features": ("Sparse", "Windows", "Patches", "Ramps", "Dense", "Identity"),
    "kenyon.layers": ("Plastic", "Counting", "SecondOrder", "Diagonal", "LocalError"),
    "kenyon.rules": ("GEN", "INEL", "MEAN", "MSE", "OJA"),
    "kenyon.model.recommend": ("recommend",),
    "kenyon.model.spec": ("Spec",),
}

__all__ = [
    "GEN",
    "INEL",
    "MEAN",
    "MSE",
    "OJA",
    "Counting",
    "Dense",
    "Diagonal",
    "Identity",
    "KenyonClassifier",
    "KenyonRegressor",
    "LocalError",
    "Patches",
    "Plastic",
    "Ramps",
    "SecondOrder",
    "Sparse",
    "Spec",
    "Windows",
    "__version__",
    "recommend",
]


def __getattr__(name: str) -> Any:
    """Import what is asked for, and with it the compiled core, when it is first asked for."""
    for place, names in _PLACES.items():
        if name in names:
            return getattr(import_module(place), name)
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("kenyon")
        except PackageNotFoundError:  # run from a source tree that is not installed
            return "0+unknown"
    raise AttributeError(f"module 'kenyon' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
