"""Options and parts: frozen dataclasses that own their options, from which a model is composed.

A feature layer, a learning layer, a hidden layer and a rule are parts. Each field is declared once by `option(...)`:
its default, its bounds and one sentence about it. Constructors, the command line, configuration files, presets, search
spaces and the documentation read them off the dataclass. Values are checked when a part is made. A name stands for a
part with its defaults, `module:Class` or `file.py:Class` for a class from outside the package. Options of parts inside
others have nested names, as in scikit-learn: `layer__bits`, `rule__b1`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from math import inf
from numbers import Integral, Real
from sys import float_info
from typing import Any, ClassVar, Literal, TypeVar

from kenyon.errors import ConfigError, unknown

P = TypeVar("P", bound="Part")

SEPARATOR = "__"

Auto = Literal["auto"]
"""The type of an option that is chosen when the first sample is learned."""

LARGEST = 3.4028234663852886e38
"""The largest float32: parameters that may change with time reach the core as float32."""

_BYTES = {"b": 1, "kb": 1000, "mb": 1000**2, "gb": 1000**3, "kib": 1024, "mib": 1024**2, "gib": 1024**3}


# ---- what an option may be


def is_number(value: Any) -> bool:
    """Whether a value is a real number of Python or NumPy, booleans excluded."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_integer(value: Any) -> bool:
    """Whether a value is an integer of Python or NumPy, booleans excluded."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_outside(name: Any) -> bool:
    """Whether a name points to a class outside the package: `module:Class` or `file.py:Class`."""
    return isinstance(name, str) and ":" in name


def _number(entry: Option, value: Any) -> float | None:
    fits = is_number(value) and entry.lowest <= value <= entry.highest and abs(value) <= float_info.max
    return float(value) if fits else None


def _integer(entry: Option, value: Any) -> int | None:
    low, high = (1 if entry.low is None else entry.low), (entry.high or 2**31 - 1)
    fits = is_integer(value) and low <= value <= high and (not entry.allowed or value in entry.allowed)
    return int(value) if fits else None


def _share(entry: Option, value: Any) -> float | int | None:
    if is_integer(value) and value >= 1:
        return int(value)
    return float(value) if is_number(value) and 0 < value <= 1 else None


def _choice(entry: Option, value: Any) -> str:
    if value not in entry.choices:
        raise unknown(entry.name, value, entry.choices)
    return str(value)


def _part(entry: Option, value: Any) -> Any:
    """A part itself, or the name of one; whether it is the right kind of part, its package checks."""
    if not isinstance(value, str):
        return value if hasattr(type(value), "__dataclass_fields__") else None
    return value if is_outside(value) else _choice(entry, value.lower())


def _flag(entry: Option, value: Any) -> bool | str | None:
    if isinstance(value, str) and value in entry.choices:
        return value
    return bool(value) if type(value).__name__ in ("bool", "bool_") else None  # Python's or NumPy's


def _size(entry: Option, value: Any) -> int | None:
    if is_integer(value) and value > 0:
        return int(value)
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", value, re.IGNORECASE) if isinstance(value, str) else None
    unit = _BYTES.get((match[2] or "b").lower()) if match else None
    return int(float(match[1]) * unit) or None if match and unit else None


def _integers(low: int, high: int, lengths: Collection[int]) -> Callable[[Option, Any], tuple[int, ...] | None]:
    def check(entry: Option, value: Any) -> tuple[int, ...] | None:
        if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
            return None
        values = tuple(value)
        fits = len(values) in lengths and all(is_integer(n) and low <= n < high for n in values)
        return tuple(map(int, values)) if fits else None

    return check


def _moving(entry: Option, value: Any) -> Any:
    """A number, or a function of time that gives one."""
    now = value
    if callable(value):
        try:
            now = value(0)
        except (TypeError, ArithmeticError) as error:
            raise ConfigError(f"{entry.name} is {value!r}, which fails at time 0: {error}") from error
    if not is_number(now):
        raise ConfigError(f"{entry.name} is {now!r}: expected a number, a schedule or a function of time")
    if not (entry.lowest <= now <= entry.highest and abs(now) <= LARGEST):
        bounds = "a finite number" if entry.low is None else f"a finite number from {entry.low:g} to {entry.highest:g}"
        raise ConfigError(f"{entry.name} is {now!r}: expected {bounds}")
    return value


def _threads(entry: Option, value: Any) -> int | None:
    return int(value) if is_integer(value) and 0 < abs(value) <= 4096 else None


def _weights(entry: Option, value: Any) -> Any:
    if isinstance(value, Mapping) and all(is_number(weight) and 0 <= weight < inf for weight in value.values()):
        return dict(value)
    return value if isinstance(value, str) and value == "balanced" else None


def _text(entry: Option, value: Any) -> str | None:
    return value or None if isinstance(value, str) else None


def _bounds(entry: Option) -> str:
    if entry.low is None and entry.high is None:
        return "a finite number"
    if entry.high is None:
        return f"a number, at least {entry.low:g}"
    return f"a number from {entry.low:g} to {entry.high:g}"


def _integer_bounds(entry: Option) -> str:
    if entry.allowed:
        return f"one of {', '.join(map(str, entry.allowed))}"
    low = 1 if entry.low is None else int(entry.low)
    return f"an integer, at least {low}" if entry.high is None else f"an integer from {low} to {int(entry.high)}"


KINDS: dict[str, tuple[Callable[[Option, Any], Any] | None, Callable[[Option], str]]] = {
    "number": (_number, _bounds),
    "integer": (_integer, _integer_bounds),
    "share": (_share, lambda entry: "a share above 0 and up to 1, or a count of inputs"),
    "choice": (_choice, lambda entry: f"one of {', '.join(entry.choices)}"),
    "part": (_part, lambda entry: f"a part, its name ({', '.join(entry.choices)}), or module:Class"),
    "flag": (_flag, lambda entry: " or ".join(["True", "False", *map(repr, entry.choices)])),
    "size": (_size, lambda entry: "a positive number of bytes or a size such as '512KB'"),
    "widths": (
        _integers(2, 2**31, range(100)),
        lambda entry: "a list of widths, integers of at least 2, such as (500,)",
    ),
    "shape": (_integers(1, 2**24, (1, 2, 3)), lambda entry: "one to three positive integers, such as (28, 28)"),
    "moving": (_moving, lambda entry: f"{_bounds(entry)}, a schedule or a function of time"),
    "text": (_text, lambda entry: "a text"),
    "rule": (None, lambda entry: "a name or a Rule, such as 'gen' or GEN(b1=0.0)"),
    "threads": (_threads, lambda entry: "a number of threads, -1 for all"),
    "weights": (
        _weights,
        lambda entry: "'balanced', or a table from labels to numbers of at least 0, such as {'rare': 10.0}",
    ),
    "seed": (None, lambda entry: f"an integer from 0 to {2**32 - 1}, a RandomState, or None"),
}
"""The kinds of options: a check that gives the value in its plain form, or None where it is not allowed; and what the
option may be in words. A rule or a random state is checked by whoever uses it."""


@dataclass(frozen=True)
class Option:
    """One option: its name, its default, and what it may be.

    Example:
        >>> Option("bits", 32, "Bits of a weight.", "integer", allowed=(8, 32)).wanted
        'one of 8, 32'

    Attributes:
        name: the same name everywhere.
        default: its value where none is given.
        description: one sentence.
        kind: one of KINDS, such as `number`, `share` (of the inputs, or a count) or `moving` (a number, a schedule or a
            function of time).
        low, high: bounds of a number, both included.
        choices: what a `choice` may be; where it is not given, the texts of the field's `Literal` type.
        allowed: what an integer may be, where there are few; likewise the integers of that type.
        auto: whether `"auto"` is allowed: chosen when the first sample is learned.
        off: whether None (`"off"` in a file) is allowed.
        of_run: whether a run may set it; the others follow from the stream and the seed.
    """

    name: str
    default: Any
    description: str
    kind: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    allowed: tuple[int, ...] = ()
    auto: bool = False
    off: bool = False
    of_run: bool = True

    @property
    def lowest(self) -> float:
        return -inf if self.low is None else self.low

    @property
    def highest(self) -> float:
        return inf if self.high is None else self.high

    def check(self, value: Any) -> Any:
        """The value in its plain form, or an error that names the value and what was expected."""
        if (self.off and value is None) or (self.auto and isinstance(value, str) and value == "auto"):
            return value
        check = KINDS[self.kind][0]
        if check is None:
            return value
        if (plain := check(self, value)) is None:
            raise self.refuse(value)
        return plain

    @property
    def wanted(self) -> str:
        """What the option may be, in words."""
        words = [KINDS[self.kind][1](self)]
        words += ["None for off"] if self.off else []
        words += ["'auto'"] if self.auto else []
        return ", or ".join(words)

    def refuse(self, value: Any) -> ConfigError:
        """The error for a value that is not allowed."""
        return ConfigError(f"{self.name} is {value!r}: expected {self.wanted}")


def option(default: Any, description: str, kind: str, **more: Any) -> Any:
    """A dataclass field that carries its `Option`.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass(frozen=True)
        ... class Mine:
        ...     leak: float = option(0.5, "Share of a weight that is lost at every step.", "number", low=0.0, high=1.0)
        >>> options_of(Mine)["leak"].wanted
        'a number from 0 to 1'
    """
    return field(default=default, metadata={"option": {"description": description, "kind": kind, **more}})


def options_of(cls: type) -> Mapping[str, Option]:
    """The options that a dataclass declares, by name; a field without a declaration is a plain number.

    Example:
        >>> from kenyon.rules import GEN
        >>> options_of(GEN)["b1"].default
        0.0
    """
    return _options_of(cls)


@cache
def _options_of(cls: type) -> Mapping[str, Option]:
    table = {}
    for entry in dataclasses.fields(cls):
        declared = dict(entry.metadata.get("option", {"description": "", "kind": "moving"}))
        literal = " ".join(re.findall(r"Literal\[([^]]*)\]", str(entry.type)))
        words = tuple(word for word in re.findall(r"[\"']([^\"']+)[\"']", literal) if word != "auto")
        numbers = tuple(int(number) for number in re.findall(r"\b\d+\b", literal))
        declared = {"choices": words, "allowed": numbers, **declared}
        default = None if entry.default is dataclasses.MISSING else entry.default
        table[entry.name] = Option(entry.name, default, **declared)
    return table


def describe(options: Mapping[str, Option]) -> str:
    """The `Args` of a docstring.

    Example:
        >>> from kenyon.rules import GEN
        >>> describe(options_of(GEN)).splitlines()[0]
        'Args:'
    """
    lines = [f"    {name}: {entry.description} Default: {entry.default!r}." for name, entry in options.items()]
    return "Args:\n    " + "\n    ".join(lines)


# ---- parts


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
        from kenyon.utils.outside import load_class

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
