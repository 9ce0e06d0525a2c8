"""The values of one key of a sweep: a value, a list, or a range."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from kenyon.errors import ConfigError, unknown
from kenyon.utils.options import is_number

_RANGE = ("from", "to", "steps", "step", "log")


def axis(key: str, value: Any, takes_lists: bool = False) -> list[Any]:
    """The values of a key.

    Args:
        key: its name, in errors.
        value: a list stands for each of its entries, a table with `from` and `to` for a range, all else for itself.
        takes_lists: whether a value of the key may be a list. Then only a list of lists, or one with words in it,
            stands for several values: `hidden_layers = [100, 50]` is one, `[[], [100, 50]]` are two.
    """
    if _is_range(value):
        return _range(key, value)
    if not isinstance(value, list) or (takes_lists and not any(isinstance(entry, (list, str)) for entry in value)):
        return [value]
    if not value:
        raise ConfigError(f"{key} is an empty list: expected at least one value")
    return [each for entry in value for each in (_range(key, entry) if _is_range(entry) else [entry])]


def _is_range(value: Any) -> bool:
    return isinstance(value, Mapping) and ("from" in value or "to" in value)


def _range(key: str, table: Mapping[str, Any]) -> list[Any]:
    for name in table:
        if name not in _RANGE:
            raise unknown(f"key of the range {key}", name, _RANGE)
    low, high, log = table.get("from"), table.get("to"), table.get("log", False)
    if not is_number(low) or not is_number(high):
        raise ConfigError(f"{key} is {dict(table)}: expected numbers as from and to")
    if ("steps" in table) == ("step" in table):
        raise ConfigError(f"{key} is {dict(table)}: expected either steps, how many values, or step, how far apart")
    integers = type(low) is int and type(high) is int
    if "step" in table:
        return _by_step(key, low, high, table["step"], integers)
    return _by_count(key, low, high, table["steps"], log, integers)


def _by_step(key: str, low: Any, high: Any, step: Any, integers: bool) -> list[Any]:
    if not is_number(step) or step <= 0 or high < low:
        raise ConfigError(f"{key} goes from {low} to {high} by {step!r}: expected a step above 0, and from below to")
    count = math.floor((high - low) / step + 1e-9) + 1
    return [low + i * step if integers and type(step) is int else float(low + i * step) for i in range(count)]


def _by_count(key: str, low: Any, high: Any, steps: Any, log: Any, integers: bool) -> list[Any]:
    if type(steps) is not int or steps < 2:
        raise ConfigError(f"{key} has steps = {steps!r}: expected an integer, at least 2")
    if log and (low <= 0 or high <= 0):
        raise ConfigError(f"{key} goes from {low} to {high} by a logarithmic scale: expected numbers above 0")
    shares: Sequence[float] = [i / (steps - 1) for i in range(steps)]
    values = [low * (high / low) ** share if log else low + (high - low) * share for share in shares]
    values[0], values[-1] = low, high
    if integers:
        return list(dict.fromkeys(round(value) for value in values))
    return [float(f"{value:.12g}") for value in values]
