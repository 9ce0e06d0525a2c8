"""Blurry tasks: some classes belong to one task, the others have a few samples in every task.

A share `disjoint` of the classes is disjoint: all samples of such a class are in one task. Every other class is blurry:
it has a task of its own too, but a share `blurry` of its samples is pooled with those of the other blurry classes,
shuffled, and dealt out evenly to all tasks. Published with 50 % disjoint classes, 10 % blurry samples and five tasks.

    i-blurry    every task has (nearly) as many disjoint and blurry classes of its own as any other
    si-blurry   the cuts between tasks are drawn at random, so that tasks differ in size

Classes that the number of tasks does not divide are dealt out too; the published code leaves them out. In si-blurry
cuts are drawn again until each task has a class of its own, since a task without one has nothing to be tested on.

References: Koh et al., Online continual learning on class incremental blurry task configuration with anytime
inference, 2022; Moon et al., Online class incremental learning on stochastic blurry task boundary, 2023.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kenyon.data.streams._random import draw, key, permutation
from kenyon.errors import ConfigError

BLURRY = ("i-blurry", "si-blurry")
BLURRY_TASKS = 5
_DRAWS = 1000


def blurry_groups(
    order: tuple[int, ...], n_tasks: int, disjoint: float, seed: int, random_cuts: bool
) -> tuple[list[tuple[int, ...]], frozenset[int]]:
    """The classes of each task's own, and which of all classes are disjoint.

    Args:
        order: every class, in the order of the stream; the first ones are the disjoint classes.
        n_tasks: how many tasks.
        disjoint: the share of disjoint classes.
        seed: of the cuts, where they are random.
        random_cuts: True for "si-blurry".
    """
    if n_tasks > len(order):
        raise ConfigError(f"n_tasks is {n_tasks}: the data set has only {len(order)} classes to share out")
    n_disjoint = round(disjoint * len(order))
    parts = [order[:n_disjoint], order[n_disjoint:]]
    for attempt in range(_DRAWS if random_cuts else 1):
        cuts = [_cuts(len(part), n_tasks, key(seed, "cuts", attempt, k), random_cuts) for k, part in enumerate(parts)]
        groups = [
            tuple(c for part, ends in zip(parts, cuts, strict=True) for c in part[ends[task] : ends[task + 1]])
            for task in range(n_tasks)
        ]
        if all(groups):
            return groups, frozenset(parts[0])
    # Too few classes for some of each kind in every task: they are dealt out over the whole order.
    ends = _cuts(len(order), n_tasks, 0, False)
    return [tuple(order[ends[task] : ends[task + 1]]) for task in range(n_tasks)], frozenset(parts[0])


def _cuts(n: int, n_tasks: int, drawn_by: int, random_cuts: bool) -> list[int]:
    """Where the classes of each task begin, and the end."""
    if random_cuts and n:
        inner = np.sort(draw(drawn_by, np.arange(n_tasks - 1)) % np.uint64(n)).astype(int).tolist()
        return [0, *inner, n]
    return [n * task // n_tasks for task in range(n_tasks + 1)]


def blurry_rows(
    y: NDArray[np.int64],
    rows: NDArray[np.integer],
    groups: list[tuple[int, ...]],
    disjoint: frozenset[int],
    share: float,
    seed: int,
) -> list[NDArray[np.integer]]:
    """The rows of each task, in file order.

    Args:
        y: the labels of the training set.
        rows: the rows that are streamed.
        groups: the classes of each task's own.
        disjoint: the disjoint classes.
        share: the share of the samples of each blurry class that is dealt out to all tasks.
        seed: decides which samples these are.
    """
    own: list[list[NDArray[np.integer]]] = [[] for _ in groups]
    pooled: list[NDArray[np.integer]] = []
    for task, group in enumerate(groups):
        for label in group:
            members = rows[y[rows] == label]
            n = 0 if label in disjoint else round(share * len(members))
            shuffled = members[permutation(key(seed, "blurry", label), len(members))]
            pooled.append(shuffled[:n])
            own[task].append(shuffled[n:])
    pool = np.concatenate(pooled) if pooled else rows[:0]
    pool = pool[permutation(key(seed, "blurry pool"), len(pool))]
    dealt = np.array_split(pool, len(groups))
    return [np.sort(np.concatenate([*parts, more])) for parts, more in zip(own, dealt, strict=True)]
