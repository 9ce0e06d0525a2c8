"""Online elastic weight consolidation. Schwarz et al., "Progress & Compress", ICML 2018, section 3.3, after Kirkpatrick
et al., 2017; the running estimate within a task as in Chaudhry et al., "Riemannian Walk", ECCV 2018.

    L = CE + (strength / 2) * sum_i F_i (theta_i - theta*_i)^2
    at a boundary:   F <- gamma F + F_task,   theta* <- theta
    within a task:   F_task <- decay F_task + (1 - decay) mean_i g_i^2

g_i is the gradient of the loss of sample i of the batch at its true label, so F_task is the empirical Fisher
information. The original takes it in a second pass over the task, at the weights that the task ended with; samples
are gone by then, so a running mean stands in for it, which forgets within about 100 batches.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F

from kenyon.data.protocol import StreamInfo
from kenyon.learners.baselines._anchor import Anchored
from kenyon.learners.baselines._squares import squared_gradients
from kenyon.learners.baselines._trainer import Batch


class OnlineEWC(Anchored):
    """Importance = running Fisher information.

    Args:
        strength: of the penalty.
        gamma: how much of the older tasks' importance stays at a boundary.
        decay: of the running mean within a task; 0.99 looks back about 100 batches, so the estimate belongs to
            weights near those the task ended with.
    """

    name = "online-ewc"
    defaults: ClassVar[dict[str, float]] = {"lr": 0.03, "strength": 1000.0}

    def __init__(self, info: StreamInfo, seed: int, *, gamma: float = 1.0, decay: float = 0.99, **common: Any) -> None:
        super().__init__(info, seed, **common)
        self.gamma, self.decay = gamma, decay
        self.fisher = self.keep("fisher", [torch.zeros_like(p) for p in self.params])

    def step(self, batch: Batch) -> Tensor:
        squares = squared_gradients(self.net, partial(self._losses, batch))
        for f, square in zip(self.fisher, squares, strict=True):
            f.mul_(self.decay).add_(square, alpha=1 - self.decay)
        logits = self.logits(batch.x, batch.task)
        self.apply(self.gradient(F.cross_entropy(logits, batch.y)))
        self.pull()
        return logits

    def _losses(self, batch: Batch) -> Tensor:
        return F.cross_entropy(self.logits(batch.x, batch.task), batch.y, reduction="none")

    def boundary(self, last: bool) -> None:
        for importance, f in zip(self.importance, self.fisher, strict=True):
            importance.mul_(self.gamma).add_(f)
            f.zero_()
        self.set_anchor()
