"""Averaged gradient episodic memory (A-GEM). Chaudhry et al., "Efficient Lifelong Learning with A-GEM", ICLR 2019.

    g = grad CE(batch),  r = grad CE(samples drawn from memory)
    g <- g - (g.r / r.r) r    where g.r < 0, so that the step does not raise the memory's loss to first order

The memory is a reservoir of the whole stream, so it is full after `buffer_size` samples and needs no boundaries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F

from kenyon.data.protocol import StreamInfo
from kenyon.learners.baselines._replay import Replay
from kenyon.learners.baselines._trainer import Batch


class AGEM(Replay):
    """Learns the batch alone, without the part of the step that would harm the memory."""

    name = "a-gem"
    defaults: ClassVar[dict[str, float]] = {"lr": 0.1}

    def __init__(self, info: StreamInfo, seed: int, *, replay_size: int = 128, **common: Any) -> None:
        super().__init__(info, seed, replay_size=replay_size, **common)

    def step(self, batch: Batch) -> Tensor:
        logits = self.logits(batch.x, batch.task)
        gradients = self.gradient(F.cross_entropy(logits, batch.y))
        if len(self.buffer):
            memory = self.recall(self.buffer.draw(self.replay_size))
            reference = self.gradient(F.cross_entropy(self.logits(memory.x, memory.task), memory.y))
            gradients = project(gradients, reference)
        self.apply(gradients)
        self.remember(batch)
        return logits


def project(gradients: Sequence[Tensor], reference: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`gradients` without their component against `reference`."""
    against = inner(gradients, reference)
    if against >= 0:
        return tuple(gradients)
    scale = float(against / inner(reference, reference))
    return tuple(g.sub(r, alpha=scale) for g, r in zip(gradients, reference, strict=True))


def inner(a: Sequence[Tensor], b: Sequence[Tensor]) -> Tensor:
    """Inner product of two gradients given parameter by parameter."""
    return torch.stack([torch.dot(u.flatten(), v.flatten()) for u, v in zip(a, b, strict=True)]).sum()
