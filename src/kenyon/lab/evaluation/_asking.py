"""A label budget: the learner is given the labels of a share of the samples, and says of which.

Samples come in blocks; which of a block are asked for is decided with the model as it is before the block, one sample
after the other, and never so that more than `budget` of the samples so far were labelled.

    "learner"      the learner's own `asks_for(X, task) -> bool`, one answer a sample
    "random"       chance alone: every sample with the same probability
    "uncertainty"  margin of a sample: the difference of its two best scores, over the running mean of margins.
                   It is asked for where the margin is at most a threshold, which falls by the factor 1 - s (1 - budget)
                   after each sample that was asked for and rises by 1 + s budget after each other, s = 0.05, so that it
                   follows the model. Before there are two classes to tell apart, every sample is asked for.

"uncertainty" is for every learner with `class_scores(X, task)`, one score per class, -inf for those not known.

Reference: Zliobaite et al., Active learning with drifting streaming data, 2014 (variable uncertainty).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.data.protocol import Learner
from kenyon.errors import ConfigError, unknown
from kenyon.lab.evaluation._wrapped import Wrapped

ASKING = ("uncertainty", "random", "learner")
BLOCK = 256
STEP = 0.05
_MIX = 0x9E3779B97F4A7C15


class Asking(Wrapped):
    """A learner that receives a share of the labels.

    Args:
        learner: the learner.
        budget: the share of samples whose label it may have, above 0 and at most 1.
        how: one of `ASKING`.
        seed: of chance.
    """

    def __init__(self, learner: Learner, budget: float, how: str, seed: int) -> None:
        super().__init__(learner)
        needed = {"uncertainty": "class_scores", "learner": "asks_for"}
        if how not in ASKING:
            raise unknown("asking", how, ASKING)
        if how in needed and not callable(getattr(learner, needed[how], None)):
            raise ConfigError(
                f"asking is {how!r} and the learner {type(learner).__name__} has no {needed[how]}: expected it, or "
                "asking = 'random'"
            )
        self._budget, self._how, self._seed = budget, how, seed
        self.batch_size = -(-BLOCK // learner.batch_size) * learner.batch_size
        self._counts = np.zeros(2, np.int64)  # samples that came, and labels given
        self._rule = np.array([1.0, 0.0, 0.0])  # threshold, sum of margins, and how many

    def learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> None:
        for block in self._blocks(len(y)):
            self.inner.learn(X[block], self._shown(X[block], y[block], task), task)

    def test_then_learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> NDArray[np.int64]:
        predicted = [np.empty(0, np.int64)]
        for block in self._blocks(len(y)):
            shown = self._shown(X[block], y[block], task)
            predicted.append(self.inner.test_then_learn(X[block], shown, task))
        return np.concatenate(predicted)

    def _blocks(self, n: int) -> list[slice]:
        return [slice(start, start + self.batch_size) for start in range(0, n, self.batch_size)]

    def _shown(self, X: NDArray, y: NDArray[np.int64], task: int | None) -> NDArray[np.int64]:
        """The labels that are given, -1 for the others."""
        wish = self._wishes(X, task)
        given = np.zeros(len(y), bool)
        for place in range(len(y)):
            self._counts[0] += 1
            may = self._counts[1] + 1 <= self._budget * self._counts[0] + 1e-9 or self._counts[1] == 0
            given[place] = may and y[place] >= 0 and self._asks(wish[place])
            self._counts[1] += given[place]
        return np.where(given, y, -1)

    def _wishes(self, X: NDArray, task: int | None) -> NDArray:
        """A number a sample: its margin, NaN where there is none; or whether it is asked for."""
        if self._how == "random":
            first = np.uint64((self._seed + 1) * _MIX % 2**64)  # in integers: a product of NumPy scalars would warn
            at = np.arange(self._counts[0], self._counts[0] + len(X), dtype=np.uint64) + first
            mixed = (at ^ (at >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53 < self._budget
        if self._how == "learner":
            return np.asarray(self.inner.asks_for(X, task), bool)  # type: ignore[attr-defined]
        scores = np.sort(np.asarray(self.inner.class_scores(X, task), np.float64), axis=1)  # type: ignore[attr-defined]
        if scores.shape[1] < 2:
            return np.full(len(X), np.nan)
        with np.errstate(invalid="ignore"):
            margins = scores[:, -1] - scores[:, -2]
        return np.where(np.isfinite(margins), margins, np.nan)

    def _asks(self, wish: Any) -> bool:
        if self._how != "uncertainty":
            return bool(wish)
        if np.isnan(wish):
            return True
        self._rule[1:] += (wish, 1.0)
        mean = self._rule[1] / self._rule[2]
        asks = bool(wish <= self._rule[0] * mean)
        self._rule[0] *= 1 - STEP * (1 - self._budget) if asks else 1 + STEP * self._budget
        return asks

    def own_arrays(self) -> dict[str, NDArray]:
        return {"counts": self._counts, "rule": self._rule}

    def own_figures(self) -> dict[str, float]:
        """The share of samples whose label was given."""
        return {"labels_given": self._counts[1] / max(int(self._counts[0]), 1)}
