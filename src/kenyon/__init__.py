"""Kenyon: learn continuously from a stream without storing it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kenyon.learner import KenyonClassifier

try:
    __version__ = version("kenyon")
except PackageNotFoundError:  # run from a source tree that is not installed
    __version__ = "0+unknown"

__all__ = ["KenyonClassifier", "__version__"]


def __getattr__(name: str) -> Any:
    """Import the classifier, and with it the compiled kernels, when it is first asked for."""
    if name == "KenyonClassifier":
        from kenyon.learner import KenyonClassifier

        return KenyonClassifier
    raise AttributeError(f"module 'kenyon' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
