"""A rule as a user would add it: Hebb's rule with a decay that pulls a labelled neuron's active synapses to 0.

It can be learned in few bits and in integers too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kenyon.rules import Rule


@dataclass(frozen=True)
class Leaky(Rule):
    """dW = l x_m x_e (1 - leak w)."""

    name: ClassVar[str] = "leaky"
    gated: ClassVar[bool] = True
    leak: float = 0.5

    @staticmethod
    def delta(x_e, x_o, x_m, w, leak):  # type: ignore[no-untyped-def,override]
        return x_m * x_e * (1 - leak * w)

    @staticmethod
    def integer_step(z, q, n, rate, decay):  # type: ignore[no-untyped-def,override]
        return rate - decay * q

    def integer_constants(self, level: float, rate: float, fraction: int) -> tuple[int, ...]:
        return round(rate / level * 2**16), round(rate * self.leak * 2**16)
