"""A curriculum over a data set: episodes whose samples can be read from anywhere, in any cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from kenyon.data.protocol import StreamInfo
from kenyon.data.streams._blurry import BLURRY, BLURRY_TASKS, blurry_groups, blurry_rows
from kenyon.data.streams._curriculum import Curriculum
from kenyon.data.streams._dataset import Dataset, Split
from kenyon.data.streams._drift import (
    DRIFTS,
    DriftingLabels,
    changed_inputs,
    delayed,
    long_tail,
    share_of_task,
    task_of,
)
from kenyon.data.streams._episodes import EpisodeData, from_episodes
from kenyon.data.streams._labels import WITHHELD, MixedLabels, TaskLabels
from kenyon.data.streams._order import FixedOrder, Order, Passes, Shuffles, fading
from kenyon.data.streams._random import key, permutation, stratified_share
from kenyon.data.streams._rotated import HALF_TURN, check_images, rotated
from kenyon.data.streams._tasks import (
    EVERY_CLASS,
    class_groups,
    class_order,
    domain_groups,
    domain_of,
    uses_domains,
)
from kenyon.errors import ConfigError, InputError

Label = Callable[[NDArray[np.integer]], NDArray[np.int64]]
Change = Callable[[NDArray, NDArray[np.integer], bool], NDArray]


class Episode:
    """One task: its training samples in stream order, and its test samples.

    Attributes:
        task: its number.
        classes: the labels the learner meets (in "domain-incremental" without domains the places in the group; in
            blurry tasks those that have their own task here).
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
        changed: Change | None = None,
    ) -> None:
        self.task = task
        self.classes = classes
        self.original_classes = original_classes
        self._train = train
        self._open_test = test
        self._columns, self._changed = columns, changed

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
        shown = order.rows(start, stop)
        unknown = shown < 0  # ~row: the sample without its label, which arrives later
        rows = np.where(unknown, np.invert(shown), shown) if unknown.any() else shown
        X, columns = split.X[rows], self._columns()
        y = label(rows)
        y[unknown] = WITHHELD
        if self._changed is not None:
            X = self._changed(X, rows, which == "test")
        return X if columns is None else np.take(X, columns, axis=1), y

    def __repr__(self) -> str:
        return f"Episode(task={self.task}, classes={self.classes}, n_train={self.n_train})"


