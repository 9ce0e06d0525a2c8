"""Online elastic weight consolidation. Schwarz et al., "Progress & Compress", ICML 2018, section 3.3, after Kirkpatrick
et al., 2017; the running estimate within a task as in Chaudhry et al., "Riemannian Walk", ECCV 2018.

    L = CE + (strength / 2) * sum_i F_i (theta_i - theta*_i)^2
    at a boundary:   F <- gamma F + F_task,   theta* <- theta
    within a task:   F_task <- decay F_task + (1 - decay) B g^2

g is the gradient of the batch's mean loss at the true labels; B times its square estimates the mean squared gradient
of single samples, the empirical Fisher information, without a second pass over samples that are gone.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F

from kenyon.baselines._anchor import Anchored
from kenyon.baselines._trainer import Batch
from kenyon.protocol import StreamInfo


class OnlineEWC(Anchored):
    """Importance = running Fisher information.

    Args:
        info: what is known of the stream.
        seed: of the initial weights.
        strength: of the penalty.
        gamma: how much of the older tasks' importance stays at a boundary.
        decay: of the running mean within a task; 0.99 looks back about 100 batches, so the estimate belongs to
            weights near those the task ended with.
        common: the options of `Trainer`.
    """

    name = "online-ewc"
    defaults: ClassVar[dict[str, float]] = {"lr": 0.03, "strength": 1000.0}

    def __init__(self, info: StreamInfo, seed: int, *, gamma: float = 1.0, decay: float = 0.99, **common: Any) -> None:
        super().__init__(info, seed, **common)
        self.gamma, self.decay = gamma, decay
        self.fisher = self.keep("fisher", [torch.zeros_like(p) for p in self.params])

    def step(self, batch: Batch) -> Tensor:
        logits = self.logits(batch.x, batch.task)
        gradients = self.gradient(F.cross_entropy(logits, batch.y))
        for f, g in zip(self.fisher, gradients, strict=True):
            f.mul_(self.decay).addcmul_(g, g, value=(1 - self.decay) * len(batch.y))
        self.apply(gradients)
        self.pull()
        return logits

    def boundary(self, last: bool) -> None:
        for importance, f in zip(self.importance, self.fisher, strict=True):
            importance.mul_(self.gamma).add_(f)
            f.zero_()
        self.set_anchor()
