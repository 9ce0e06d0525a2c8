"""A curriculum over a data set: episodes whose samples can be read from anywhere, in any cut."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import ConfigError, InputError
from kenyon.protocol import StreamInfo
from kenyon.streams._curriculum import Curriculum
from kenyon.streams._dataset import Dataset, Split
from kenyon.streams._labels import GroupLabels, TaskLabels
from kenyon.streams._order import FixedOrder, Order, Passes, Shuffles, fading
from kenyon.streams._random import key, permutation, stratified_share
from kenyon.streams._tasks import class_groups

Label = Callable[[NDArray[np.integer]], NDArray[np.int64]]


class Episode:
    """One task: its training samples in stream order, and its test samples.

    Attributes:
        task: its number.
        classes: the labels the learner meets (in "domain-incremental" the places in the group).
        original_classes: the data set's own classes behind them.
        n_train, n_test: how many samples `train` and `test` can give.

    Example:
        >>> episode = Curriculum("class-incremental").open(load_dataset("digits")).episodes[0]
        >>> X, y = episode.train(0, 5)
        >>> X.shape, sorted(set(y.tolist()))
        ((5, 64), [0, 1])
    """

    def __init__(
        self,
        task: int,
        classes: tuple[int, ...],
        original_classes: tuple[int, ...],
        train: tuple[Split, Order, Label],
        test: Callable[[], tuple[Split, Order, Label]],
        columns: Callable[[], NDArray[np.int64] | None],
    ) -> None:
        self.task = task
        self.classes = classes
        self.original_classes = original_classes
        self._train = train
        self._open_test = test
        self._columns = columns

    @cached_property
    def _test(self) -> tuple[Split, Order, Label]:
        return self._open_test()  # at first use, since a learner may train without ever being tested

    @property
    def n_train(self) -> int:
        return len(self._train[1])

    @property
    def n_test(self) -> int:
        return len(self._test[1])

    def train(self, start: int = 0, stop: int | None = None) -> tuple[NDArray, NDArray[np.int64]]:
        """Training samples `start .. stop` of the episode and their labels (-1 where withheld)."""
        return self._read("training", self._train, start, stop)

    def test(self, start: int = 0, stop: int | None = None) -> tuple[NDArray, NDArray[np.int64]]:
        """Test samples `start .. stop` of the task's classes and their true labels."""
        return self._read("test", self._test, start, stop)

    def _read(
        self, which: str, source: tuple[Split, Order, Label], start: int, stop: int | None
    ) -> tuple[NDArray, NDArray[np.int64]]:
        split, order, label = source
        stop = len(order) if stop is None else stop
        if not 0 <= start <= stop <= len(order):
            raise InputError(f"{which} samples {start} to {stop} of task {self.task} asked for, it has {len(order)}")
        rows = order.rows(start, stop)
        X, columns = split.X[rows], self._columns()
        return X if columns is None else np.take(X, columns, axis=1), label(rows)

    def __repr__(self) -> str:
        return f"Episode(task={self.task}, classes={self.classes}, n_train={self.n_train})"


