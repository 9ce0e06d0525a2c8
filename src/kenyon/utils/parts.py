"""Parts: frozen dataclasses that own their options, from which a model is composed.

A feature layer, a learning layer, a hidden layer and a rule are parts. Every field is declared by `option(...)`, which
holds its default, bounds and meaning; values are checked when the part is made. A name stands for a part with its
defaults, `module:Class` or `file.py:Class` for a class outside the package. Options of parts inside others have nested
names, as in scikit-learn: `layer__bits`, `rule__b1`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, TypeVar

from kenyon.errors import ConfigError, nearest, unknown
from kenyon.utils.options import Option, options_of
from kenyon.utils.outside import is_outside, load_class

P = TypeVar("P", bound="Part")

SEPARATOR = "__"


class Part:
    """Base of every part. Subclass it as a frozen dataclass whose fields are the options.

    Class attributes:
        name: how the part is asked for; empty for a class outside the package, which is asked for by its place.
    """

    name: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for key, entry in options_of(type(self)).items():
            object.__setattr__(self, key, entry.check(getattr(self, key)))

    def __repr__(self) -> str:
        changed = [f"{key}={value!r}" for key, value in changed_options(self).items()]
        return f"{type(self).__name__}({', '.join(changed)})"


def changed_options(part: Part) -> dict[str, Any]:
    """The options of a part that are not at their defaults."""
    table, values = options_of(type(part)), ((key, getattr(part, key)) for key in options_of(type(part)))
    return {key: value for key, value in values if not is_default(table[key], value)}


def is_default(entry: Option, value: Any) -> bool:
    """Whether a value is the default of an option, in type too."""
    return type(value) is type(entry.default) and value == entry.default


def class_named(name: Any, table: Mapping[str, type[P]], base: type[Part], what: str) -> type[P]:
    """The class of a part: a name of the table, `module:Class` or `file.py:Class`.

    Args:
        name: the name.
        table: the parts of the package by name.
        base: what the class must be derived from.
        what: what the part is called in errors.
    """
    if is_outside(name):
        found = load_class(name, what)
        if not issubclass(found, base):
            raise ConfigError(f"{what} = {name!r}: expected a subclass of {base.__module__}.{base.__name__}")
        return found  # type: ignore[return-value]
    if not isinstance(name, str):
        example = next(iter(table))
        raise ConfigError(f"{what} is {name!r}: expected a name such as {example!r}, or {table[example].__name__}(...)")
    if name.lower() not in table:
        raise unknown(what, name, table)
    return table[name.lower()]


def part_named(value: Any, table: Mapping[str, type[P]], base: type[Part], what: str) -> P:
    """A part: itself, or one with its defaults by name."""
    return value if isinstance(value, base) else class_named(value, table, base, what)()  # type: ignore[return-value]


def with_options(part: P, options: Mapping[str, Any], what: str) -> P:
    """A part with other values of some options; nested names reach the parts inside it.

    Args:
        part: which part.
        options: by name; `rule__b1` is the option `b1` of the part's `rule`.
        what: the part's own name, in errors.
    """
    table = options_of(type(part))
    direct = {key: value for key, value in options.items() if SEPARATOR not in key}
    for key in options:
        own = key.partition(SEPARATOR)[0]
        if own not in table:
            raise ConfigError(
                f"{what} {type(part).__name__} has no option {own!r}: it has {', '.join(table) or 'none'}"
                f"{nearest(own, table)}"
            )
    part = dataclasses.replace(part, **direct)  # type: ignore[type-var]
    inner = {key: value for key, value in options.items() if SEPARATOR in key}
    for own in {key.partition(SEPARATOR)[0] for key in inner}:
        inside = getattr(part, own)
        if not isinstance(inside, Part):
            raise ConfigError(f"{what}.{own} is {inside!r}: expected a part, which has options of its own")
        below = {key.partition(SEPARATOR)[2]: value for key, value in inner.items() if key.startswith(own + SEPARATOR)}
        part = dataclasses.replace(part, **{own: with_options(inside, below, f"{what}.{own}")})  # type: ignore[type-var]
    return part


def nested_options(part: Part, prefix: str) -> Iterator[tuple[str, Any]]:
    """Every option of a part under its nested name, those of parts inside it included."""
    for key in options_of(type(part)):
        value = getattr(part, key)
        yield f"{prefix}{SEPARATOR}{key}", value
        if isinstance(value, Part):
            yield from nested_options(value, f"{prefix}{SEPARATOR}{key}")
