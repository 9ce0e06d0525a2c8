"""Streams that change: what labels mean, what inputs look like, how often classes come, and when labels arrive."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kenyon.data.streams._labels import Chooser, TaskLabels
from kenyon.data.streams._random import draw, key, uniform

DRIFTS = ("drift", "gradual-drift", "virtual-drift")
"""Scenarios in which every task has every class, and samples of its own."""

DRIFT_TASKS = 4


def share_of_task(seed: int, rows: NDArray[np.integer], task: int, n_tasks: int) -> NDArray[np.integer]:
    """The rows of one of `n_tasks` tasks, by the seed and the row alone."""
    return rows[task_of(seed, rows, n_tasks) == task]


def task_of(seed: int, rows: NDArray[np.integer], n_tasks: int) -> NDArray[np.int64]:
    """The task of each row."""
    return (draw(key(seed, "task of row"), rows) % np.uint64(n_tasks)).astype(np.int64)


def long_tail(
    seed: int, y: NDArray[np.int64], rows: NDArray[np.integer], order: tuple[int, ...], rarest: float
) -> NDArray:
    """Rows of which class number k of C, in the order of classes, keeps the share rarest ** (k / (C - 1))."""
    kept = np.zeros(len(rows), bool)
    for place, label in enumerate(order):
        own = np.flatnonzero(y[rows] == label)
        share = rarest ** (place / max(len(order) - 1, 1))
        some = Chooser(key(seed, "long tail", label), rows[own], max(share, 1 / max(len(own), 1)))(rows[own])
        kept[own[some]] = True
    return rows[kept]


def delayed(seed: int, task: int, rows: NDArray[np.integer], delay: int, at_random: bool) -> NDArray[np.integer]:
    """Each row twice: as ~row when the sample comes, without its label, and as the row itself when its label arrives.

    A label arrives `delay` samples later, or at random 0 to twice as many; at the end of the task at the latest.
    """
    at = np.arange(len(rows))
    wait = np.full(len(rows), float(delay))
    if at_random:
        wait = np.floor(uniform(key(seed, "delay", task), at) * (2 * delay + 1))
    both = np.concatenate([np.invert(rows.astype(np.int64)), rows])
    return both[np.argsort(np.concatenate([at, np.minimum(at + wait, len(rows)) + 0.5]), kind="stable")]


class DriftingLabels:
    """The labels of tasks that mix: each row is labelled as in its own task.

    In task k of a drift the classes have changed places k times: class number i of the order is called as number i + k.
    After `each` tasks they come back to their places.
    """

    def __init__(self, seed: int, order: tuple[int, ...], labels: list[TaskLabels], turning: bool, each: int) -> None:
        self._seed, self._labels, self._order, self._each = seed, labels, np.array(order), each
        self._place = np.argsort(self._order)
        self._turning = turning

    def __call__(self, rows: NDArray[np.integer]) -> NDArray[np.int64]:
        return self.of_task(rows, task_of(self._seed, rows, len(self._labels)))

    def of_task(self, rows: NDArray[np.integer], tasks: NDArray[np.int64]) -> NDArray[np.int64]:
        """The labels of rows as in the tasks given."""
        out = np.empty(len(rows), np.int64)
        for task in np.unique(tasks):
            here = tasks == task
            out[here] = self._labels[task](rows[here])
        if self._turning:
            known = out >= 0
            turned = (self._place[out[known]] + tasks[known] % self._each) % len(self._order)
            out[known] = self._order[turned]
        return out


def changed_inputs(seed: int, X: NDArray, tasks: NDArray[np.int64], n_features: int) -> NDArray:
    """Samples as the tasks see them: each feature times a gain from 0.5 to 1 of the task's own, 1 in the first task."""
    gains = np.ones((int(tasks.max(initial=0)) + 1, n_features), np.float32)
    for task in range(1, len(gains)):
        gains[task] = 0.5 + 0.5 * uniform(key(seed, "gain", task), np.arange(n_features))
    changed = X * gains[tasks]
    return np.rint(changed).astype(np.uint8) if X.dtype == np.uint8 else changed.astype(X.dtype)
