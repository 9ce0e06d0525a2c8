"""Classes from outside the package, named as `module:Class` or `file.py:Class`.

A configuration that names code runs that code: trust it like code.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from kenyon.errors import ConfigError


def is_outside(name: Any) -> bool:
    """Whether a name points to a class outside the tables of the package."""
    return isinstance(name, str) and ":" in name


def load_class(name: str, what: str) -> type:
    """The class behind `module:Class` or `file.py:Class`.

    Args:
        name: modules are looked up in the current folder too.
        what: what the class is for, in errors: `"learner"`, `"rule"`.
    """
    place, _, attribute = name.rpartition(":")
    module = _from_file(place, name, what) if place.endswith(".py") else _from_name(place, name, what)
    try:
        found = getattr(module, attribute)
    except AttributeError as error:
        raise ConfigError(f"{what} = {name!r}: {place!r} has no {attribute!r}") from error
    if not isinstance(found, type):
        raise ConfigError(f"{what} = {name!r}: {attribute!r} is a {type(found).__name__}, expected a class")
    return found


def source_digest(cls: type) -> str:
    """Sixteen hex digits of the class's source text, so that an edited class is known to be another one."""
    try:
        text = inspect.getsource(inspect.getmodule(cls) or cls)
    except (OSError, TypeError):
        text = repr(cls)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _from_name(place: str, name: str, what: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        return import_module(place)
    except ModuleNotFoundError as error:
        if error.name and not place.startswith(error.name):
            raise
        raise ConfigError(f"{what} = {name!r}: there is no module {place!r} to import") from error
    except (ValueError, TypeError) as error:
        raise ConfigError(f"{what} = {name!r}: expected module:Class or file.py:Class") from error


def _from_file(place: str, name: str, what: str) -> ModuleType:
    path = Path(place).resolve()
    key = f"kenyon_outside_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    if key in sys.modules:
        return sys.modules[key]
    spec = spec_from_file_location(key, path) if path.is_file() else None
    if spec is None or spec.loader is None:
        raise ConfigError(f"{what} = {name!r}: there is no file {place!r}")
    module = module_from_spec(spec)
    sys.modules[key] = module  # dataclasses look their module up while it is being executed
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[key]
        raise
    return module
