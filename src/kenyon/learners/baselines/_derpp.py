"""Dark experience replay ++ (DER++). Buzzega et al., "Dark Experience for General Continual Learning: a Strong, Simple
Baseline", NeurIPS 2020.

    L = CE(f(x), y) + alpha * |f(x') - z'|^2 / n_logits + beta * CE(f(x''), y'')

(x', z') and (x'', y'') are drawn independently from one reservoir; z are the logits of the time x was met.
"""

from __future__ import annotations

from typing import Any, ClassVar

from torch import Tensor
from torch.nn import functional as F

from kenyon.data.protocol import StreamInfo
from kenyon.learners.baselines._replay import Replay
from kenyon.learners.baselines._trainer import Batch


class DERpp(Replay):
    """Replays labels and old logits.

    Args:
        alpha: weight of the old logits.
        beta: weight of the old labels.
    """

    name = "der++"
    defaults: ClassVar[dict[str, float]] = {"lr": 0.03, "alpha": 1.0, "beta": 0.5}

    def __init__(
        self, info: StreamInfo, seed: int, *, alpha: float | None = None, beta: float | None = None, **common: Any
    ) -> None:
        super().__init__(info, seed, **common)
        self.alpha, self.beta = self.option("alpha", alpha), self.option("beta", beta)

    def step(self, batch: Batch) -> Tensor:
        if not len(self.buffer):
            logits = super().step(batch)
            self.remember(batch, logits=logits)
            return logits
        dark, light = self.buffer.draw(self.replay_size), self.buffer.draw(self.replay_size)
        first, second = self.recall(dark), self.recall(light)
        logits, dark_logits, light_logits = self.joint(batch, first, second).split(
            [len(batch.y), len(first.y), len(second.y)]
        )
        loss = F.cross_entropy(logits, batch.y)
        # With task heads both sides carry the same -1e9 outside the sample's own head, so only that head counts.
        loss = loss + self.alpha * F.mse_loss(dark_logits, self.buffer["logits"][dark])
        loss = loss + self.beta * F.cross_entropy(light_logits, second.y)
        self.descend(loss)
        self.remember(batch, logits=logits)
        return logits
