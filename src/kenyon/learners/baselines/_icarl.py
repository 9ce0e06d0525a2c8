"""iCaRL. Rebuffi et al., "iCaRL: Incremental Classifier and Representation Learning", CVPR 2017.

    L = sum over classes met so far of BCE(f(x)_c, q_c),   q_c = sigmoid(f_old(x)_c) for old classes, 1[y = c] for new
    prediction: the class whose exemplars' mean feature is nearest (features of unit length)
    at a boundary: floor(buffer_size / classes met) exemplars per class, the new ones herded: each next exemplar brings
    the mean of those chosen closest to the mean of the class; old ones are dropped from the end of their lists

The original chooses exemplars from the whole task, which is gone here. A reservoir of the current task's samples
(`pool_size`, counted in `state_bytes`) stands in for it. Task heads only restrict the prediction.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from kenyon.data.protocol import StreamInfo
from kenyon.learners.baselines._buffer import ReplayBuffer
from kenyon.learners.baselines._lwf import freeze
from kenyon.learners.baselines._replay import Replay
from kenyon.learners.baselines._trainer import Batch


class ICaRL(Replay):
    """Exemplars, distillation, nearest mean.

    Args:
        pool_size: samples of the current task among which exemplars are chosen.
    """

    name = "icarl"
    defaults: ClassVar[dict[str, float]] = {"lr": 0.1}

    def __init__(self, info: StreamInfo, seed: int, *, pool_size: int = 1000, **common: Any) -> None:
        super().__init__(info, seed, **common)
        self.pool = self.keep("pool", ReplayBuffer(pool_size, self.generator, self.device))
        self.teacher = self.keep("teacher", freeze(self.net))
        self.met = self.keep("met", torch.zeros(info.n_classes, dtype=torch.bool, device=self.device))
        self.old = self.keep("old", torch.zeros(info.n_classes, dtype=torch.bool, device=self.device))
        self._means: Tensor | None = None  # of the exemplars, with the network as it is

    def step(self, batch: Batch) -> Tensor:
        """The scores returned are the network's own: means would have to be recomputed at every batch."""
        self.met[batch.y] = True
        memory = self.recall(self.buffer.draw(self.replay_size)) if len(self.buffer) else None
        x = batch.x if memory is None else torch.cat([batch.x, memory.x])
        y = batch.y if memory is None else torch.cat([batch.y, memory.y])
        output = self.net(x)
        wanted = F.one_hot(y, self.info.n_classes).float()
        if memory is not None:
            with torch.no_grad():
                wanted = torch.where(self.old, self.teacher(x).sigmoid(), wanted)
        loss = F.binary_cross_entropy_with_logits(output, wanted, weight=self.met.float(), reduction="sum")
        self.descend(loss / len(y))
        self.pool.add(**self.rows(batch))
        self._means = None
        return self.mask(output[: len(batch.y)].detach(), batch.task)

    def boundary(self, last: bool) -> None:
        self.teacher.load_state_dict(self.net.state_dict())
        self.old |= self.met
        quota = self.buffer.capacity // max(int(self.met.sum()), 1)
        kept = [self.chosen(c, quota) for c in self.met.nonzero().flatten().tolist()]
        if kept:
            self.buffer.replace(**{key: torch.cat([rows[key] for rows in kept]) for key in kept[0]})
        self.pool.replace()
        self._means = None

    def chosen(self, c: int, quota: int) -> dict[str, Tensor]:
        """The exemplars of a class: the first of the old ones, or herded from the pool if it is new."""
        if len(self.buffer) and (self.buffer["y"] == c).any():
            slots = (self.buffer["y"] == c).nonzero().flatten()[:quota]
            return {key: self.buffer[key][slots] for key in self.buffer.columns}
        slots = (self.pool["y"] == c).nonzero().flatten()
        slots = slots[herd(self.embed(self.pool["x"][slots]), quota)]
        return {key: self.pool[key][slots] for key in self.pool.columns}

    def embed(self, raw: Tensor) -> Tensor:
        """Features of unit length."""
        training = self.net.training
        self.net.eval()
        with torch.no_grad():
            features = F.normalize(self.net.features(self.normalise(raw)))
        self.net.train(training)
        return features

    def means(self) -> Tensor:
        """Unit mean of a class's exemplars and, during its task, of its samples in the pool; NaN where not met."""
        parts = [part for part in (self.buffer, self.pool) if len(part)]
        means = torch.full((self.info.n_classes, self.net.head.in_features), torch.nan, device=self.device)
        if parts:
            y = torch.cat([part["y"] for part in parts])
            features = torch.cat([self.embed(part["x"]) for part in parts])
            for c in y.unique().tolist():
                means[c] = F.normalize(features[y == c].mean(0), dim=0)
        return means

    def scores(self, x: Tensor, task: int | Tensor | None) -> Tensor:
        if self._means is None:
            self._means = self.means()
        near = F.normalize(self.net.features(x)) @ self._means.T  # of unit vectors: the nearest has the largest product
        return self.mask(near.nan_to_num(nan=-2.0), task)

    def restore(self, state: dict[str, NDArray]) -> None:
        super().restore(state)
        self._means = None


def herd(features: Tensor, n: int) -> Tensor:
    """Indices of up to `n` rows, each chosen so that the mean so far comes closest to the mean of all."""
    target, total = features.mean(0), features.new_zeros(features.shape[1])
    free, order = features.new_ones(len(features), dtype=torch.bool), []
    for k in range(1, min(n, len(features)) + 1):
        distance = ((total + features) / k - target).square().sum(1)
        i = int(distance.masked_fill(~free, torch.inf).argmin())
        order.append(i)
        free[i] = False
        total += features[i]
    return torch.tensor(order, dtype=torch.int64, device=features.device)
