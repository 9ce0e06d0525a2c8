"""The embedded digits as a stream of class pairs, for the tests of single methods."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from kenyon.data.protocol import Learner, StreamInfo

PAIRS = tuple((c, c + 1) for c in range(0, 10, 2))


class SplitDigits:
    """Training samples task by task and one test set. `scenario` is "class", "task" or "single"."""

    def __init__(self, scenario: str) -> None:
        X, y = load_digits(return_X_y=True)
        order = np.random.default_rng(7).permutation(len(y))
        X, y = X[order].astype(np.uint8), y[order].astype(np.int64)
        self.X, self.y, self.X_test, self.y_test = X[:1400], y[:1400], X[1400:], y[1400:]
        self.tasks = (tuple(range(10)),) if scenario == "single" else PAIRS
        self.heads = scenario == "task"
        self.info = StreamInfo((8, 8), 10, self.tasks, len(self.y), self.heads, (0.0, 16.0))

    def episodes(self) -> list[tuple[int | None, NDArray, NDArray[np.int64]]]:
        cuts = [(k, np.isin(self.y, classes)) for k, classes in enumerate(self.tasks)]
        return [(k if self.heads else None, self.X[rows], self.y[rows]) for k, rows in cuts]

    def learn(self, learner: Learner, epochs: int = 1) -> Learner:
        for number, (task, X, y) in enumerate(self.episodes()):
            for _ in range(epochs):
                learner.learn(X, y, task)
            learner.end_task(number == len(self.tasks) - 1)
        return learner

    def accuracy(self, learner: Learner) -> float:
        right = 0
        for k, classes in enumerate(self.tasks):
            rows = np.isin(self.y_test, classes)
            right += int((learner.predict(self.X_test[rows], k if self.heads else None) == self.y_test[rows]).sum())
        return right / len(self.y_test)


def same_state(a: Learner, b: Learner) -> bool:
    """Whether two learners hold the same arrays, bit for bit."""
    left, right = a.state(), b.state()
    return left.keys() == right.keys() and all(np.array_equal(left[key], right[key]) for key in left)


def resumes(make: Any, stream: SplitDigits) -> bool:
    """Whether a learner restored in the middle of a task ends as one that was never stopped."""
    whole, first, second = make(), make(), make()
    episodes = stream.episodes()[:2]
    for number, (task, X, y) in enumerate(episodes):
        cut = (len(y) // 2) // whole.batch_size * whole.batch_size
        for part in (slice(0, cut), slice(cut, None)):
            whole.learn(X[part], y[part], task)
            first.learn(X[part], y[part], task)
            second.restore(first.state())
            first, second = second, make()
        whole.end_task(number == len(stream.tasks) - 1)
        first.end_task(number == len(stream.tasks) - 1)
    return same_state(whole, first)


def stays_as_it_is(learner: Learner, stream: SplitDigits, task: int | None = None) -> bool:
    """Whether predictions and samples without a label leave the state of a learner unchanged."""
    before = learner.state()
    learner.predict(stream.X_test, task)
    learner.learn(stream.X[:10], np.full(10, -1), task)
    return all(np.array_equal(before[key], value) for key, value in learner.state().items())
