"""The public modules of the package and the names each of them shows."""

from __future__ import annotations

import importlib
import pkgutil

import kenyon


def public_modules() -> list[str]:
    """Every module with an `__all__` whose dotted name has no underscore in front of a part."""
    names = ["kenyon"]
    for module in pkgutil.walk_packages(kenyon.__path__, "kenyon."):
        if not any(part.startswith("_") for part in module.name.split(".")):
            names.append(module.name)
    return [name for name in names if hasattr(importlib.import_module(name), "__all__")]


def public_names() -> dict[str, list[str]]:
    """The names in each public module's `__all__`, dunders left out."""
    return {
        module: [name for name in importlib.import_module(module).__all__ if not name.startswith("_")]
        for module in public_modules()
    }
