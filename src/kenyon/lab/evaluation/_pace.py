"""A stream that does not wait: a learner that is slower than the stream misses samples.

A sample arrives every unit of time. Learning takes `cost` units a sample; while a learner is busy, batches that arrive
are predicted with the model as it is and never learned.

    batch k of b samples has arrived at time (k + 1) b
    free <= (k + 1) b :  it is learned, and free = (k + 1) b + cost b
    else              :  it is missed

The cost is counted or measured. Counted (`compute_budget`): operations of the learner for a sample by operations that
the stream leaves time for; the same on every machine. Measured (`rate`): processor seconds of each batch times the
samples that arrive in a second; it depends on the machine and the moment. Predictions cost nothing in either.

Reference: Ghunaim et al., Real-time evaluation in online continual learning: a new hope, 2023.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import numpy as np
from numpy.typing import NDArray

from kenyon.data.protocol import Learner
from kenyon.errors import ConfigError
from kenyon.lab.evaluation._wrapped import Wrapped

MEASURED_BATCH = 32
"""Samples between two readings of the clock for learners that take them one by one."""


class Paced(Wrapped):
    """A learner on a stream that does not wait.

    Args:
        learner: the learner.
        cost: units of time that learning a sample takes, where it is counted; None to measure it.
        rate: samples that arrive in a second, where it is measured.
        clock: seconds so far.
    """

    def __init__(
        self,
        learner: Learner,
        cost: float | None,
        rate: float | None = None,
        clock: Callable[[], float] = process_time,
    ) -> None:
        if (cost is None) == (rate is None):
            raise ConfigError("compute_budget and rate are both given: expected one of them")
        super().__init__(learner)
        self._cost, self._rate, self._clock = cost, rate, clock
        self.batch_size = learner.batch_size if rate is None or learner.batch_size > 1 else MEASURED_BATCH
        self._time = np.zeros(2)  # now, and when the learner is free
        self._counts = np.zeros(2, np.int64)  # samples that came, and those learned

    def learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> None:
        self._pass(X, y, task, predict=False)

    def test_then_learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> NDArray[np.int64]:
        return self._pass(X, y, task, predict=True)

    def _pass(self, X: NDArray, y: NDArray[np.int64], task: int | None, predict: bool) -> NDArray[np.int64]:
        """Consecutive counted batches that are learned, or missed, are passed together; a measured one alone."""
        predicted, start, learned = [np.empty(0, np.int64)], 0, True
        for at in range(0, len(y), self.batch_size):
            if self._cost is None and at:
                predicted.append(self._hand_over(X[start:at], y[start:at], task, learned, predict))
                start = at
            learns = self._arrives(min(self.batch_size, len(y) - at))
            if at > start and learns != learned:
                predicted.append(self._hand_over(X[start:at], y[start:at], task, learned, predict))
                start = at
            learned = learns
        predicted.append(self._hand_over(X[start:], y[start:], task, learned, predict))
        return np.concatenate(predicted)

    def _arrives(self, n: int) -> bool:
        """Whether the next batch of `n` samples is learned."""
        self._time[0] += n
        learns = bool(self._time[1] <= self._time[0])
        if learns and self._cost is not None:
            self._time[1] = self._time[0] + self._cost * n
        return learns

    def _hand_over(
        self, X: NDArray, y: NDArray[np.int64], task: int | None, learns: bool, predict: bool
    ) -> NDArray[np.int64]:
        self._counts += (len(y), len(y) * learns)
        if not learns:
            return np.asarray(self.inner.predict(X, task)) if predict else np.empty(0, np.int64)
        begin = self._clock()
        predicted = self.inner.test_then_learn(X, y, task) if predict else np.empty(0, np.int64)
        if not predict:
            self.inner.learn(X, y, task)
        if self._rate is not None:
            self._time[1] = self._time[0] + (self._clock() - begin) * self._rate
        return predicted

    def own_arrays(self) -> dict[str, NDArray]:
        return {"time": self._time, "counts": self._counts}

    def own_figures(self) -> dict[str, float]:
        """The share of samples that were learned."""
        return {"learned_share": self._counts[1] / max(int(self._counts[0]), 1)}
