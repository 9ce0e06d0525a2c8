"""What the replay methods share: a reservoir of raw samples, and a step on a batch together with remembered ones."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from kenyon.data.protocol import StreamInfo
from kenyon.learners.baselines._buffer import ReplayBuffer
from kenyon.learners.baselines._trainer import Batch, Trainer, positive


class Replay(Trainer):
    """A trainer with a memory.

    Args:
        buffer_size: samples remembered.
        replay_size: samples recalled with each batch.
    """

    def __init__(
        self, info: StreamInfo, seed: int, *, buffer_size: int = 500, replay_size: int = 10, **common: Any
    ) -> None:
        super().__init__(info, seed, **common)
        self.replay_size = positive("replay_size", replay_size)
        self.buffer = self.keep("buffer", ReplayBuffer(buffer_size, self.generator, self.device))

    def remember(self, batch: Batch, **more: Tensor) -> None:
        """Offer a batch to the reservoir, with more columns if the method stores more."""
        self.buffer.add(**self.rows(batch), **more)

    def rows(self, batch: Batch) -> dict[str, Tensor]:
        """A batch as columns of the buffer; the task takes a column only where there are task heads."""
        rows = {"x": batch.raw, "y": batch.y}
        if self.info.task_heads:
            rows["task"] = torch.full_like(batch.y, batch.task)  # type: ignore[arg-type]
        return rows

    def recall(self, slots: Tensor) -> Batch:
        """The samples in these slots of the buffer."""
        raw = self.buffer["x"][slots]
        task = self.buffer["task"][slots] if self.info.task_heads else None
        return Batch(raw, self.normalise(raw), self.buffer["y"][slots], task)

    def joint(self, *batches: Batch) -> Tensor:
        """Logits of several batches in one forward pass, each sample under its own head."""
        return self.headed(self.forward(torch.cat([b.x for b in batches])), *batches)

    def headed(self, logits: Tensor, *batches: Batch) -> Tensor:
        """The output for several batches, each sample under its own head."""
        if not self.info.task_heads:
            return logits
        heads = [self.heads(b.task).expand(len(b.y), -1) for b in batches]
        return logits + torch.cat(heads)

    def rehearse(self, batch: Batch, slots: Tensor) -> Tensor:
        """One SGD step on a batch and the samples in `slots`, equally weighted; the batch's logits before it."""
        memory = self.recall(slots)
        logits = self.joint(batch, memory)
        self.descend(F.cross_entropy(logits, torch.cat([batch.y, memory.y])))
        return logits[: len(batch.y)]
