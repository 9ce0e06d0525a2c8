"""The order of the samples of an episode, any part of which can be had without the rest."""

from __future__ import annotations

from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kenyon.data.streams._random import key, permutation, uniform


class Order(Protocol):
    """Maps positions in an episode to rows of the data set."""

    def __len__(self) -> int: ...

    def rows(self, start: int, stop: int) -> NDArray[np.integer]: ...


class FixedOrder:
    """An order that is given row by row."""

    def __init__(self, rows: NDArray[np.integer]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def rows(self, start: int, stop: int) -> NDArray[np.integer]:
        return self._rows[start:stop]


class Shuffles:
    """The order of a pass over the rows of a task. One is kept at a time, shared by all tasks of a stream, so
    that memory grows neither with the passes nor with the tasks."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._kept: tuple[int, int, NDArray[np.integer]] = (-1, -1, np.empty(0, np.int32))

    def __call__(self, rows: NDArray[np.integer], task: int, number: int) -> NDArray[np.integer]:
        if self._kept[:2] != (task, number):
            order = permutation(key(self._seed, "order", task, number), len(rows))
            self._kept = (task, number, rows[order])
        return self._kept[2]


class Passes:
    """One or more passes over the same rows; each pass is shuffled differently, unless `shuffles` is None."""

    def __init__(self, rows: NDArray[np.integer], epochs: float, task: int, shuffles: Shuffles | None) -> None:
        self._base = rows
        self._length = max(1, round(epochs * len(rows))) if len(rows) else 0
        self._task, self._shuffles = task, shuffles

    def __len__(self) -> int:
        return self._length

    def rows(self, start: int, stop: int) -> NDArray[np.integer]:
        n = len(self._base)
        pieces = []
        while start < stop:
            number, offset = divmod(start, n)
            end = min(stop, (number + 1) * n)
            order = self._shuffles(self._base, self._task, number) if self._shuffles else self._base
            pieces.append(order[offset : offset + end - start])
            start = end
        return np.concatenate(pieces) if pieces else self._base[:0]


def fading(groups: list[NDArray[np.integer]], blur: float, seed: int) -> list[NDArray[np.integer]]:
    """Groups that fade into each other; every row comes once, in one of as many segments.

    Group g has the segment [a, b) of the stream. The chance that a sample at place t belongs to it
    rises linearly from 0 to 1 between a - w/2 and a + w/2 and falls in the same way around b, where
    w is `blur` times the shorter of the two segments that meet. The first does not rise, the last
    does not fall. As many places as the group has rows are drawn from that profile, sorted, and given
    to its rows in their order; then all rows are sorted by place.
    """
    ends = np.cumsum([len(group) for group in groups])
    starts = ends - [len(group) for group in groups]
    widths = [0.0, *(blur * min(len(g), len(h)) for g, h in pairwise(groups)), 0.0]
    places = [
        _trapezium(
            np.sort(uniform(key(seed, "fading", g), np.arange(len(group)))),
            starts[g],
            ends[g],
            widths[g],
            widths[g + 1],
        )
        for g, group in enumerate(groups)
    ]
    order = np.argsort(np.concatenate(places), kind="stable")
    return np.split(np.concatenate(groups)[order], ends[:-1])


def _trapezium(u: NDArray[np.float64], a: float, b: float, rise: float, fall: float) -> NDArray[np.float64]:
    """Places whose density rises over `rise` around a, is 1, and falls over `fall` around b (inverse of its
    distribution function; the area is b - a)."""
    area = u * (b - a)
    up, down = rise / 2, (b - a) - fall / 2
    place = a + area
    low, high = area < up, area > down
    place[low] = a - rise / 2 + np.sqrt(2 * rise * area[low])
    place[high] = b + fall / 2 - np.sqrt(2 * fall * ((b - a) - area[high]))
    return place
