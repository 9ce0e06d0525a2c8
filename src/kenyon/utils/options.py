"""Options, each declared once as a field of a dataclass: its default, what it may be, and what it means.

The parts of a model and the classifier declare theirs by `option`. Constructors, the command line, configuration
files, presets, the search and the documentation all read them off the dataclasses.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from kenyon.errors import ConfigError
from kenyon.utils.kinds import CHECKS, WANTED

__all__ = ["Option", "describe", "option", "options_of"]


@dataclass(frozen=True)
class Option:
    """One option: what it is called, what it may be, what it means.

    Example:
        >>> Option("bits", 32, "Bits of a weight.", "whole", allowed=(8, 32)).wanted
        'one of 8, 32'

    Attributes:
        name: the same name everywhere.
        default: its value where none is given.
        meaning: one sentence.
        kind: `number`, `whole`, `share` (of the inputs, or a count), `choice`, `flag`, `size`, `widths`, `moving`
            (a number, a schedule or a function of time), `weights` (a number for each label), `rule`, `text` or `part`.
        low, high: bounds of a number, both included.
        choices: what a `choice` may be.
        allowed: what a whole number may be, where there are few.
        auto: whether `"auto"` is allowed: settled when the first sample is learned.
        off: whether None (`"off"` in a file) is allowed.
        of_run: whether a run may set it; the others follow from the stream and the seed.
    """

    name: str
    default: Any
    meaning: str
    kind: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    allowed: tuple[int, ...] = ()
    auto: bool = False
    off: bool = False
    of_run: bool = True

    def check(self, value: Any) -> Any:
        """The value in its plain form, or an error that names the value seen and the values wanted."""
        if (self.off and value is None) or (self.auto and isinstance(value, str) and value == "auto"):
            return value
        return CHECKS[self.kind](self, value)

    @property
    def wanted(self) -> str:
        """What the option may be, in words."""
        words = [WANTED[self.kind](self)]
        words += ["None for off"] if self.off else []
        words += ["'auto'"] if self.auto else []
        return ", or ".join(words)

    def refuse(self, value: Any) -> ConfigError:
        """The error for a value that it cannot be."""
        return ConfigError(f"{self.name} is {value!r}: expected {self.wanted}")


def option(default: Any, meaning: str, kind: str, **more: Any) -> Any:
    """A dataclass field that carries its `Option`.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass(frozen=True)
        ... class Mine:
        ...     leak: float = option(0.5, "Share of a weight that is lost at every step.", "number", low=0.0, high=1.0)
        >>> options_of(Mine)["leak"].wanted
        'a number from 0 to 1'
    """
    return field(default=default, metadata={"option": {"meaning": meaning, "kind": kind, **more}})


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
        declared = entry.metadata.get("option", {"meaning": "", "kind": "moving"})
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
    lines = [f"    {name}: {entry.meaning} Default: {entry.default!r}." for name, entry in options.items()]
    return "Args:\n    " + "\n    ".join(lines)
