"""Patches of dead leaves: disks of random sizes and colours that cover one another, drawn from a seed in integers.

Small patches of such pictures have edges, corners and flat parts as photographs do, so that filters made of them serve
as well as filters made of the data, and nothing has to be stored (Lee, Mumford and Huang, 2001, on the model).

A patch has a grid of `OVER` x `OVER` points in each pixel. Disks are laid from the front to the back; a point has the
colour of the first disk that covers it, and a pixel the sum of its points. Disk j of patch p, with words of SplitMix64
(`core/draw.h`) from number (p DISKS + j) (4 + channels) on:

    r            the radius: LEAST to MOST points, with the weight ((side + 2 r)^2 2^24) // r^3
    y, x         its centre: below(side + 2 r) - r each
    colour       below(256) + below(2 CHROMA + 1) - CHROMA, from 0 to 255; the first term is the same for all channels
"""

from __future__ import annotations

from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

OVER = 2
DISKS = 24
"""Disks of a patch; points that none of them covers are grey."""

LEAST, MOST = 4, 48
CHROMA = 89
GREY = 128

GOLDEN, FIRST_ODD, SECOND_ODD = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def dead_leaves(seed: int, numbers: NDArray[np.integer], size: int, channels: int) -> NDArray[np.int64]:
    """Patches by their numbers, (n, size * size * channels): sums over `OVER` x `OVER` points.

    Example:
        >>> dead_leaves(0, np.arange(2), size=4, channels=3).shape
        (2, 48)
    """
    side, fields = size * OVER, 4 + channels
    order = np.arange(DISKS * fields, dtype=np.uint64).reshape(DISKS, fields)
    drawn = words(seed, np.add.outer(numbers.astype(np.uint64) * np.uint64(DISKS * fields), order))
    radii = np.arange(LEAST, MOST + 1)
    weights = list(accumulate((side + 2 * int(r)) ** 2 * 2**24 // int(r) ** 3 for r in radii))
    radius = radii[np.searchsorted(weights, below(drawn[..., 0], np.array(weights[-1])), side="right")]
    row, column = (below(drawn[..., k], side + 2 * radius) - radius for k in (1, 2))
    hues = below(drawn[..., 4:], np.array(2 * CHROMA + 1)) - CHROMA
    colours = np.clip(below(drawn[..., 3:4], np.array(256)) + hues, 0, 255)
    picture = np.full((len(numbers), side, side, channels), GREY)
    free = np.ones(picture.shape[:3], bool)
    points = np.arange(side)
    for disk in range(DISKS):
        away = (points - row[:, disk, np.newaxis]) ** 2, (points - column[:, disk, np.newaxis]) ** 2
        covered = free & (
            away[0][:, :, np.newaxis] + away[1][:, np.newaxis] < radius[:, disk, np.newaxis, np.newaxis] ** 2
        )
        picture[covered] = colours[np.nonzero(covered)[0], disk]
        free &= ~covered
        if not free.any():
            break
    pixels = picture.reshape(len(numbers), size, OVER, size, OVER, channels).sum(axis=(2, 4))
    return pixels.reshape(len(numbers), size * size * channels)


def words(seed: int, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The upper halves of words of a stream, by their numbers."""
    z = np.uint64(seed) + (numbers + np.uint64(1)) * GOLDEN
    z = (z ^ z >> np.uint64(30)) * FIRST_ODD
    z = (z ^ z >> np.uint64(27)) * SECOND_ODD
    return (z ^ z >> np.uint64(31)) >> np.uint64(32)


def below(upper: NDArray[np.uint64], n: NDArray[np.integer]) -> NDArray[np.int64]:
    """Numbers below n from upper halves of words."""
    return (upper * n.astype(np.uint64) >> np.uint64(32)).astype(np.int64)
