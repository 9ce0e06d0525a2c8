"""The public modules of the package and the names each of them shows."""

from __future__ import annotations

import importlib
import pkgutil

import kenyon
from kenyon.errors import MissingExtraError


def public_modules() -> list[str]:
    """Every module with an `__all__` whose dotted name has no underscore in front of a part.

    One that needs an extra which is not installed is left out.
    """
    found = (module.name for module in pkgutil.walk_packages(kenyon.__path__, "kenyon."))
    visible = (name for name in found if not any(part.startswith("_") for part in name.split(".")))
    return [name for name in ("kenyon", *visible) if _shows_names(name)]


def _shows_names(module: str) -> bool:
    try:
        return hasattr(importlib.import_module(module), "__all__")
    except MissingExtraError:
        return False


def public_names() -> dict[str, list[str]]:
    """The names in each public module's `__all__`, dunders left out."""
    return {
        module: [name for name in importlib.import_module(module).__all__ if not name.startswith("_")]
        for module in public_modules()
    }
