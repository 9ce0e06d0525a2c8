"""What can be learned in few bits, and what of it in integers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from kenyon.errors import ConfigError
from kenyon.rules import RULES, Rule
from kenyon.utils.modulation import Moving

BITS = (8, 4, 3, 2)

MOST_COUNT = 2**31 - 1
"""Samples that a neuron can count."""

LARGEST_SCORE = 2**22
MOST_FRACTION = 12


def fraction_of(n_inputs: int, top: int) -> int:
    """Bits of a score's fraction: as many as keep every score below LARGEST_SCORE."""
    largest = top * math.sqrt(n_inputs) * 17 / 16  # 1/16: the length of a sample is rounded down
    return max(0, min(MOST_FRACTION, math.floor(math.log2(LARGEST_SCORE / largest))))


def parts_of(bits: int, limit: Callable[..., int] | None) -> int:
    """Bits of the fraction with which a limit in levels is taken, where the rule has one."""
    return max(0, 7 - bits) if limit is not None else 0


def check_bits(bits: Any) -> None:
    """Refuse numbers of bits that a weight cannot have."""
    if isinstance(bits, bool) or bits not in BITS:
        raise ConfigError(f"bits is {bits!r}: expected {', '.join(map(str, BITS))}, or 32 for weights in float32")


def check_rule(rule: Rule) -> None:
    """Refuse rules that cannot be learned in few bits."""
    able = ", ".join(sorted(name for name, cls in RULES.items() if cls.integer_step is not None))
    if rule.window is not None or rule.integer_step is None:
        raise ConfigError(f"rule is {rule!r}, which cannot learn weights of few bits: expected one of {able}")
    if not rule.event_driven or not rule.gated:
        raise ConfigError(
            f"rule is {rule!r}, which changes synapses without activity: weights of few bits need a rule that leaves "
            "them as they are, such as GEN(b1=0.0)"
        )


def check_integers(rule: Rule, rate: Moving, n_inputs: int, largest: int) -> None:
    """Refuse what cannot be learned in integers.

    Args:
        largest: the most that a synapse counts for in a sum.
    """
    numbers = {"learning_rate": rate, **{f"{rule.name}.{key}": value for key, value in rule.parameters.items()}}
    for name, value in numbers.items():
        if callable(value):
            raise ConfigError(f"{name} is {value!r}: expected a number, since integers are learned with constants")
    most = (2**31 - 1) // (255 * largest)
    if n_inputs > most:
        raise ConfigError(f"the layer has {n_inputs:,} units: expected at most {most:,}, whose sums fit into 32 bits")
