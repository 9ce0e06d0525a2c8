"""What a plasticity rule is, and the table of rules by name.

A rule is the change of one synapse as a function of what that synapse can see,

    dW[i, j] = l * delta(x_e[i], x_o[j], x_m[j], W[i, j], *parameters)

with `x_e` the presynaptic and `x_o` the postsynaptic activity, `x_m` the modulatory signal (1 for
the labelled neuron, 0 for the others), and `l` the learning rate.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, ClassVar

from kenyon.errors import ConfigError, nearest, unknown
from kenyon.modulation import Schedule, check_moving

RULES: dict[str, type[Rule]] = {}


@dataclasses.dataclass(frozen=True)
class Rule:
    """Base of every rule. Subclass it as a frozen dataclass whose fields are the parameters.

    Class attributes:
        name: how the rule is looked up; setting it enters the rule in the table.
        gated: True if a neuron whose `x_m` is 0 never changes. Only labelled neurons are visited.
        initial_weight: weights of a neuron that has not learned yet.
        learning_rate, clamp: what `"auto"` means for this rule (clamp None: not needed).
        sharpness: scale of the outputs in a softmax that makes them probabilities.
    """

    name: ClassVar[str] = ""
    gated: ClassVar[bool] = False
    initial_weight: ClassVar[float] = 0.0
    learning_rate: ClassVar[float] = 0.1
    clamp: ClassVar[float | None] = None
    sharpness: ClassVar[float] = 10.0

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" in cls.__dict__:
            holder = RULES.get(cls.name)
            if holder is not None and (holder.__module__, holder.__qualname__) != (cls.__module__, cls.__qualname__):
                raise ConfigError(f"the rule name {cls.name!r} is taken by {holder.__module__}.{holder.__qualname__}")
            RULES[cls.name] = cls

    def __post_init__(self) -> None:
        for key, value in self.parameters.items():
            check_moving(f"{self.name}.{key}", value, -math.inf, math.inf)

    @staticmethod
    def delta(x_e: float, x_o: float, x_m: float, w: float, *parameters: float) -> float:
        """Change of one synapse at learning rate 1. Compiled: plain arithmetic on numbers."""
        raise NotImplementedError

    @property
    def event_driven(self) -> bool:
        """True if synapses with `x_e = 0` never change. Only active ones are visited."""
        return True

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
    """A rule by name (with its default parameters), or the rule itself."""
    if isinstance(rule, Rule):
        return rule
    if not isinstance(rule, str):
        raise ConfigError(f"rule is {rule!r}: expected a name or a Rule, such as 'gen' or GEN(b1=0.0)")
    if rule.lower() not in RULES:
        raise unknown("rule", rule, RULES)
    return RULES[rule.lower()]()


def make_rule(name: str, parameters: dict[str, Any]) -> Rule:
    """A rule from a configuration: its name and its parameters by name."""
    if name.lower() not in RULES:
        raise unknown("rule", name, RULES)
    cls = RULES[name.lower()]
    allowed = [field.name for field in dataclasses.fields(cls)]
    for key in parameters:
        if key not in allowed:
            raise ConfigError(
                f"rule {name!r} has no parameter {key!r}: it has {', '.join(allowed) or 'none'}{nearest(key, allowed)}"
            )
    return cls(**parameters)
