"""Gradient-based sample selection, greedy (GSS). Aljundi et al., "Gradient Based Sample Selection for Online Continual
Learning", NeurIPS 2019, Algorithm 2.

    c(x) = 1 + max_i cos(g(x), g(x_i))     over a few x_i drawn from the buffer
    buffer full: where c(x) < 1, draw slot i with probability C_i / sum C; replace it with probability C_i / (C_i + c)

g are gradients of single samples. For a linear layer with input a and output gradient d they are d a^T, so inner
products of gradients are products of inner products, (d.d')(a.a' + 1), the 1 for the bias: exact and cheap, without
forming a gradient. The layers used are the linear ones: all of an MLP, the classifier of a ResNet.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from kenyon.data.protocol import StreamInfo
from kenyon.learners.baselines._replay import Replay
from kenyon.learners.baselines._trainer import Batch, positive


class GSS(Replay):
    """ER whose buffer prefers samples unlike those it holds.

    Args:
        compared: samples of the buffer that a new one is compared with.
    """

    name = "gss"
    defaults: ClassVar[dict[str, float]] = {"lr": 0.1}

    def __init__(self, info: StreamInfo, seed: int, *, compared: int = 10, **common: Any) -> None:
        super().__init__(info, seed, **common)
        self.compared = positive("compared", compared)

    def step(self, batch: Batch) -> Tensor:
        logits = self.rehearse(batch, self.buffer.draw(self.replay_size)) if len(self.buffer) else super().step(batch)
        self.select(batch)
        return logits

    def select(self, batch: Batch) -> None:
        """Offer the samples of a batch to the buffer, one after the other."""
        similar = self.similarity(batch)
        draws = torch.rand(len(batch.y), 2, dtype=torch.float64, generator=self.generator)
        rows = self.rows(batch)
        for i, (c, (pick, accept)) in enumerate(zip(similar.tolist(), draws.tolist(), strict=True)):
            slot = len(self.buffer)
            if slot == self.buffer.capacity:
                if c >= 1:
                    continue
                scores = self.buffer["score"].double().cumsum(0)
                slot = min(int(torch.searchsorted(scores, pick * scores[-1])), slot - 1)
                held = float(self.buffer["score"][slot])
                if accept * (held + c) >= held:
                    continue
            row = {key: value[i : i + 1] for key, value in rows.items()}
            self.buffer.put([slot], {**row, "score": similar[i : i + 1]})

    def similarity(self, batch: Batch) -> Tensor:
        """c of each sample of the batch; 1 (as if orthogonal) while there is nothing to compare with."""
        if not len(self.buffer):
            return torch.ones(len(batch.y), device=self.device)
        memory = self.recall(self.buffer.draw(self.compared))
        return 1 + cosines(self.factors(batch), self.factors(memory)).amax(1)

    def factors(self, batch: Batch) -> list[tuple[Tensor, Tensor]]:
        """Input a and output gradient d of every linear layer, a row per sample."""
        tape: list[tuple[Tensor, Tensor]] = []
        layers = [layer for layer in self.net.modules() if isinstance(layer, nn.Linear)]
        hooks = [layer.register_forward_hook(lambda _, a, out: tape.append((a[0], out))) for layer in layers]
        self.net.eval()
        loss = F.cross_entropy(self.logits(batch.x, batch.task), batch.y, reduction="sum")
        self.net.train()
        for hook in hooks:
            hook.remove()
        gradients = torch.autograd.grad(loss, [out for _, out in tape])
        return [(a.detach(), d) for (a, _), d in zip(tape, gradients, strict=True)]


def cosines(left: list[tuple[Tensor, Tensor]], right: list[tuple[Tensor, Tensor]]) -> Tensor:
    """Cosine of every gradient on the left with every one on the right; 0 where a gradient vanishes."""
    product = sum((d @ e.T) * (a @ b.T + 1) for (a, d), (b, e) in zip(left, right, strict=True))
    norms = [
        sum((d * d).sum(1) * ((a * a).sum(1) + 1) for a, d in side).sqrt()  # type: ignore[union-attr]
        for side in (left, right)
    ]
    return product / torch.outer(*norms).clamp(min=1e-20)
