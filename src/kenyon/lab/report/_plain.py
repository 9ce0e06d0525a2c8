"""Dataclasses made of plain values (what JSON holds): every value is checked, and an error says where it is wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, ClassVar, Union, get_args, get_origin, get_type_hints

from kenyon.errors import DataError, nearest

_WORDS = {str: "text", bool: "true or false", int: "an integer", float: "a finite number", NoneType: "null"}


def from_plain(kind: Any, value: Any, where: str) -> Any:
    """Make a value of type `kind` from plain values.

    Args:
        kind: a dataclass, `str`, `bool`, `int`, `float`, `None`, `tuple[T, ...]`, `dict[str, T]`, or a union of
            these. In a union of dataclasses each has a class variable `tag = (key, word)` that tells them apart.
        value: the plain value.
        where: the place of the value, for the error.
    """
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _from_union(args, value, where)
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            raise _wrong(where, value, "a list")
        return tuple(from_plain(args[0], item, f"{where}[{i}]") for i, item in enumerate(value))
    if origin is dict:
        if not isinstance(value, Mapping) or any(not isinstance(key, str) for key in value):
            raise _wrong(where, value, "a table")
        return {key: from_plain(args[1], item, f"{where}[{key!r}]") for key, item in value.items()}
    if is_dataclass(kind):
        return _from_table(kind, value, where)
    if kind is float and isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    if kind is not float and type(value) is kind:
        return value
    raise _wrong(where, value, _WORDS[kind])


def _from_union(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    tagged = {kind.tag: kind for kind in kinds if hasattr(kind, "tag")}
    if value is None and NoneType in kinds:
        return None
    if tagged:
        key = next(iter(tagged))[0]
        if not isinstance(value, Mapping):
            raise _wrong(where, value, "a table")
        word = value.get(key)
        if not isinstance(word, str) or (key, word) not in tagged:
            words = ", ".join(name for _, name in tagged)
            raise _wrong(f"{where}.{key}", word, f"one of {words}")
        return _from_table(tagged[key, word], {k: v for k, v in value.items() if k != key}, where)
    plain = [kind for kind in kinds if kind is not NoneType]
    if len(plain) == 1:
        return from_plain(plain[0], value, where)
    for kind in plain:
        try:
            return from_plain(kind, value, where)
        except DataError:
            continue
    raise _wrong(where, value, " or ".join(_WORDS[kind] for kind in kinds))


def _from_table(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(value, Mapping):
        raise _wrong(where, value, "a table")
    hints = {name: hint for name, hint in get_type_hints(kind).items() if get_origin(hint) is not ClassVar}
    for key in value:
        if key not in hints:
            raise DataError(f"{where} has the key {key!r}: expected {', '.join(hints)}{nearest(key, hints)}")
    needed = [f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING]
    for name in needed:
        if name not in value:
            raise DataError(f"{where} has no {name!r}")
    made = {name: from_plain(hints[name], item, f"{where}.{name}") for name, item in value.items()}
    try:
        return kind(**made)
    except DataError as error:
        raise DataError(f"{where}: {error}") from error


def to_plain(value: Any) -> Any:
    """A value as lists, dictionaries and numbers; the tag of a tagged dataclass comes first."""
    if is_dataclass(value) and not isinstance(value, type):
        tag: tuple[str, str] | None = getattr(value, "tag", None)
        return dict([tag] if tag else []) | {f.name: to_plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {key: to_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(item) for item in value]
    return value


def _wrong(where: str, value: Any, wanted: str) -> DataError:
    seen = repr(value)
    return DataError(f"{where} = {seen if len(seen) <= 60 else seen[:57] + '...'}: expected {wanted}")
