"""What each kind of option may be: a check of a value, and the words for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import inf
from numbers import Integral, Real
from sys import float_info
from typing import TYPE_CHECKING, Any

from kenyon.errors import unknown
from kenyon.utils.outside import is_outside

if TYPE_CHECKING:
    from kenyon.utils.options import Option

_BYTES = {"b": 1, "kb": 1000, "mb": 1000**2, "gb": 1000**3, "kib": 1024, "mib": 1024**2, "gib": 1024**3}


def is_number(value: Any) -> bool:
    """Whether a value is a number: whole or not, Python's or NumPy's, and no boolean."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number and no boolean."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def _number(entry: Option, value: Any) -> float:
    low = -inf if entry.low is None else entry.low
    high = inf if entry.high is None else entry.high
    if not is_number(value) or not low <= value <= high or not abs(value) <= float_info.max:
        raise entry.refuse(value)
    return float(value)


def _whole(entry: Option, value: Any) -> int:
    if not is_whole(value) or not _lowest(entry) <= value <= (entry.high or 2**31 - 1):
        raise entry.refuse(value)
    if entry.allowed and value not in entry.allowed:
        raise entry.refuse(value)
    return int(value)


def _lowest(entry: Option) -> int:
    return 1 if entry.low is None else int(entry.low)


def _share(entry: Option, value: Any) -> float | int:
    if is_whole(value) and value >= 1:
        return int(value)
    if not is_number(value) or not 0 < value <= 1:
        raise entry.refuse(value)
    return float(value)


def _choice(entry: Option, value: Any) -> str:
    if value not in entry.choices:
        raise unknown(entry.name, value, entry.choices)
    return str(value)


def _layer(entry: Option, value: Any) -> str:
    return str(value) if is_outside(value) else _choice(entry, value)


def _flag(entry: Option, value: Any) -> bool:
    if type(value).__name__ not in ("bool", "bool_"):  # Python's or NumPy's
        raise entry.refuse(value)
    return bool(value)


def _size(entry: Option, value: Any) -> int:
    if is_whole(value) and value > 0:
        return int(value)
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", str(value), re.IGNORECASE)
    unit = _BYTES.get((match[2] or "b").lower()) if match and isinstance(value, str) else None
    if match is None or unit is None or float(match[1]) == 0:
        raise entry.refuse(value)
    return int(float(match[1]) * unit)


def _widths(entry: Option, value: Any) -> list[int]:
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        raise entry.refuse(value)
    widths = list(value)
    if not all(is_whole(width) and 2 <= width < 2**31 for width in widths):
        raise entry.refuse(value)
    return [int(width) for width in widths]


def _shape(entry: Option, value: Any) -> tuple[int, ...]:
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        raise entry.refuse(value)
    shape = tuple(value)
    if not 1 <= len(shape) <= 3 or not all(is_whole(n) and 1 <= n < 2**24 for n in shape):
        raise entry.refuse(value)
    return tuple(int(n) for n in shape)


def _moving(entry: Option, value: Any) -> Any:
    from kenyon.utils.modulation import check_moving  # brings NumPy, which a list of options does without

    low = -inf if entry.low is None else entry.low
    check_moving(entry.name, value, low, inf if entry.high is None else entry.high)
    return value


def _threads(entry: Option, value: Any) -> int:
    if not is_whole(value) or value == 0 or abs(value) > 4096:
        raise entry.refuse(value)
    return int(value)


def _weights(entry: Option, value: Any) -> Any:
    if isinstance(value, str) and value == "balanced":
        return value
    if not isinstance(value, Mapping) or not all(is_number(weight) and 0 <= weight < inf for weight in value.values()):
        raise entry.refuse(value)
    return dict(value)


def _as_it_is(entry: Option, value: Any) -> Any:
    return value  # checked by those who know what a rule, a front end or a random state may be


CHECKS: dict[str, Callable[[Option, Any], Any]] = {
    "number": _number,
    "whole": _whole,
    "share": _share,
    "choice": _choice,
    "layer": _layer,
    "flag": _flag,
    "size": _size,
    "widths": _widths,
    "shape": _shape,
    "front": _as_it_is,
    "moving": _moving,
    "rule": _as_it_is,
    "threads": _threads,
    "weights": _weights,
    "seed": _as_it_is,
}


def _bounds(entry: Option) -> str:
    if entry.low is None and entry.high is None:
        return "a finite number"
    if entry.high is None:
        return f"a number, at least {entry.low:g}"
    return f"a number from {entry.low:g} to {entry.high:g}"


WANTED: dict[str, Callable[[Option], str]] = {
    "number": _bounds,
    "whole": lambda entry: (
        f"one of {', '.join(map(str, entry.allowed))}"
        if entry.allowed
        else f"a whole number, at least {_lowest(entry)}"
    ),
    "front": lambda entry: "Spectra(...) or Motion(...) of kenyon.features.front",
    "shape": lambda entry: "one to three whole numbers, such as (28, 28)",
    "share": lambda entry: "a share above 0 and up to 1, or a count of inputs",
    "choice": lambda entry: f"one of {', '.join(entry.choices)}",
    "layer": lambda entry: f"one of {', '.join(entry.choices)}, or module:Class",
    "flag": lambda entry: "True or False",
    "size": lambda entry: "a positive number of bytes or a size such as '512KB'",
    "widths": lambda entry: "a list of widths that are whole numbers, at least 2, such as (500,)",
    "moving": lambda entry: f"{_bounds(entry)}, a schedule or a function of time",
    "rule": lambda entry: "a name or a Rule, such as 'gen' or GEN(b1=0.0)",
    "weights": lambda entry: "'balanced', or a table from labels to numbers of at least 0, such as {'rare': 10.0}",
    "threads": lambda entry: "a number of threads, -1 for all",
    "seed": lambda entry: f"a whole number from 0 to {2**32 - 1}, a RandomState, or None",
}
