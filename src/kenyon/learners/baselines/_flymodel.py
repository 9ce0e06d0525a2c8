"""FlyModel: sparse random expansion, winner-take-all, and learning at the target class only.

    h = P x               P binary, each of m Kenyon cells sums `fan_in` inputs
    phi(x) = the `winners` largest of h, the rest 0, min-max normalised to 0..1
    w_c <- (1 - decay) w_c + rate * phi(x)   for the labelled class c, capped at 1
    w_j <- (1 - decay) w_j                   for every other class (decay 0: they are frozen)
    class = argmax_c <w_c, phi(x)>

Reference: Y. Shen, S. Dasgupta, S. Navlakha, "Algorithmic insights on continual learning from fruit
flies", arXiv 2107.07617, 2021.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.data.protocol import StreamInfo
from kenyon.errors import ConfigError
from kenyon.learners.baselines._memory_free import MemoryFree

_BLOCK = 256  # samples expanded at once; bounds the working memory
_WINNER = np.dtype([("cell", np.int32), ("activity", np.float32)])


class FlyModel(MemoryFree):
    """The associative memory of the fruit fly's mushroom body.

    Args:
        n_hidden: m, the number of Kenyon cells.
        fan_in: share of the inputs that a cell sums.
        winners: share of the cells that stay active.
        rate: learning rate at the target class.
        decay: forgetting of all weights at each sample; 0 freezes the other classes.
        batch_size: how often predictions are refreshed while testing before learning.
    """

    name = "flymodel"
    defaults: ClassVar[dict[str, float]] = {"winners": 0.01, "rate": 0.01}

    def __init__(
        self,
        info: StreamInfo,
        seed: int,
        *,
        n_hidden: int = 10_000,
        fan_in: float = 0.1,
        winners: float | None = None,
        rate: float | None = None,
        decay: float = 0.0,
        batch_size: int = 1,
    ) -> None:
        super().__init__(info, seed, batch_size)
        winners, rate = self.option("winners", winners), self.option("rate", rate)
        for name, value in (("fan_in", fan_in), ("winners", winners), ("rate", rate)):
            if not 0.0 < value <= 1.0:
                raise ConfigError(f"{name} is {value}; it must be above 0 and at most 1")
        if not 0.0 <= decay < 1.0:
            raise ConfigError(f"decay is {decay}; it must be at least 0 and below 1")
        if n_hidden < 2:
            raise ConfigError(f"n_hidden is {n_hidden}; it must be at least 2")
        self.rate, self.decay = rate, decay
        self.n_winners = min(n_hidden - 1, max(1, round(winners * n_hidden)))
        fan = max(1, round(fan_in * info.n_features))
        random = np.random.default_rng(seed)
        inputs = random.permuted(np.tile(np.arange(info.n_features, dtype=np.int32), (n_hidden, 1)), axis=1)[:, :fan]
        self._inputs = np.sort(inputs, axis=1)
        self.weights = np.zeros((info.n_classes, n_hidden), dtype=np.float32)

    def _embed(self, X: NDArray[np.float32]) -> NDArray:
        """The winners of each sample: their numbers, in order, and their normalised activity."""
        winners = np.empty((len(X), self.n_winners), dtype=_WINNER)
        for start in range(0, len(X), _BLOCK):
            cut = slice(start, start + _BLOCK)
            columns = np.ascontiguousarray(X[cut].T)
            sums = np.empty((len(self._inputs), columns.shape[1]), np.float32)
            core.sum_inputs(self._inputs, columns, sums)
            hidden = np.ascontiguousarray(sums.T)
            top = np.sort(np.argpartition(hidden, -self.n_winners, axis=1)[:, -self.n_winners :], axis=1)
            active = np.take_along_axis(hidden, top, axis=1)
            # The losers are 0 after the winner-take-all, so 0 is the minimum and the largest winner is 1.
            peak = np.maximum(active.max(axis=1, keepdims=True), np.finfo(np.float32).tiny)
            winners["cell"][cut], winners["activity"][cut] = top, active / peak
        return winners

    def _update(self, features: NDArray, y: NDArray[np.int64]) -> int:
        winners = (features["cell"], features["activity"])
        core.associate(*winners, y, self.weights, self.counts, self.rate, 1.0 - self.decay)
        return len(y) * (self.weights.size if self.decay else self.n_winners)

    def _scores(self, features: NDArray) -> NDArray:
        scores = np.empty((len(features), len(self.weights)), dtype=np.float32)
        core.overlaps(features["cell"], features["activity"], self.weights, scores)
        return scores

    def _arrays(self) -> dict[str, NDArray]:
        return {"weights": self.weights}
