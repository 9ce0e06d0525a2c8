"""Classes from outside the package, named as `module:Class` or `file.py:Class`.

A configuration that names code runs that code: trust it like code. A file that is only read, such as a model, a run's
folder or a report, never has code imported for it: what reads it does so within `looking()`.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from kenyon.errors import ConfigError

_looking: ContextVar[bool] = ContextVar("looking", default=False)


@contextmanager
def looking() -> Iterator[None]:
    """Within it, a name gives code that this process has imported already; nothing is imported for a name.

    Example:
        >>> with looking():
        ...     load_class("never_heard_of_it:Class", "rule")
        Traceback (most recent call last):
            ...
        kenyon.errors.ConfigError: rule = 'never_heard_of_it:Class' is code that is not imported: import it first
    """
    before = _looking.set(True)
    try:
        yield
    finally:
        _looking.reset(before)


def is_imported(name: str) -> bool:
    """Whether this process has already imported the code that a name points to.

    Example:
        >>> is_imported("collections:Counter"), is_imported("never_heard_of_it:Class")
        (True, False)
    """
    return _imported(name.rpartition(":")[0]) is not None


def imported_file(place: str) -> Path | None:
    """The source file of a module or a `.py` file that this process has imported; None for any other.

    Example:
        >>> imported_file("json").name, imported_file("never_heard_of_it")
        ('__init__.py', None)
    """
    found = getattr(_imported(place), "__file__", None)
    return Path(found) if found else None


def _imported(place: str) -> ModuleType | None:
    return sys.modules.get(_key(Path(place).resolve()) if place.endswith(".py") else place)


def load_class(name: str, what: str) -> type:
    """The class behind `module:Class` or `file.py:Class`.

    Args:
        name: modules are looked up in the current folder too.
        what: what the class is for, in errors: `"learner"`, `"rule"`.
    """
    found = _load(name, what)
    if not isinstance(found, type):
        raise ConfigError(f"{what} = {name!r}: this is a {type(found).__name__}, expected a class")
    return found


def load_function(name: str, what: str) -> Callable[..., Any]:
    """The function behind `module:function` or `file.py:function`."""
    found = _load(name, what)
    if not callable(found):
        raise ConfigError(f"{what} = {name!r}: this is a {type(found).__name__}, expected a function")
    return found


def _load(name: str, what: str) -> Any:
    place, _, attribute = name.rpartition(":")
    if _looking.get() and not is_imported(name):
        raise ConfigError(f"{what} = {name!r} is code that is not imported: import it first")
    module = _from_file(place, name, what) if place.endswith(".py") else _from_name(place, name, what)
    try:
        return getattr(module, attribute)
    except AttributeError as error:
        raise ConfigError(f"{what} = {name!r}: {place!r} has no {attribute!r}") from error


def same_class(one: type, other: type) -> bool:
    """Whether two classes are the same lines of code, be it that one was imported by name and one from its file."""
    return one.__qualname__ == other.__qualname__ and _file_of(one) == _file_of(other)


def _file_of(cls: type) -> str:
    return getattr(sys.modules.get(cls.__module__), "__file__", None) or cls.__module__


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


def _key(path: Path) -> str:
    """The name in `sys.modules` of a file's code."""
    return f"kenyon_outside_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"


def _from_file(place: str, name: str, what: str) -> ModuleType:
    path = Path(place).resolve()
    key = _key(path)
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
