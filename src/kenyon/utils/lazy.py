"""Packages that show names of their modules and import each module when one of its names is first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from kenyon.errors import require


def import_on_use(
    package: str, names: Mapping[str, str], needs: tuple[str, str] | None = None
) -> tuple[list[str], Callable[[str], Any]]:
    """The `__all__` and the `__getattr__` of a package.

    Args:
        package: its `__name__`.
        names: for each of its modules, the names that the package shows, separated by spaces.
        needs: a dependency of all these modules that may be absent, and the extra that brings it.

    Example:
        >>> shown, get = import_on_use("kenyon.utils", {"wording": "size slug"})
        >>> shown, get("slug")("Two words")
        (['size', 'slug'], 'two-words')
    """
    home = {name: module for module, own in names.items() for name in own.split()}

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if needs:
            require(*needs, name)
        return getattr(import_module(f"{package}.{home[name]}"), name)

    return sorted(home), get
