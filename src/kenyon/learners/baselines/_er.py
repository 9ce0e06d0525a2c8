"""Experience replay (ER). Chaudhry et al., "On Tiny Episodic Memories in Continual Learning", 2019.

    L = CE on the batch and on as many samples drawn from a reservoir M

The batch enters the reservoir after the step.
"""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from kenyon.learners.baselines._replay import Replay
from kenyon.learners.baselines._trainer import Batch


class ER(Replay):
    """Each batch is learned together with one drawn from memory."""

    name = "er"
    defaults: ClassVar[dict[str, float]] = {"lr": 0.1}

    def step(self, batch: Batch) -> Tensor:
        logits = self.rehearse(batch, self.buffer.draw(self.replay_size)) if len(self.buffer) else super().step(batch)
        self.remember(batch)
        return logits
