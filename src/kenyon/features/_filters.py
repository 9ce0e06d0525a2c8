"""The filters of patches: of candidates from a seed or from samples, each unit takes the one that is newest.

Filters that look for the same thing in the same part of an image are wasted. So unit u has CANDIDATES patches to choose
from, 8 u to 8 u + 7, and takes the one with the least

    sum over v of (w . v)^2,     v: the whitened patches of the units before it at its point

With mirror symmetry a unit at a mirrored point counts too, its patch mirrored. Whitened patches are compared in steps
of 1 / 1024, so that the sums are exact, and equal on every machine.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import ConfigError
from kenyon.features._leaves import OVER, below, dead_leaves, words
from kenyon.features._whitening import MOST, Whitening, normalised, whitening_of

LEAVES = "leaves"

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


def filters_of_samples(
    images: NDArray[np.uint8], seed: int, n: int, size: int, contrast: int, grid: int, mirror: bool
) -> NDArray[np.int8]:
    """Filters of patches of images, (n, size * size * channels).

    Args:
        images: (samples, height, width, channels).
        seed: words 3 k to 3 k + 2 say from which sample patch k is taken, and from where.
    """
    count = NEW * (n - 1) + CANDIDATES
    ends = (len(images), images.shape[1] - size + 1, images.shape[2] - size + 1)
    numbers = words(seed, np.arange(3 * count, dtype=np.uint64)).reshape(count, 3)
    which, top, left = (below(numbers[:, k], np.array(end))[:, np.newaxis, np.newaxis] for k, end in enumerate(ends))
    side = np.arange(size)
    patches = images[which, top + side[:, np.newaxis], left + side].reshape(count, -1)
    values, usable = normalised(patches, contrast)
    if not usable.any():
        raise ConfigError("no patch of the samples has contrast: expected images with edges")
    shape = (size, size, images.shape[3])
    return chosen_filters(whitening_of(patches, contrast), values, usable, n, shape, grid, mirror)


def as_text(filters: NDArray[np.int8]) -> str:
    """Filters as text for a file, in base 64."""
    return b64encode(filters.tobytes()).decode()


def from_text(text: str, values: int) -> NDArray[np.int8]:
    """Filters of this many values from their text; refuses what is not a filter."""
    try:
        filters = np.frombuffer(b64decode(text, validate=True), np.int8)
    except ValueError:
        filters = np.empty(0, np.int8)
    if not len(filters) or len(filters) % values:
        raise ConfigError(
            f"filters is {text[:20]!r}: expected {LEAVES!r}, or filters of {values} values by fit_filters"
        )
    filters = filters.reshape(-1, values)
    if np.abs(filters.astype(np.int64)).max() > MOST or filters.sum(axis=1, dtype=np.int64).any():
        raise ConfigError(
            f"filters holds entries beyond {MOST}, or sums that are not zero: expected those of fit_filters"
        )
    return filters


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
