"""Filters of patches from a seed: whitened patches of dead leaves, disks of random sizes and colours.

    q = (p - mean p) / sqrt(var p + eps), in steps of 1 / 256       a patch p
    Z = (mean of q q' + I / 10)^(-1/2)                              over patches 0 .. 2047 of seed 0 with var q > 1/4
    w = Z q / |Z q|;   f = Z w less its mean                        filter = 30 f / d, as integers whose sum is 0

d is the root mean square of f' q over those patches. Unit u has patches 8 u .. 8 u + 7 of its seed to choose from, and
takes the one with the least sum of (w . v)^2 over the units v before it at its point, in steps of 1 / 1024. With mirror
symmetry, units at the mirrored point count too, mirrored.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from kenyon.reference._activity import in_order
from kenyon.reference._random import GOLDEN, scramble

DISKS = 24


def patch(seed: int, number: int, size: int, channels: int) -> NDArray[np.int64]:
    """Pixels of a patch, each the sum of 2 x 2 points."""
    side, fields = 2 * size, 4 + channels
    weights = list(accumulate((side + 2 * r) ** 2 * 2**24 // r**3 for r in range(4, 49)))
    points = np.full((side, side, channels), 128)
    free = np.ones((side, side), bool)
    y, x = np.mgrid[:side, :side]
    for disk in range(DISKS):
        first = (number * DISKS + disk) * fields
        words = [scramble((seed + (first + k + 1) * GOLDEN) % 2**64) >> 32 for k in range(fields)]
        r = 4 + bisect_right(weights, words[0] * weights[-1] >> 32)
        row, column = ((word * (side + 2 * r) >> 32) - r for word in words[1:3])
        light = words[3] * 256 >> 32
        covered = free & ((y - row) ** 2 + (x - column) ** 2 < r * r)
        points[covered] = [min(255, max(0, light + (word * 179 >> 32) - 89)) for word in words[4:]]
        free &= ~covered
        if not free.any():
            break
    return points.reshape(size, 2, size, 2, channels).sum(axis=(1, 3)).ravel()


def _normalised(p: NDArray[np.int64], eps: int) -> tuple[NDArray[np.float64], bool]:
    """q in steps of 1 / 256, and whether the patch has contrast; pixels are sums of four."""
    n, total = len(p), int(p.sum())
    spread, least = n * int((p * p).sum()) - total**2, 16 * eps * n * n
    return np.rint(256 * (n * p - total) / np.sqrt(float(spread + least))), 3 * spread > least


@cache
def _whitening(size: int, channels: int, eps: int) -> tuple[NDArray[np.float64], float]:
    """Z and d."""
    values = [_normalised(patch(0, number, size, channels), eps) for number in range(2048)]
    q = np.array([one for one, usable in values if usable])
    covariance = (q.T @ q) / (256.0**2 * len(q))  # of integers: exact
    matrix = covariance + 0.1 * np.eye(q.shape[1])
    trace = float(in_order(np.diag(matrix)))
    root, inverse = matrix / trace, np.eye(len(matrix))
    for _ in range(24):  # Newton's iteration: root -> matrix^(1/2), inverse -> matrix^(-1/2)
        step = 1.5 * np.eye(len(matrix)) - 0.5 * _times(inverse, root)
        root, inverse = _times(root, step), _times(step, inverse)
    z = inverse / np.sqrt(trace)
    f = _filter(_white(q, z), z)
    squares = in_order((_times(f, covariance) * f).T)
    return z, float(np.sqrt(in_order(squares) / len(squares)))


def _times(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """The matrix product, its sums in order."""
    out = np.zeros((len(a), b.shape[1]))
    for k in range(len(b)):
        out = out + np.outer(a[:, k], b[k])
    return out


def _white(q: NDArray[np.float64], z: NDArray[np.float64]) -> NDArray[np.float64]:
    w = _times(q, z)
    length = np.sqrt(in_order((w * w).T))
    return w / np.where(length > 0, length, 1.0)[:, np.newaxis]


def _filter(w: NDArray[np.float64], z: NDArray[np.float64]) -> NDArray[np.float64]:
    f = _times(w, z)
    return f - (in_order(f.T) / f.shape[1])[:, np.newaxis]


def filters(seed: int, n: int, size: int, channels: int, eps: int, grid: int, mirror: bool) -> NDArray[np.int8]:
    """The filters of n units."""
    z, d = _whitening(size, channels, eps)
    chosen: dict[int, list[NDArray]] = {}
    out = []
    for unit in range(n):
        row, column = divmod(unit % grid**2, grid)
        turned = mirror and column > grid - 1 - column
        point = row * grid + (grid - 1 - column if turned else column)
        some = [_normalised(patch(seed, 8 * unit + k, size, channels), eps) for k in range(8)]
        w = _white(np.array([q for q, _ in some]), z)
        steps = np.rint(1024.0 * w).astype(np.int64)
        flipped = steps.reshape(8, size, size, channels)[:, :, ::-1].reshape(8, -1)
        own = flipped if turned else steps
        before = chosen.setdefault(point, [])
        likeness = [
            sum(int(own[k] @ v) ** 2 for v in before) if usable else 2**62 for k, (_, usable) in enumerate(some)
        ]
        best = likeness.index(min(likeness))
        before.append(own[best])
        if mirror and 2 * column == grid - 1:
            before.append(flipped[best])
        out.append(_rounded(_filter(w[best : best + 1], z)[0] * (30 / d)))
    return np.array(out, np.int8)


def _rounded(f: NDArray[np.float64]) -> list[int]:
    """Integers from -62 to 62 next to f; those with the largest errors then move by one, so that the sum is zero."""
    rounded = [int(min(62, max(-62, np.rint(value)))) for value in f]
    excess = sum(rounded)
    sign = (excess > 0) - (excess < 0)
    for k in sorted(range(len(f)), key=lambda k: (sign * (f[k] - rounded[k]), k))[: abs(excess)]:
        rounded[k] -= sign
    return rounded
