"""Which classes, or which domains, make up which task."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kenyon.data.streams._curriculum import Curriculum
from kenyon.data.streams._dataset import Dataset, Split
from kenyon.data.streams._drift import DRIFT_TASKS, DRIFTS
from kenyon.data.streams._random import key, permutation
from kenyon.errors import ConfigError, DataError, unknown

PERMUTED_TASKS = 10
EVERY_CLASS = ("single-task", "permuted", "rotated", *DRIFTS)
"""Scenarios in which every task has every class."""


def class_groups(curriculum: Curriculum, names: Sequence[str]) -> list[tuple[int, ...]]:
    """The classes of each task, in the order of the stream."""
    n_classes = len(names)
    order = class_order(curriculum, names)
    if curriculum.scenario in EVERY_CLASS:
        usual = {"single-task": 1, "permuted": PERMUTED_TASKS, "rotated": PERMUTED_TASKS}
        return [order] * (curriculum.n_tasks or usual.get(curriculum.scenario, DRIFT_TASKS)) * curriculum.repeats
    ends = np.cumsum(_sizes(curriculum, n_classes))
    groups = [order[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]
    return groups * curriculum.repeats


def class_order(curriculum: Curriculum, names: Sequence[str], what: str = "class") -> tuple[int, ...]:
    """The numbers of the classes, or of the domains, in the order of the stream."""
    order, n_classes = curriculum.class_order, len(names)
    if isinstance(order, tuple) and isinstance(order[0], str):
        for name in order:
            if name not in names:
                raise unknown(what, name, names)
        order = tuple(list(names).index(str(name)) for name in order)
    if isinstance(order, tuple):
        if sorted(order) != list(range(n_classes)):
            raise ConfigError(f"class_order is {list(order)}: expected every {what} from 0 to {n_classes - 1} once")
        return tuple(int(c) for c in order)
    if order == "shuffled":
        return tuple(int(c) for c in permutation(key(curriculum.seed, "class order"), n_classes))
    return tuple(range(n_classes))


def _sizes(curriculum: Curriculum, n_classes: int) -> list[int]:
    sizes = curriculum.task_sizes
    if sizes is not None:
        if sum(sizes) != n_classes:
            raise ConfigError(f"task_sizes is {list(sizes)}, {sum(sizes)} in all: the data set has {n_classes} classes")
        return list(sizes)
    n_tasks = curriculum.n_tasks or _default_tasks(n_classes, curriculum.scenario == "domain-incremental")
    if n_tasks > n_classes:
        raise ConfigError(f"n_tasks is {n_tasks}: the data set has only {n_classes} classes to share out")
    base, larger = divmod(n_classes, n_tasks)
    return [base + (task < larger) for task in range(n_tasks)]


def _default_tasks(n_classes: int, shared_labels: bool) -> int:
    """Pairs of classes for fewer than 20 classes, ten tasks for more.

    Where tasks share their labels, it is the nearest number that divides the classes evenly, if there is one, so that
    every label has a class in every task.
    """
    usual = n_classes if n_classes < 4 else n_classes // 2 if n_classes < 20 else 10
    if not shared_labels:
        return usual
    if n_classes < 4:
        raise ConfigError(f"'domain-incremental' needs four classes, two tasks of two: this data set has {n_classes}")
    even = [n for n in range(2, n_classes // 2 + 1) if n_classes % n == 0]
    return min(even, key=lambda n: (abs(n - usual), n), default=usual)


def uses_domains(curriculum: Curriculum, dataset: Dataset) -> bool:
    """Whether the tasks of a stream are the domains of its data set."""
    has = bool(dataset.domain_names)
    if curriculum.tasks_by == "domains" and not has:
        raise ConfigError(f"tasks_by is 'domains' and {dataset.name!r} has none: expected a data set with domains")
    return has and (
        curriculum.tasks_by == "domains"
        or (curriculum.tasks_by is None and curriculum.scenario == "domain-incremental")
    )


def domain_groups(order: tuple[int, ...], n_tasks: int | None) -> list[tuple[int, ...]]:
    """The domains of each task: one each, or (nearly) as many each where fewer tasks are wanted."""
    n_tasks = len(order) if n_tasks is None else n_tasks
    if n_tasks > len(order):
        raise ConfigError(f"n_tasks is {n_tasks}: the data set has only {len(order)} domains to share out")
    ends = np.cumsum([0] + [len(order) // n_tasks + (task < len(order) % n_tasks) for task in range(n_tasks)])
    return [order[start:end] for start, end in pairwise(ends.tolist())]


def domain_of(split: Split) -> NDArray[np.int64]:
    """The domain of each sample of a split that has them."""
    if split.domain is None:
        raise DataError("a split has no domains: expected the domain of each of its samples")
    return split.domain
