"""The label that the learner gets: the true one, the place in the group, a wrong class, or none.

Which samples are changed depends on the seed, the task and the row alone, so only one threshold per task is kept:
a row is chosen where its random number is below the threshold, which is set so that exactly the wanted share is chosen.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kenyon.data.streams._random import draw, key

WITHHELD = -1


class Chooser:
    """Chooses exactly `round(share * len(rows))` of the rows at random, without keeping which."""

    def __init__(self, key: int, rows: NDArray[np.integer], share: float) -> None:
        self._key = key
        self.count, self._of = round(share * len(rows)), len(rows)
        if 0 < self.count < self._of:
            self._below = np.partition(draw(key, rows), self.count)[self.count]

    def __call__(self, rows: NDArray[np.integer]) -> NDArray[np.bool_]:
        if self.count in (0, self._of):
            return np.full(len(rows), self.count > 0)
        return draw(self._key, rows) < self._below


class TaskLabels:
    """The labels of one task.

    Args:
        y: the labels of the whole training set.
        rows: the rows of the task.
        classes: the task's classes.
        positions: True to replace a label by its place in `classes`.
        labelled, noise: shares of the rows that keep their label, and that get a wrong one.
        seed, task: what the choice depends on.
    """

    def __init__(
        self,
        y: NDArray[np.int64],
        rows: NDArray[np.integer],
        classes: tuple[int, ...],
        positions: bool,
        labelled: float,
        noise: float,
        seed: int,
        task: int,
    ) -> None:
        self._y = y
        self._place = np.zeros(max(classes) + 1, np.int64)
        self._place[list(classes)] = np.arange(len(classes))
        self._shown = np.arange(len(classes)) if positions else np.array(classes, np.int64)
        self._labelled = Chooser(key(seed, "labelled", task), rows, labelled)
        self.n_labelled = self._labelled.count
        self._noisy = Chooser(key(seed, "noisy", task), rows, noise)
        self._wrong = key(seed, "wrong label", task)

    def __call__(self, rows: NDArray[np.integer]) -> NDArray[np.int64]:
        """The labels that are shown for these rows of the training set."""
        place = self._place[self._y[rows]]
        noisy = self._noisy(rows)
        unlabelled = self._y[rows] < 0  # by the data set itself
        others = len(self._shown) - 1
        if noisy.any():
            shift = 1 + (draw(self._wrong, rows[noisy]) % np.uint64(others)).astype(np.int64)
            place[noisy] = (place[noisy] + shift) % (others + 1)
        return np.where(self._labelled(rows) & ~unlabelled, self._shown[place], WITHHELD)


class MixedLabels:
    """The labels of a part of the stream that mixes several tasks; each row is treated as in its own task."""

    def __init__(self, n: int, rows: list[NDArray[np.int32]], labels: list[TaskLabels]) -> None:
        self._task = np.zeros(n, np.int32)
        for number, own in enumerate(rows):
            self._task[own] = number
        self._labels = labels

    def __call__(self, rows: NDArray[np.integer]) -> NDArray[np.int64]:
        group = self._task[rows]
        out = np.empty(len(rows), np.int64)
        for number in np.unique(group):
            here = group == number
            out[here] = self._labels[number](rows[here])
        return out
