"""MSE, the non-Hebbian rule: the postsynaptic error drives the active synapses.

    dW[i, j] = l * (x_m[j] - x_o[j]) * x_e[i]

It is the delta rule, a gradient step on (x_m - x_o)^2 / 2. With `x_e` of unit length it is stable
for 0 < l < 2.

Reference: Hige et al., "Heterosynaptic plasticity underlies aversive olfactory learning in
Drosophila", Neuron 88, 2015; Widrow and Hoff, "Adaptive switching circuits", 1960.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kenyon.rules._base import Rule


@dataclass(frozen=True)
class MSE(Rule):
    """dW = l (x_m - x_o) x_e.

    Example:
        >>> MSE.delta(x_e=0.5, x_o=0.5, x_m=1.0, w=0.0)
        0.25
    """

    name: ClassVar[str] = "mse"
    learning_rate: ClassVar[float] = 0.15

    @staticmethod
    def delta(x_e, x_o, x_m, w):  # type: ignore[no-untyped-def,override]
        return (x_m - x_o) * x_e
