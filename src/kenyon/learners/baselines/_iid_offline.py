"""Joint training. The upper bound of the comparison: the whole stream is kept, then learned in shuffled epochs.

    theta <- theta - lr * grad CE(f(x), y)    over `epochs` random permutations of all samples

It learns nothing until the stream ends, so only its final accuracy is meaningful; `state_bytes` counts the stream.
"""

from __future__ import annotations

from typing import Any, ClassVar

from torch import Tensor
from torch.nn import functional as F

from kenyon.data.protocol import StreamInfo
from kenyon.learners.baselines._replay import Replay
from kenyon.learners.baselines._trainer import Batch, positive


class IIDOffline(Replay):
    """Keeps everything, learns at the end.

    Args:
        epochs: passes over the data.
    """

    name = "iid-offline"
    defaults: ClassVar[dict[str, float]] = {"lr": 0.1}
    fixed = ("buffer_size", "replay_size")

    def __init__(self, info: StreamInfo, seed: int, *, epochs: int = 5, **common: Any) -> None:
        super().__init__(info, seed, buffer_size=max(info.n_train, 1), **common)
        self.epochs = positive("epochs", epochs)

    def step(self, batch: Batch) -> Tensor:
        self.remember(batch)
        return self.evaluate(batch.raw, batch.task)

    def boundary(self, last: bool) -> None:
        if not last:
            return
        for _ in range(self.epochs):
            for slots in self.buffer.draw(len(self.buffer)).split(self.batch_size):
                batch = self.recall(slots)
                self.descend(F.cross_entropy(self.logits(batch.x, batch.task), batch.y))
