"""Kenyon: learn continuously from a stream without storing it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kenyon.classifier import KenyonClassifier
    from kenyon.regressor import KenyonRegressor

    __version__: str

__all__ = ["KenyonClassifier", "KenyonRegressor", "__version__"]


def __getattr__(name: str) -> Any:
    """Import the classifier, and with it the compiled kernels, when it is first asked for."""
    if name == "KenyonClassifier":
        from kenyon.classifier import KenyonClassifier

        return KenyonClassifier
    if name == "KenyonRegressor":
        from kenyon.regressor import KenyonRegressor

        return KenyonRegressor
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("kenyon")
        except PackageNotFoundError:  # run from a source tree that is not installed
            return "0+unknown"
    raise AttributeError(f"module 'kenyon' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
