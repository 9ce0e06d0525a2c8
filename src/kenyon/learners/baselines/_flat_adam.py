"""Adam on one flat vector: the parameters of a module, laid side by side.

    m <- b1 m + (1 - b1) g,  v <- b2 v + (1 - b2) g^2,  p <- p - rate * m' / (sqrt(v') + eps)

with m', v' corrected for their start at 0. A step of a small network costs a dozen operations, however many
layers it has, and its whole optimizer state is three arrays and a counter.

Reference: D. P. Kingma, J. Ba, "Adam: a method for stochastic optimization", ICLR 2015.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from kenyon.learners.baselines._devices import copy_into, to_array


class FlatAdam:
    """Owns the memory of a module's parameters and gradients, and steps them together.

    Args:
        module: its parameters become views of one vector.
        rate: learning rate.
        clip: gradients are clamped to [-clip, clip] element by element; 0 leaves them.
        decay: L2 penalty, added to the gradient.
    """

    def __init__(self, module: nn.Module, rate: float, clip: float = 0.0, decay: float = 0.0) -> None:
        parameters = list(module.parameters())
        self.rate, self.clip, self.decay = rate, clip, decay
        self.values = torch.cat([p.detach().reshape(-1) for p in parameters])
        self.gradient = torch.zeros_like(self.values)
        self.first = torch.zeros_like(self.values)
        self.second = torch.zeros_like(self.values)
        self.steps = 0
        start = 0
        for p in parameters:
            stop = start + p.numel()
            p.data = self.values[start:stop].view_as(p)
            p.grad = self.gradient[start:stop].view_as(p)
            start = stop

    def step(self, loss: torch.Tensor) -> None:
        """Backpropagate the loss into the module and change its parameters once."""
        self.gradient.zero_()
        loss.backward()
        if self.clip:
            self.gradient.clamp_(-self.clip, self.clip)
        if self.decay:
            self.gradient.add_(self.values, alpha=self.decay)
        self.steps += 1
        self.first.lerp_(self.gradient, 0.1)
        self.second.mul_(0.999).addcmul_(self.gradient, self.gradient, value=0.001)
        scale = (1.0 - 0.999**self.steps) ** 0.5
        denominator = self.second.sqrt().add_(1e-8 * scale)
        self.values.addcdiv_(self.first, denominator, value=-self.rate * scale / (1.0 - 0.9**self.steps))

    def arrays(self, prefix: str = "") -> dict[str, NDArray]:
        """Values, moments and step count as views, their names after `prefix`."""
        tensors = {"values": self.values, "first": self.first, "second": self.second}
        views: dict[str, NDArray] = {f"{prefix}{key}": to_array(tensor) for key, tensor in tensors.items()}
        return {**views, f"{prefix}steps": np.array([self.steps], dtype=np.int64)}

    def load(self, arrays: Mapping[str, NDArray], prefix: str = "") -> None:
        for key, tensor in (("values", self.values), ("first", self.first), ("second", self.second)):
            copy_into(tensor, arrays[f"{prefix}{key}"])
        self.steps = int(arrays[f"{prefix}steps"][0])
