"""Kernels of rules: functions of the core for the rules of the package, NumPy and then C for user-defined ones.

A user-defined rule begins in NumPy. After AFTER samples it is compiled, if there is a C compiler, and cached for later
processes. All of them give the same bits, so it does not matter when one takes over from the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from kenyon import core
from kenyon.rules._base import Rule
from kenyon.rules._expressions import Untranslatable
from kenyon.rules._gen import GEN
from kenyon.rules._mean import MEAN
from kenyon.rules._mse import MSE
from kenyon.rules._oja import OJA
from kenyon.rules._own import compiled, kept, source_of_rule
from kenyon.rules._programs import program
from kenyon.rules._vectorised import Vectorised
from kenyon.utils.modulation import Locals, OverCount

INSIDE: tuple[type[Rule], ...] = (GEN, OJA, MSE, MEAN)
"""The rules that are compiled into the core."""

AFTER = 2000
"""Samples after which a user-defined rule is compiled: compiling takes about as long as they do in NumPy."""

_FUNCTIONS = ("delta", "readout", "integer_step", "integer_limit", "integer_score", "counted", "gated")


class Kernels:
    """The functions of one rule, by the names of the core's entries: learn, outputs, each, integers, levels."""

    def __init__(self, functions: Mapping[str, Callable[..., int]]) -> None:
        self._functions = functions

    @property
    def how(self) -> str:
        """What they are: `core`, `numpy` or `compiled`."""
        return "core"

    def call(self, name: str, n_samples: int, *arguments: Any) -> int:
        """Call one of them for a number of samples."""
        return self._functions[name](*arguments)


class OwnKernels(Kernels):
    """Those of a rule from outside the package.

    Args:
        own: NumPy's.
        source: in C; None where it has no form in it.
    """

    def __init__(self, own: Vectorised, source: str | None) -> None:
        names = ("learn", "outputs", "each", "integers", "levels")
        super().__init__({name: getattr(own, name) for name in names})
        self._source, self._used, self._how = source, 0, "numpy"
        if source is not None:
            self._take(kept(source))

    @property
    def how(self) -> str:
        return self._how

    def call(self, name: str, n_samples: int, *arguments: Any) -> int:
        if self._source is not None and self._how == "numpy":
            self._used += n_samples
            if self._used > AFTER:
                self.compile()
        return super().call(name, n_samples, *arguments)

    def compile(self) -> bool:
        """Compile it now; False where that is impossible, and it runs in NumPy."""
        if self._source is not None and self._how == "numpy":
            self._take(compiled(self._source))
            self._source = None
        return self._how == "compiled"

    def _take(self, found: Mapping[str, Callable[..., int]] | None) -> None:
        if found is not None:
            self._functions = {name.removesuffix("_own"): function for name, function in found.items()}
            self._how = "compiled"


def kernels_of(rule: Rule, local: Locals = ()) -> Kernels:
    """The functions that learn by a rule.

    Args:
        rule: one without a window, which goes on any rule.
        local: what the learning rate and the parameters are multiplied with at each synapse.
    """
    kind: Any = type(rule)
    return _kernels(kind, local, len(rule.parameters))


@cache
def _kernels(kind: type[Rule], local: Locals, n_parameters: int) -> Kernels:
    rate, *others = local or (None,)
    in_core = rate in (None, OverCount.local) and not any(others)
    for inside in INSIDE if in_core else ():
        if all(getattr(kind, name) == getattr(inside, name) for name in _FUNCTIONS):
            name = inside.name + ("" if rate is None else "_over_count")
            found = {
                what: getattr(core, f"{what}_{name}", None)
                for what in ("learn", "outputs", "each", "integers", "levels")
            }
            return Kernels({what: function for what, function in found.items() if function is not None})
    known: Any = kind
    own = program(known, local, n_parameters)
    try:
        source = source_of_rule(own)
    except Untranslatable:
        source = None
    return OwnKernels(Vectorised(own), source)
