"""OJA, Hebb's rule with a first-order loss that normalises the weights.

    dW[i, j] = l * x_m[j] * (x_e[i] * x_o[j] - b1 * x_o[j]^2 * W[i, j])

W = 0 is a fixed point, so a neuron starts from small positive weights. The loss term acts on every
synapse of the labelled neuron, active or not.

Reference: Oja, "Simplified neuron model as a principal component analyzer", J. Math. Biology 15, 1982.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kenyon.rules._base import Rule
from kenyon.utils.modulation import Moving
from kenyon.utils.options import option


@dataclass(frozen=True)
class OJA(Rule):
    """dW = l x_m (x_e x_o - b1 x_o^2 W).

    Example:
        >>> OJA().delta(x_e=1.0, x_o=0.5, x_m=1.0, w=0.5, b1=1.0)
        0.375
    """

    name: ClassVar[str] = "oja"
    gated: ClassVar[bool] = True
    initial_weight: ClassVar[float] = 0.01
    learning_rate: ClassVar[float] = 0.02

    b1: Moving = option(1.0, "Strength of the loss; the weight vector settles near length 1 / sqrt(b1).", "moving")

    @staticmethod
    def delta(x_e, x_o, x_m, w, b1):  # type: ignore[no-untyped-def,override]
        return x_m * (x_e * x_o - b1 * x_o * x_o * w)

    @property
    def event_driven(self) -> bool:
        return self.b1 == 0