class Stream:
    """The episodes of a stream. Holds row numbers and labels, never samples.

    Args:
        source: a data set; or a list of episodes of your own, as `from_episodes` takes them, one after the other.
        curriculum: how the data set is streamed; episodes of your own come as they are given by default.

    Example:
        >>> stream = Curriculum("task-incremental").open(load_dataset("digits"))
        >>> len(stream.episodes), stream.info.n_classes, stream.info.task_heads
        (5, 10, True)
        >>> import numpy as np
        >>> X, y = np.arange(40, dtype=np.float32).reshape(20, 2), [0, 1] * 10
        >>> [episode.n_train for episode in Stream([(X, y), (X[::-1], y)]).episodes]
        [16, 16]
    """

    def __init__(self, source: Dataset | Sequence[EpisodeData], curriculum: Curriculum | None = None) -> None:
        own = not isinstance(source, Dataset)
        dataset = from_episodes(source) if not isinstance(source, Dataset) else source
        if curriculum is None:
            curriculum = Curriculum("domain-incremental", order="published") if own else Curriculum()
        self.dataset = dataset
        self.curriculum = curriculum
        self._by_domain = uses_domains(curriculum, dataset)
        self._blurry = curriculum.scenario in BLURRY
        self._domains: list[tuple[int, ...]] = []
        self._disjoint: frozenset[int] = frozenset()
        self._groups = self._class_groups()
        self._drifts = curriculum.scenario in DRIFTS
        self._positions = curriculum.scenario == "domain-incremental" and not self._by_domain
        if curriculum.scenario == "rotated":
            check_images(dataset.shape, dataset.name)
        one_class = dataset.n_classes < 2 if self._blurry or self._by_domain else min(map(len, self._groups)) < 2
        if curriculum.label_noise and one_class:
            raise ConfigError(
                f"label_noise is {curriculum.label_noise}: a task of one class has no wrong label to give"
            )
        train = dataset.train
        strata = train.y + dataset.n_classes * domain_of(train) if self._by_domain else train.y
        self._held_out = stratified_share(curriculum.seed, "holdout", strata, curriculum.holdout)
        self._rows_of: dict[tuple[int, ...], NDArray[np.int32]] = {}
        self._permutations: dict[int, NDArray[np.int64]] = {}
        self.episodes = self._build()

    @property
    def shared_classes(self) -> bool:
        """Whether tasks have classes in common and test samples of their own, so that they are tested one by one."""
        return self._by_domain or self._positions or self.curriculum.scenario in EVERY_CLASS

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
        if not any(own.n_labelled for own in labels):
            raise ConfigError(
                f"labelled is {curriculum.labelled}: expected more, it leaves none of "
                f"{sum(map(len, rows)):,} samples a label"
            )
        orders: list[Order] = [Passes(own, curriculum.epochs, task, shuffles) for task, own in enumerate(rows)]
        shown: list[Label] = [*labels]
        if curriculum.scenario in ("task-free", "gradual-drift"):
            written = [order.rows(0, len(order)) for order in orders]
            orders = [FixedOrder(segment) for segment in fading(written, curriculum.blur, curriculum.seed)]
        if curriculum.scenario == "task-free":
            shown = [MixedLabels(len(train.y), rows, labels)] * len(rows)
        if self._drifts:
            shown = [self._drifting(labels)] * len(rows)
        if curriculum.delay:
            written = [order.rows(0, len(order)) for order in orders]
            late = (curriculum.delay, curriculum.random_delay)
            orders = [FixedOrder(delayed(curriculum.seed, task, own, *late)) for task, own in enumerate(written)]
        return tuple(
            Episode(
                task,
                tuple(range(len(group))) if self._positions else group,
                group,
                (train, orders[task], shown[task]),
                lambda task=task: self._test_part(task),  # type: ignore[misc]
                lambda task=task: self._columns(task),  # type: ignore[misc]
                self._change(task),
            )
            for task, group in enumerate(self._groups)
        )

    def _drifting(self, labels: list[TaskLabels]) -> DriftingLabels:
        turning = self.curriculum.scenario != "virtual-drift"
        return DriftingLabels(self.curriculum.seed, self._groups[0], labels, turning, self._each)

    @property
    def _each(self) -> int:
        """Tasks until they repeat."""
        return len(self._groups) // self.curriculum.repeats

    def _change(self, task: int) -> Change | None:
        """What is done to the samples of a task."""
        if self.curriculum.scenario == "virtual-drift":
            return partial(self._seen_as, task)
        return partial(self._turned, task) if self.curriculum.scenario == "rotated" else None

    def _turned(self, task: int, X: NDArray, rows: NDArray[np.integer], test: bool) -> NDArray:
        degrees = HALF_TURN * (task % self._each) / self._each
        return rotated(X, self.dataset.shape, degrees, self.dataset.value_range[0])

    def _seen_as(self, task: int, X: NDArray, rows: NDArray[np.integer], test: bool) -> NDArray:
        seed, n = self.curriculum.seed, len(self._groups)
        tasks = np.full(len(rows), task) if test else task_of(seed, rows, n)
        return changed_inputs(seed, X, tasks % self._each, self.dataset.n_features)

    def _class_groups(self) -> list[tuple[int, ...]]:
        """The classes of each task; notes the domains or the disjoint classes, where tasks are made of these."""
        curriculum, dataset = self.curriculum, self.dataset
        if self._blurry:
            order = class_order(curriculum, dataset.class_names)
            n_tasks = curriculum.n_tasks or min(BLURRY_TASKS, len(order))
            cut = (n_tasks, curriculum.disjoint, curriculum.seed, curriculum.scenario == "si-blurry")
            groups, self._disjoint = blurry_groups(order, *cut)
            return groups * curriculum.repeats
        if not self._by_domain:
            return class_groups(curriculum, dataset.class_names)
        order = class_order(curriculum, dataset.domain_names, "domain")
        self._domains = domain_groups(order, curriculum.n_tasks) * curriculum.repeats
        train = dataset.train
        present = [np.unique(train.y[np.isin(domain_of(train), own)]) for own in self._domains]
        for own, classes in zip(self._domains, present, strict=True):
            names = ", ".join(repr(dataset.domain_names[domain]) for domain in own)
            if not len(classes):
                raise ConfigError(f"a task has no training sample: {dataset.name!r} has none of the domain {names}")
            if classes.max() < 0:
                raise ConfigError(f"a task has no label: {dataset.name!r} has none in the domain {names}")
        return [tuple(int(label) for label in classes if label >= 0) for classes in present]

    def _task_rows(self, task: int, group: tuple[int, ...]) -> NDArray[np.int32]:
        repeats, seed = self.curriculum.repeats, self.curriculum.seed
        rows = self._domain_rows(task) if self._by_domain else self._group_rows(group)
        if self._drifts:
            rows = share_of_task(seed, rows, task, len(self._groups)).astype(np.int32)
        elif self._blurry:
            rows = self._blurry_rows(task)
        elif repeats > 1:
            rows = share_of_task(seed, rows, task // self._each, repeats).astype(np.int32)
        if not len(rows):
            raise ConfigError(f"task {task} has no training sample: expected at least one in each of {repeats} repeats")
        limit = self.curriculum.max_per_task
        if limit is None or limit >= len(rows):
            return rows
        if self.curriculum.order == "published":
            return rows[:limit]
        return np.sort(rows[permutation(key(self.curriculum.seed, "limit", task), len(rows))[:limit]])

    def _blurry_rows(self, task: int) -> NDArray[np.int32]:
        repeats, every = self.curriculum.repeats, self._group_rows(tuple(range(self.dataset.n_classes)))
        if repeats > 1:
            every = share_of_task(self.curriculum.seed, every, task // self._each, repeats).astype(np.int32)
        cut = (self._groups[: self._each], self._disjoint, self.curriculum.blurry, self.curriculum.seed)
        return blurry_rows(self.dataset.train.y, every, *cut)[task % self._each].astype(np.int32)

    def _domain_rows(self, task: int) -> NDArray[np.int32]:
        """Training rows of the domains of a task, those without a label among them."""
        train = self.dataset.train
        rows = np.flatnonzero(np.isin(domain_of(train), self._domains[task]) & ~self._held_out).astype(np.int32)
        return self._tailed(rows)

    def _tailed(self, rows: NDArray[np.int32]) -> NDArray[np.int32]:
        if self.curriculum.long_tail == 1:
            return rows
        order = tuple(range(self.dataset.n_classes))
        if not self._by_domain:
            order = class_order(self.curriculum, self.dataset.class_names)
        return long_tail(self.curriculum.seed, self.dataset.train.y, rows, order, self.curriculum.long_tail)

    def _group_rows(self, group: tuple[int, ...]) -> NDArray[np.int32]:
        """Training rows of a group of classes, one array for all tasks that share it."""
        if group not in self._rows_of:
            everything = len(group) == self.dataset.n_classes  # then samples without a label belong here too
            shown = (*group, WITHHELD) if everything else group
            self._rows_of[group] = self._tailed(_members(self.dataset.train.y, shown, ~self._held_out))
            if not len(self._rows_of[group]):
                raise ConfigError(
                    f"a task has no training sample: {self.dataset.name!r} has none of the classes {group}"
                )
        return self._rows_of[group]

    def _labels(self, y: NDArray[np.int64], task: int, rows: NDArray[np.int32], noisy: bool) -> TaskLabels:
        c = self.curriculum
        shares = (c.labelled, c.label_noise) if noisy else (1.0, 0.0)
        every = tuple(range(self.dataset.n_classes))
        classes = every if self._blurry or self._by_domain else self._groups[task]
        return TaskLabels(y, rows, classes, self._positions, *shares, c.seed, task)

    def _test_part(self, task: int) -> tuple[Split, Order, Label]:
        held_out = self.curriculum.holdout > 0
        split = self.dataset.train if held_out else self.dataset.test
        rows = _members(split.y, self._groups[task], self._held_out if held_out else None)
        if self._by_domain:
            rows = rows[np.isin(domain_of(split)[rows], self._domains[task])]
        if not len(rows):
            raise ConfigError(f"task {task} has no test sample: {self.dataset.name!r} has none of what it learns")
        labels = self._labels(split.y, task, rows, noisy=False)
        if not self._drifts:
            return split, FixedOrder(rows), labels
        drifting = self._drifting([labels] * len(self._groups))
        return split, FixedOrder(rows), lambda some: drifting.of_task(some, np.full(len(some), task))

    def _columns(self, task: int) -> NDArray[np.int64] | None:
        """The feature permutation of a task; the first task is left as it is."""
        task %= self._each
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
