"""The filters of patches: candidates from a seed or from samples, of which each unit takes the one that is newest to it.

Filters that look for the same thing in the same part of an image are wasted. So unit u has CANDIDATES patches to choose
from, 2 u to 2 u + 7, and takes the one with the least

    sum over v of (w . v)^2,     v: the whitened patches of the units before it at its point

With mirror symmetry a unit at a mirrored point counts too, its patch mirrored. Whitened patches are compared in steps
of 1 / 1024, so that the sums are exact, and equal on every machine.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kenyon.features._leaves import OVER, dead_leaves
from kenyon.features._whitening import Whitening, normalised, whitening_of

DICTIONARY = 2048
"""Patches that the whitening of filters from a seed is made of, the same for every seed."""

CANDIDATES, NEW = 8, 8
"""Patches that a unit chooses from, and how many of them the unit before it did not have."""

STEPS = 1024.0


def filters_of_leaves(
    seed: int, n: int, size: int, channels: int, contrast: int, grid: int, mirror: bool
) -> NDArray[np.int8]:
    """Filters from a seed, (n, size * size * channels): the first ones are the same however many are asked for.

    Example:
        >>> filters = filters_of_leaves(seed=0, n=10, size=4, channels=3, contrast=10, grid=5, mirror=True)
        >>> filters.shape, np.abs(filters.sum(axis=1, dtype=int)).max().item()
        ((10, 48), 0)
    """
    patches = dead_leaves(seed, np.arange(NEW * (n - 1) + CANDIDATES), size, channels)
    values, usable = normalised(patches, contrast, OVER**2)
    whitening = whitening_of_leaves(size, channels, contrast)
    return chosen_filters(whitening, values, usable, n, (size, size, channels), grid, mirror)


@lru_cache(maxsize=8)
def whitening_of_leaves(size: int, channels: int, contrast: int) -> Whitening:
    """The whitening of patches of dead leaves."""
    return whitening_of(dead_leaves(0, np.arange(DICTIONARY), size, channels), contrast, OVER**2)


def chosen_filters(
    whitening: Whitening,
    values: NDArray[np.int64],
    usable: NDArray[np.bool_],
    n: int,
    shape: tuple[int, int, int],
    grid: int,
    mirror: bool,
) -> NDArray[np.int8]:
    """The filters of n units.

    Args:
        whitening: how patches become filters.
        values, usable: candidates as `normalised` gives them, NEW (n - 1) + CANDIDATES of them.
        shape: of a patch.
        grid: points along each axis, which units take in turn.
        mirror: whether a unit answers to the mirror image too.
    """
    white = whitening.white(values)
    steps = np.rint(STEPS * white)
    mirrored = steps.reshape(-1, *shape)[:, :, ::-1].reshape(steps.shape)
    seen = np.zeros((grid * grid, steps.shape[1], steps.shape[1]))
    taken = np.empty(n, np.int64)
    for unit in range(n):
        row, column = divmod(unit % (grid * grid), grid)
        turned = mirror and column > grid - 1 - column
        point = row * grid + (grid - 1 - column if turned else column)
        some = slice(NEW * unit, NEW * unit + CANDIDATES)
        own = (mirrored if turned else steps)[some]
        likeness = np.where(usable[some], ((own @ seen[point]) * own).sum(axis=1), np.inf)  # integers below 2^53
        best = int(np.argmin(likeness))
        taken[unit] = NEW * unit + best
        seen[point] += np.outer(own[best], own[best])
        if mirror and 2 * column == grid - 1:
            other = mirrored[taken[unit]]
            seen[point] += np.outer(other, other)
    return whitening.filters(white[taken])
