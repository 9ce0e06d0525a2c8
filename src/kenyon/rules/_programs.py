"""A rule read into expressions, once for each rule and learning rate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from inspect import signature
from typing import Any

from kenyon.errors import ConfigError
from kenyon.rules._base import Rule
from kenyon.rules._expressions import Node, Untranslatable
from kenyon.rules._reading import read
from kenyon.rules._source import Program, device_functions_of, program_of
from kenyon.utils.modulation import Locals


def function_of(kind: type[Rule], local: Locals, name: str) -> Callable[..., float] | None:
    """A function of a rule; `local 0` is that of the learning rate, `local 1` of the window, then of its parameters."""
    word, _, number = name.partition(" ")
    if word != "local":
        return getattr(kind, name)
    return local[int(number)] if int(number) < len(local) else None


@cache
def program(kind: type[Rule], local: Locals, n_parameters: int) -> Program:
    """The expressions of a rule; refuses one that is no plain arithmetic.

    Args:
        kind: the class of the rule.
        local: what the learning rate and the parameters are multiplied with at each synapse.
        n_parameters: how many the rule has.
    """

    def reading(name: str, arguments: Sequence[Node]) -> Node | None:
        function = function_of(kind, local, name)
        if function is None:
            return None
        try:
            return read(function, arguments)
        except Untranslatable as error:
            raise ConfigError(f"{name} of the rule {kind.__name__} cannot be compiled: {error}") from error

    n_constants = 0 if kind.integer_step is None else len(signature(kind.integer_step).parameters) - 3
    return program_of(reading, kind.gated, kind.counted, n_parameters, n_constants)


def device_functions(rule: Rule, constants: Sequence[int]) -> list[str]:
    """The integer functions of a rule in C, for a device: its step, and its limit and its score if it has them.

    Args:
        constants: those that `integer_step` takes.
    """
    kind: Any = type(rule)
    return device_functions_of(program(kind, (), len(rule.parameters)), constants)
