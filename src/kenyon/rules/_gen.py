"""GEN, the generalised Hebbian rule: a modulated covariance rule.

    dW[i, j] = l * x_m[j] * (x_e[i] - b1) * (x_o[j] - b2)

`x_m` gates: only the labelled neuron learns, so a class is never unlearned by the others. The rule is
unstable by itself and needs a clamp. With b1 = 0 and b2 = -1 the first steps store the mean
pattern of a class (`x_o` starts at 0), and the clamp turns it into a set of saturated synapses. That
tells classes apart only where few units are active at a time: with dense activity, such as a hidden
layer's, all synapses saturate and all classes look the same, so GEN refuses hidden layers below it.

Reference: Madireddy, Yanguas-Gil and Balaprakash, section 3.3; the covariance rule goes back to
Sejnowski, "Storing covariance with nonlinearly interacting neurons", J. Math. Biology 4, 1977.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kenyon.rules._base import Rule
from kenyon.rules._integers import as_shifted, rounded
from kenyon.utils.modulation import Moving
from kenyon.utils.options import option


@dataclass(frozen=True)
class GEN(Rule):
    """dW = l x_m (x_e - b1) (x_o - b2).

    Example:
        >>> GEN(b2=-0.5).delta(x_e=0.5, x_o=0.0, x_m=1.0, w=0.0, b1=0.0, b2=-0.5)
        0.25
    """

    name: ClassVar[str] = "gen"
    gated: ClassVar[bool] = True
    sparse: ClassVar[bool] = True
    learning_rate: ClassVar[float] = 0.02
    clamp: ClassVar[float | None] = 0.1
    sharpness: ClassVar[float] = 60.0  # its outputs compete at a tenth of their size

    b1: Moving = option(0.0, "Presynaptic offset; with 0 only active synapses change, which is much faster.", "moving")
    b2: Moving = option(-1.0, "Postsynaptic offset; negative, so that a neuron at rest can start to learn.", "moving")

    @staticmethod
    def delta(x_e, x_o, x_m, w, b1, b2):  # type: ignore[no-untyped-def,override]
        return x_m * (x_e - b1) * (x_o - b2)

    @staticmethod
    def integer_step(z, q, n, offset, rate, shift):  # type: ignore[no-untyped-def]
        return ((z - offset) * rate) >> shift

    def integer_constants(self, level: float, rate: float, fraction: int) -> tuple[int, ...]:
        offset = rounded(float(self.b2) / level * 2.0**fraction, 41)  # type: ignore[arg-type]
        return offset, *as_shifted(rate * 2.0 ** (16 - fraction))

    @property
    def event_driven(self) -> bool:
        return self.b1 == 0