class Stream:
    """The episodes of a curriculum over a data set. Holds row numbers and labels, never samples.

    Example:
        >>> stream = Curriculum("task-incremental").open(load_dataset("digits"))
        >>> len(stream.episodes), stream.info.n_classes, stream.info.task_heads
        (5, 10, True)
    """

    def __init__(self, dataset: Dataset, curriculum: Curriculum) -> None:
        self.dataset = dataset
        self.curriculum = curriculum
        self._groups = class_groups(curriculum, dataset.n_classes)
        self._positions = curriculum.scenario == "domain-incremental"
        if curriculum.label_noise and min(map(len, self._groups)) < 2:
            raise ConfigError(
                f"label_noise is {curriculum.label_noise}: a task of one class has no wrong label to give"
            )
        self._held_out = stratified_share(curriculum.seed, "holdout", dataset.train.y, curriculum.holdout)
        self._rows_of: dict[tuple[int, ...], NDArray[np.int32]] = {}
        self._permutations: dict[int, NDArray[np.int64]] = {}
        self.episodes = self._build()

    @cached_property
    def info(self) -> StreamInfo:
        """What a learner may know beforehand."""
        return StreamInfo(
            shape=self.dataset.shape,
            n_classes=max(map(len, self._groups)) if self._positions else self.dataset.n_classes,
            tasks=tuple(episode.classes for episode in self.episodes),
            n_train=sum(episode.n_train for episode in self.episodes),
            task_heads=self.curriculum.scenario == "task-incremental",
            value_range=self.dataset.value_range,
        )

    def _build(self) -> tuple[Episode, ...]:
        curriculum, train = self.curriculum, self.dataset.train
        rows = [self._task_rows(task, group) for task, group in enumerate(self._groups)]
        shuffles = Shuffles(curriculum.seed) if curriculum.order == "shuffled" else None
        labels = [self._labels(train.y, task, rows[task], noisy=True) for task in range(len(rows))]
        orders: list[Order] = [Passes(own, curriculum.epochs, task, shuffles) for task, own in enumerate(rows)]
        shown: list[Label] = [*labels]
        if curriculum.scenario == "task-free":
            written = [order.rows(0, len(order)) for order in orders]
            orders = [FixedOrder(segment) for segment in fading(written, curriculum.blur, curriculum.seed)]
            shown = [GroupLabels(train.y, self._groups, labels)] * len(rows)
        return tuple(
            Episode(
                task,
                tuple(range(len(group))) if self._positions else group,
                group,
                (train, orders[task], shown[task]),
                lambda task=task: self._test_part(task),  # type: ignore[misc]
                lambda task=task: self._columns(task),  # type: ignore[misc]
            )
            for task, group in enumerate(self._groups)
        )

    def _task_rows(self, task: int, group: tuple[int, ...]) -> NDArray[np.int32]:
        rows = self._group_rows(group)
        limit = self.curriculum.max_per_task
        if limit is None or limit >= len(rows):
            return rows
        if self.curriculum.order == "published":
            return rows[:limit]
        return np.sort(rows[permutation(key(self.curriculum.seed, "limit", task), len(rows))[:limit]])

    def _group_rows(self, group: tuple[int, ...]) -> NDArray[np.int32]:
        """Training rows of a group of classes, one array for all tasks that share it."""
        if group not in self._rows_of:
            self._rows_of[group] = _members(self.dataset.train.y, group, ~self._held_out)
            if not len(self._rows_of[group]):
                raise ConfigError(
                    f"a task has no training sample: {self.dataset.name!r} has none of the classes {group}"
                )
        return self._rows_of[group]

    def _labels(self, y: NDArray[np.int64], task: int, rows: NDArray[np.int32], noisy: bool) -> TaskLabels:
        c = self.curriculum
        shares = (c.labelled, c.label_noise) if noisy else (1.0, 0.0)
        return TaskLabels(y, rows, self._groups[task], self._positions, *shares, c.seed, task)

    def _test_part(self, task: int) -> tuple[Split, Order, Label]:
        held_out = self.curriculum.holdout > 0
        split = self.dataset.train if held_out else self.dataset.test
        rows = _members(split.y, self._groups[task], self._held_out if held_out else None)
        return split, FixedOrder(rows), self._labels(split.y, task, rows, noisy=False)

    def _columns(self, task: int) -> NDArray[np.int64] | None:
        """The feature permutation of a task; the first task is left as it is."""
        if self.curriculum.scenario != "permuted" or task == 0:
            return None
        if task not in self._permutations:
            order = permutation(key(self.curriculum.seed, "features", task), self.dataset.n_features)
            self._permutations[task] = order
        return self._permutations[task]


def _members(y: NDArray[np.int64], group: tuple[int, ...], among: NDArray[np.bool_] | None) -> NDArray[np.int32]:
    """Rows of the given classes, in file order."""
    chosen = np.isin(y, group)
    if among is not None:
        chosen &= among
    return np.flatnonzero(chosen).astype(np.int32)
