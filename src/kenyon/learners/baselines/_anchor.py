"""What the importance methods share: a quadratic pull of every weight to its value at the last task boundary.

    L = CE + (strength / 2) * sum_i I_i (theta_i - theta*_i)^2

The pull is taken as an implicit step after the gradient step, `theta <- theta + w (theta* - theta)` with
`w = k / (1 + k)`, `k = lr * strength * I`. To first order that is the gradient step on the penalty, and unlike it
cannot overshoot, whatever the strength.
"""

from __future__ import annotations

from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from kenyon.data.protocol import StreamInfo
from kenyon.learners.baselines._trainer import Trainer


class Anchored(Trainer):
    """A trainer that holds important weights near their anchors; `importance` is zero until the first boundary."""

    def __init__(self, info: StreamInfo, seed: int, *, strength: float | None = None, **common: Any) -> None:
        super().__init__(info, seed, **common)
        self.strength = self.option("strength", strength)
        self.anchor = self.keep("anchor", [p.detach().clone() for p in self.params])
        self.importance = self.keep("importance", [torch.zeros_like(p) for p in self.params])
        self._pull: list[Tensor] | None = None  # w, computed when first needed after a boundary

    def penalty(self) -> float:
        """The quadratic term of the loss as it stands."""
        with torch.no_grad():
            rows = zip(self.importance, self.params, self.anchor, strict=True)
            return 0.5 * self.strength * float(sum((i * (p - a) ** 2).sum() for i, p, a in rows))

    def set_anchor(self) -> None:
        """The weights as they are become the anchors."""
        with torch.no_grad():
            for a, p in zip(self.anchor, self.params, strict=True):
                a.copy_(p)
        self._pull = None

    def pull(self) -> None:
        """The implicit step towards the anchors."""
        if self._pull is None:
            strengths = [self.lr * self.strength * i for i in self.importance]
            self._pull = [k / (1 + k) for k in strengths]
        with torch.no_grad():
            for p, a, w in zip(self.params, self.anchor, self._pull, strict=True):
                p.lerp_(a, w)

    def restore(self, state: dict[str, NDArray]) -> None:
        super().restore(state)
        self._pull = None
