"""A hidden layer that learns what its own fixed readout of the classes gets wrong.

    x_o = W^T x_e,   h = ReLU(x_o),   e[c] = y[c] - sum_j B[c, j] h[j]
    W[i, j] = W[i, j] + l x_e[i] sum_c B[c, j] e[c]    where x_o[j] > 0

B is random and fixed: for each class half of the entries are +1 / sqrt(width), the others -1 / sqrt(width). The first
weights are even between -sqrt(3 / width) and sqrt(3 / width).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.reference._activity import Active, in_order
from kenyon.reference._random import Generator, code


class LocalError:
    """A hidden layer; arguments as in `_plastic.py`."""

    def __init__(self, n_units: int, width: int, seed: int, spec: Any) -> None:
        generator, self.seed, self.rate = Generator(seed), seed, np.float32(spec.hidden.rate)
        steps = [[(generator.word() >> 40) - 2**23 for _ in range(width)] for _ in range(n_units)]
        self.weights = np.array(steps, np.float32) / np.float32(2**23) * np.float32(np.sqrt(3 / width))
        self.readout = np.zeros((0, width), np.float32)

    def add_class(self) -> None:
        n_classes, width = self.readout.shape
        signs = 2 * np.array(code(self.seed, n_classes, width), np.float32) - 1
        self.readout = np.vstack([self.readout, signs / np.sqrt(np.float32(width))])

    def outputs(self, x: Active) -> NDArray[np.float32]:
        return in_order(self.weights[x[0]] * x[1][:, np.newaxis])

    def learn(self, x: Active, label: int, plastic: Sequence[int], beta: Sequence[np.float32]) -> int:
        x_o = self.outputs(x)
        h = np.maximum(x_o, 0)
        error = np.eye(len(self.readout), dtype=np.float32)[label] - in_order((self.readout * h).T)
        signal = np.where(x_o > 0, in_order(self.readout * error[:, np.newaxis]), np.float32(0))
        for i, x_e in zip(*x, strict=True):
            self.weights[i] += self.rate * x_e * signal
        return len(x[0]) * len(x_o)

    def arrays(self) -> dict[str, NDArray]:
        return {"weights": self.weights}
