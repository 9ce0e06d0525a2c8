"""The source text behind classes from outside the package: a class that was edited is another class."""

from __future__ import annotations

import hashlib
import inspect
import sysconfig
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from kenyon.utils.outside import imported_file


def source_sums(name: str, cls: type) -> dict[str, str]:
    """SHA-256 of the files that define a class and its bases, by the names under which they can be found again.

    Classes of this package, of the standard library and of installed packages are left out, except the class
    itself where it is not ours.

    Args:
        name: how the class was named: `module:Class` or `file.py:Class`, or a name that it registered.
        cls: the class.
    """
    place = name.rpartition(":")[0]
    sums = {}
    for base in cls.__mro__:
        if _is_ours(base) or (base is not cls and _is_installed(base)):
            continue
        key = place if base is cls and place.endswith(".py") else base.__module__
        sums[key] = _class_sum(base)
    return sums


@cache
def _class_sum(cls: type) -> str:
    """The sum of the file that defines a class, computed once per process: an edit counts for the next process."""
    return _sum(_file_of(cls)) or hashlib.sha256(repr(cls).encode()).hexdigest()


def changed(sums: Mapping[str, str]) -> list[str]:
    """Which of the recorded files have another content now.

    The names come from a store, so only files that this process has imported are read; any other counts as unchanged.
    """
    return [place for place, known in sums.items() if _sum(imported_file(place)) not in (None, known)]


def _file_of(cls: type) -> Path | None:
    try:
        return Path(inspect.getfile(cls))
    except (OSError, TypeError):  # written in C, or in a notebook
        return None


def _sum(file: Path | None) -> str | None:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest() if file else None
    except OSError:
        return None


def _is_ours(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == __name__.partition(".")[0]


def _is_installed(cls: type) -> bool:
    file, paths = _file_of(cls), sysconfig.get_paths()
    places = [Path(paths[key]) for key in ("stdlib", "platstdlib", "purelib", "platlib")]
    return file is None or any(file.is_relative_to(place) for place in places)
