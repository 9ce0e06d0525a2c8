"""Synaptic intelligence (SI). Zenke, Poole & Ganguli, "Continual Learning Through Synaptic Intelligence", ICML 2017.

    L = CE + (strength / 2) * sum_i Omega_i (theta_i - theta*_i)^2
    every step:      omega_i <- omega_i - g_i * delta theta_i        (g: gradient of CE alone)
    at a boundary:   Omega_i <- max(Omega_i + omega_i / ((theta_i - theta*_i)^2 + xi), 0),  omega <- 0,  theta* <- theta

`strength` is 2c in the notation of the paper. A task may lower the importance that an earlier one gave; the sum is
kept from falling below 0, as in the authors' implementation.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F

from kenyon.data.protocol import StreamInfo
from kenyon.learners.baselines._anchor import Anchored
from kenyon.learners.baselines._trainer import Batch, positive


class SI(Anchored):
    """The importance of a weight is how much its changes during the task lowered the loss.

    Args:
        strength: of the penalty.
        xi: keeps the importance of weights that hardly moved finite.
    """

    name = "si"
    defaults: ClassVar[dict[str, float]] = {"lr": 0.1, "strength": 2.0}

    def __init__(self, info: StreamInfo, seed: int, *, xi: float = 0.1, **common: Any) -> None:
        super().__init__(info, seed, **common)
        self.xi = positive("xi", xi)
        self.credit = self.keep("credit", [torch.zeros_like(p) for p in self.params])

    def step(self, batch: Batch) -> Tensor:
        logits = self.logits(batch.x, batch.task)
        gradients = self.gradient(F.cross_entropy(logits, batch.y))
        before = [p.detach().clone() for p in self.params]
        self.apply(gradients)
        self.pull()
        with torch.no_grad():
            for c, g, b, p in zip(self.credit, gradients, before, self.params, strict=True):
                c.addcmul_(g, b.sub_(p))
        return logits

    def boundary(self, last: bool) -> None:
        with torch.no_grad():
            for importance, c, p, a in zip(self.importance, self.credit, self.params, self.anchor, strict=True):
                importance.add_(c / ((p - a) ** 2 + self.xi)).clamp_(min=0)
                c.zero_()
        self.set_anchor()
