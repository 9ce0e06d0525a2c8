"""MEAN, the counting rule: a neuron keeps the mean activity of its class, read through synapses that saturate.

    dS[i, j] = l * x_m[j] * x_e[i],   m[i, j] = S[i, j] / n[j]
    x_o[j]   = sum over i of min(m[i, j], cap / sqrt(N)) * x_e[i]

with `n` the samples that the neuron has learned and N the units of the layer. For l = 1 this is the mean that the
step m += x_m (x_e - m) / n arrives at, a rate that falls with the neuron's own history; keeping the sum leaves
synapses without activity as they are. Nothing learned later takes anything away, and a class with twenty samples is
as loud as one with twenty thousand. Units that answer to most samples of a class count no more than those that
answer to some, so that scores add up evidence and do not compare brightness.

`1 / sqrt(N)` is the activity of a unit where all N share a sample of length 1 equally. Held-out samples of MNIST were
classified best with a cap of 0.2 to 0.4, with 1,000 to 10,000 units.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

from kenyon.rules._base import Rule
from kenyon.rules._integers import rounded
from kenyon.utils.options import option


@dataclass(frozen=True)
class MEAN(Rule):
    """dS = l x_m x_e, read as min(S / n, cap / sqrt(units)).

    Example:
        >>> MEAN.readout(w=6.0, n=3, units=100, cap=1.0)
        0.1
    """

    name: ClassVar[str] = "mean"
    gated: ClassVar[bool] = True
    additive: ClassVar[bool] = True
    learning_rate: ClassVar[float] = 1.0
    signed: ClassVar[bool] = False
    sharpness: ClassVar[float] = 400.0  # no output passes cap

    cap: float = option(
        0.3,
        "Most that a synapse counts for, as a share of a unit's mean activity.",
        "number",
        low=1e-6,
    )

    @staticmethod
    def delta(x_e, x_o, x_m, w, cap):  # type: ignore[no-untyped-def,override]
        return x_m * x_e

    @staticmethod
    def readout(w, n, units, cap):  # type: ignore[no-untyped-def]
        return min(w / n, cap / sqrt(units))

    def level(self, clamp: float, top: int, units: int) -> float:
        return self.cap / sqrt(units) / top

    @staticmethod
    def integer_step(z, q, n, each):  # type: ignore[no-untyped-def]
        return each

    @staticmethod
    def integer_limit(n, top):  # type: ignore[no-untyped-def]
        return n * top

    @staticmethod
    def integer_score(z, n):  # type: ignore[no-untyped-def]
        return z // n

    def integer_constants(self, level: float, rate: float, fraction: int) -> tuple[int, ...]:
        return (rounded(rate / level * 2.0**16, 34),)
