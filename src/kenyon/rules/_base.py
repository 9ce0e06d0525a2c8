"""What a plasticity rule is, and the table of rules by name.

A rule is the change of one synapse as a function of what that synapse can see,

    dW[i, j] = l * delta(x_e[i], x_o[j], x_m[j], W[i, j], n[j], *parameters)

with `x_e` the presynaptic and `x_o` the postsynaptic activity, `x_m` the modulatory signal (1 for
the labelled neuron, 0 for the others), `n` the number of samples the neuron was taught, this one
included (only for rules that declare `counted`), and `l` the learning rate. A rule may also say what
a synapse counts for in the neuron's output, `x_o[j] = sum over i of readout(W[i, j], ...) x_e[i]`; without it
that is the weight itself.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from kenyon.errors import ConfigError, nearest, unknown
from kenyon.utils.modulation import Schedule, check_moving
from kenyon.utils.options import Option, options_of
from kenyon.utils.outside import is_outside, load_class, same_class

RULES: dict[str, type[Rule]] = {}
"""The rules of the package, and every rule with a name that was imported since."""


@dataclasses.dataclass(frozen=True)
class Rule:
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
            what a synapse of weight `w` counts for in a neuron that was taught `n` samples (1 where there were
            none), of a layer with so many presynaptic units. The counts are then part of the state.
        signed: whether its weights may be negative. Few-bit weights that are not have twice the levels.
        whole_step: where the rule can learn weights of few bits, a static method `whole_step(z, q, n, *constants)` in
            whole numbers of 64 bits: the change of the level q of a synapse at `x_e` = 1, in 2^-16 levels, with z the
            neuron's score before the sample. It is scaled by `x_e`, so the rule has to be proportional to it.
        whole_limit: `whole_limit(n, top)`, the highest weight that is read in levels; where it passes the top level,
            the neuron's levels are halved and stand for twice as much. None: levels stay what they are.
        whole_score: `whole_score(z, n)`, the score from the sum of the weights that are read; None: that sum.

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
    whole_step: ClassVar[Callable[..., int] | None] = None
    whole_limit: ClassVar[Callable[..., int] | None] = None
    whole_score: ClassVar[Callable[..., int] | None] = None

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
            low = -math.inf if entry.low is None else entry.low
            high = math.inf if entry.high is None else entry.high
            value = getattr(self, key)
            if self.readout is not None and callable(value):
                raise ConfigError(f"{self.name}.{key} is {value!r}: expected a number, since a readout does not move")
            check_moving(f"{self.name}.{key}", value, low, high)

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

    def whole_constants(self, level: float, rate: float, fraction: int) -> tuple[int, ...]:
        """What `whole_step` takes, worked out once.

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


def rule_class(name: Any) -> type[Rule]:
    """The class of a rule: a name of the table, `module:Class` or `file.py:Class`.

    Example:
        >>> rule_class("oja")
        <class 'kenyon.rules._oja.OJA'>
    """
    if is_outside(name):
        found = load_class(name, "rule")
        if not issubclass(found, Rule):
            raise ConfigError(f"rule = {name!r}: expected a subclass of kenyon.rules.Rule")
        return found
    if not isinstance(name, str):
        raise ConfigError(f"rule is {name!r}: expected a name or a Rule, such as 'gen' or GEN(b1=0.0)")
    if name.lower() not in RULES:
        raise unknown("rule", name, RULES)
    return RULES[name.lower()]


def get_rule(rule: str | Rule) -> Rule:
    """A rule by name (with its default parameters), or the rule itself.

    Example:
        >>> get_rule("gen")
        GEN(b1=0.0, b2=-1.0)
    """
    return rule if isinstance(rule, Rule) else rule_class(rule)()


def make_rule(name: str, parameters: Mapping[str, Any]) -> Rule:
    """A rule from a configuration: its name and its parameters by name.

    Example:
        >>> make_rule("oja", {"b1": 2.0})
        OJA(b1=2.0)
    """
    cls = rule_class(name)
    allowed = options_of(cls)
    for key in parameters:
        if key not in allowed:
            raise ConfigError(
                f"rule {name!r} has no parameter {key!r}: it has {', '.join(allowed) or 'none'}{nearest(key, allowed)}"
            )
    return cls(**parameters)


def rule_options(rule: str | Rule) -> dict[str, Option]:
    """The parameters of a rule as options: its own, and `beta`, the window that can be put on any rule.

    Example:
        >>> rule_options("gen")["b2"].default
        -1.0
    """
    full = get_rule(rule)
    inside = full.plasticity
    table = options_of(type(inside))
    own = {key: dataclasses.replace(entry, default=getattr(inside, key)) for key, entry in table.items()}
    window = dataclasses.replace(options_of(RULES["inel"])["beta"], default=full.window, off=True)
    return {"beta": window} | own if "beta" in own else own | {"beta": window}


def rule_from_options(rule: str | Rule, own: Mapping[str, Any]) -> Rule:
    """A rule with parameters given by plain options; `beta` puts a window on a rule that has none.

    Args:
        own: parameters by name; `"off"` and None leave a parameter at its default. `rule_params`, a table of
            parameters by name, is how older configurations gave those of rules from outside the package.

    Example:
        >>> rule_from_options("gen", {"b2": -0.5, "beta": 30.0})
        INEL(beta=30.0, rule=GEN(b1=0.0, b2=-0.5))
    """
    older = own.get("rule_params") or {}
    given = {key: value for key, value in {**own, **older}.items() if key != "rule_params"}
    given = {key: value for key, value in given.items() if value is not None and value != "off"}
    if isinstance(rule, Rule):
        if given:
            raise ConfigError(f"rule is {rule!r}: expected a name where {', '.join(given)} is given beside it")
        return rule
    if "beta" in given and "beta" not in options_of(rule_class(rule)):
        return RULES["inel"](given.pop("beta"), make_rule(rule, given))  # type: ignore[call-arg]
    return make_rule(rule, given)
