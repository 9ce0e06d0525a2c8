"""What a plasticity rule is, and the table of rules by name.

A rule is the change of one synapse as a function of what that synapse can see,

    dW[i, j] = l * delta(x_e[i], x_o[j], x_m[j], W[i, j], n[j], *parameters)

with `x_e` the presynaptic and `x_o` the postsynaptic activity, `x_m` the modulatory signal (1 for
the labelled neuron, 0 for the others), `n` the number of samples the neuron has learned, this one
included (only for rules that declare `counted`), and `l` the learning rate. A rule may also say what
a synapse counts for in the neuron's output, `x_o[j] = sum over i of readout(W[i, j], ...) x_e[i]`; without it
that is the weight itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

from kenyon.errors import ConfigError
from kenyon.utils.modulation import Schedule
from kenyon.utils.options import Part, options_of, part_named
from kenyon.utils.outside import same_class

RULES: dict[str, type[Rule]] = {}
"""The rules of the package, and every rule with a name that was imported since."""


@dataclasses.dataclass(frozen=True)
class Rule(Part):
    """Base of every rule. Subclass it as a frozen dataclass whose fields are the parameters.

    Class attributes:
        name: how the rule is looked up; setting it enters the rule in the table.
        gated: True if a neuron whose `x_m` is 0 never changes. Only labelled neurons are visited.
        additive: True if `delta` depends on `x_e` and `x_m` alone: a weight is then a sum of what each sample adds by
            itself, and two models that learned parts of a stream add up to the one that learned all of it.
        sparse: True if the rule works on sparse activity alone: hidden layers below it are refused.
        counted: True if `delta` also takes `n`, after `w`. The counts are then part of the state.
        initial_weight: weights of a neuron that has not learned yet.
        learning_rate, clamp: what `"auto"` means for this rule (clamp None: not needed).
        sharpness: scale of the outputs in a softmax that makes them probabilities.
        readout: where it is not the weight itself that is read, a static method `readout(w, n, units, *parameters)`:
            what a synapse of weight `w` counts for in a neuron that has learned `n` samples (1 where there were
            none), of a layer with `units` presynaptic units. The counts are then part of the state.
        signed: whether its weights may be negative. Few-bit weights that are not have twice the levels.
        integer_step: where the rule can learn weights of few bits, a static method `integer_step(z, q, n, *constants)`
            in integers of 64 bits: the change of the level q of a synapse at `x_e` = 1, in 2^-16 levels, with z the
            neuron's score before the sample. It is scaled by `x_e`, so the rule has to be proportional to it.
        integer_limit: `integer_limit(n, top)`, the highest weight that is read in levels; where it passes the top
            level, the neuron's levels are halved and stand for twice as much. None: levels stay what they are.
        integer_score: `integer_score(z, n)`, the score from the sum of the weights that are read; None: that sum.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass(frozen=True)
        ... class Hebb(Rule):
        ...     gated = True
        ...     clamp = 0.1
        ...     @staticmethod
        ...     def delta(x_e, x_o, x_m, w):
        ...         return x_m * x_e
        >>> Hebb().parameters
        {}
    """

    name: ClassVar[str] = ""
    gated: ClassVar[bool] = False
    additive: ClassVar[bool] = False
    sparse: ClassVar[bool] = False
    counted: ClassVar[bool] = False
    initial_weight: ClassVar[float] = 0.0
    learning_rate: ClassVar[float] = 0.1
    clamp: ClassVar[float | None] = None
    sharpness: ClassVar[float] = 10.0
    readout: ClassVar[Callable[..., float] | None] = None
    signed: ClassVar[bool] = True
    integer_step: ClassVar[Callable[..., int] | None] = None
    integer_limit: ClassVar[Callable[..., int] | None] = None
    integer_score: ClassVar[Callable[..., int] | None] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" in cls.__dict__:
            holder = RULES.get(cls.name)
            if holder is not None and not same_class(holder, cls):
                raise ConfigError(f"the rule name {cls.name!r} is taken by {holder.__module__}.{holder.__qualname__}")
            if holder is None or holder.__module__ == cls.__module__:  # the first import of a file keeps the name
                RULES[cls.name] = cls

    def __post_init__(self) -> None:
        for key, entry in options_of(type(self)).items():
            value = getattr(self, key)
            if self.readout is not None and callable(value):
                raise ConfigError(f"{self.name}.{key} is {value!r}: expected a number; readouts take no schedules")
            dataclasses.replace(entry, name=f"{self.name}.{key}").check(value)

    @staticmethod
    def delta(x_e: float, x_o: float, x_m: float, w: float, *parameters: float) -> float:
        """Change of one synapse at learning rate 1. Compiled: plain arithmetic on numbers."""
        raise NotImplementedError

    @property
    def event_driven(self) -> bool:
        """True if synapses with `x_e = 0` never change. Only active ones are visited."""
        return True

    def level(self, clamp: float, top: int, units: int) -> float:
        """The weight of one level where weights have few bits.

        Args:
            clamp: the largest weight, infinite where there is none.
            top: the highest level.
            units: presynaptic units of the layer.
        """
        return clamp / top

    def integer_constants(self, level: float, rate: float, fraction: int) -> tuple[int, ...]:
        """What `integer_step` takes, worked out once.

        Args:
            level: the weight of one level.
            rate: the learning rate.
            fraction: bits of a score's fraction: a score of 2^fraction is an output of one level.
        """
        raise NotImplementedError

    @property
    def parameters(self) -> dict[str, float | Schedule | Callable[[int], float]]:
        """The values passed to `delta`, in order."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @property
    def window(self) -> float | Schedule | Callable[[int], float] | None:
        """INEL's beta where the rule has a plasticity window."""
        return None

    @property
    def plasticity(self) -> Rule:
        """The rule whose `delta` is applied (another one where this rule is a window on it)."""
        return self


def get_rule(rule: str | Rule) -> Rule:
    """A rule by name (with its default parameters), `module:Class` or `file.py:Class`; or the rule itself.

    Example:
        >>> get_rule("gen")
        GEN(b1=0.0, b2=-1.0)
    """
    return part_named(rule, RULES, Rule, "rule")
