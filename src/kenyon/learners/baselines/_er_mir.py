"""ER with maximally interfered retrieval (ER-MIR). Aljundi et al., "Online Continual Learning with Maximally Interfered
Retrieval", NeurIPS 2019.

    theta_v = theta - lr * grad CE(batch; theta)                   a step that is only tried
    replayed: of `candidates` drawn from the reservoir's samples of earlier tasks, the k with the largest
    s(x, y) = CE(f(x; theta_v), y) - CE(f(x; theta), y)

As in the authors' implementation, samples of the present task are not candidates. While the memory holds nothing else
(in the first task, and without task boundaries), they are: the authors replay nothing then.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.func import functional_call
from torch.nn import functional as F

from kenyon.data.protocol import StreamInfo
from kenyon.learners.baselines._replay import Replay
from kenyon.learners.baselines._trainer import Batch, positive


class ERMIR(Replay):
    """Replays what the coming update would harm most.

    Args:
        candidates: samples drawn from memory, among which the most interfered are replayed.
    """

    name = "er-mir"
    defaults: ClassVar[dict[str, float]] = {"lr": 0.05}

    def __init__(self, info: StreamInfo, seed: int, *, candidates: int = 50, **common: Any) -> None:
        super().__init__(info, seed, **common)
        self.candidates = positive("candidates", candidates)
        self.number = self.keep("number", torch.zeros(1, dtype=torch.int64))  # of the present task

    def step(self, batch: Batch) -> Tensor:
        logits = self.rehearse(batch, self.retrieve(batch)) if len(self.buffer) else super().step(batch)
        self.remember(batch)
        return logits

    def boundary(self, last: bool) -> None:
        self.number += 1

    def rows(self, batch: Batch) -> dict[str, Tensor]:
        return {**super().rows(batch), "number": self.number.to(self.device).expand(len(batch.y))}

    def eligible(self) -> Tensor:
        """Slots of up to `candidates` samples of earlier tasks, or of any while there are no others."""
        slots = self.buffer.draw(len(self.buffer))
        earlier = slots[(self.buffer["number"] < self.number.to(self.device)).cpu()[slots]]
        return (earlier if len(earlier) else slots)[: self.candidates]

    def retrieve(self, batch: Batch) -> Tensor:
        """Slots of the candidates whose loss the plain step on the batch would raise most."""
        slots = self.eligible()
        if len(slots) <= self.replay_size:
            return slots
        self.net.eval()  # trying must not move running statistics
        gradients = self.gradient(F.cross_entropy(self.logits(batch.x, batch.task), batch.y))
        with torch.no_grad():
            memory = self.recall(slots)
            tried = {n: p - self.lr * g for (n, p), g in zip(self.net.named_parameters(), gradients, strict=True)}
            after = self.mask(functional_call(self.net, tried, (memory.x,)), memory.task)
            before = self.logits(memory.x, memory.task)
            harm = F.cross_entropy(after, memory.y, reduction="none")
            harm -= F.cross_entropy(before, memory.y, reduction="none")
        self.net.train()
        return slots[harm.topk(self.replay_size).indices.cpu()]
