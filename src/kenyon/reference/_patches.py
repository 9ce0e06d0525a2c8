"""Patches: units that look for one small filter in a part of an image.

    z(q) = f . u[q] / sqrt(var u[q] + eps)                       a filter f on the patch u[q] at a place q
    a    = sqrt(mean over q of max(0, z(q) - theta))             over the (2 r + 1)^2 places from a point on
    x    = min(255, 128 mean of a)                               over views of the sample, and their mirror images

in integers: with n values in a patch, 30 the unit of a filter's responses and isqrt, //, >> rounding down,

    scale(q) = isqrt(2^(2 b) n^2 // (n sum u^2 - (sum u)^2 + eps n^2))
    t = sum over q of max(0, f . u[q] scale(q) - round(30 theta 2^b)) >> c
    x = min(255, sum over m answers of isqrt(min(t // e, 2^20 - 1)) // (2 m))
    e = round((2 r + 1)^2 30 2^(b - c) / 256^2)

b and c are such that 31 bits hold every number. Pixel (y, x) of a view (k, s) comes from (k y - s x, s y + k x) / 64,
as seen from the middle and inside the sample, in steps of 1/128 between four pixels. `_leaves.py` has the filters.
"""

from __future__ import annotations

from base64 import b64decode
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.reference._activity import Active
from kenyon.reference._leaves import filters
from kenyon.reference._windows import as_bytes

VIEWS = ((64, 0), (72, 15), (54, -12), (54, 12), (72, -15))


class Patches:
    """Images to units with a filter each."""

    def __init__(self, spec: Any, seed: int) -> None:
        part = spec.features
        self.axes, self.shape, self.size, self.shifts = spec.axes, spec.shape, part.size, part.shifts
        sizes = {"c": 1, **dict(zip(self.axes, self.shape, strict=True))}
        self.sides, self.contrast = (sizes["h"], sizes["w"], sizes["c"]), part.contrast
        mirror = part.symmetry == "mirror"
        own = part.filters == "leaves"
        self.filters = (
            filters(seed, part.units, self.size, sizes["c"], self.contrast, part.grid, mirror) if own else _fitted(part)
        )
        self.images = [1, -1] if mirror else [1]
        self.views = VIEWS[: part.views]
        self.points = [_points(side - self.size, part.grid) for side in self.sides[:2]]
        n, pool = self.filters.shape[1], 2 * self.shifts + 1
        theta, largest = round(30 * part.threshold), 63 * n
        self.b = 31 - (largest + theta + 1).bit_length()
        self.c = max(0, (pool**2 * largest * 2**self.b).bit_length() - 31)
        self.e = max(1, round(pool**2 * 30 * 2.0 ** (self.b - self.c) / 256**2))
        self.threshold = round(part.threshold * 30 * 2.0**self.b)

    def __call__(self, u: NDArray) -> Active:
        u = u if u.dtype == np.uint8 else as_bytes(u.astype(np.float64))
        order = [self.axes.index(axis) for axis in "hwc" if axis in self.axes]
        image = u.reshape(self.shape).transpose(order).reshape(self.sides).astype(np.int64)
        seen = [view[:, ::side] for view in (_view(image, *turn) for turn in self.views) for side in self.images]
        x = np.minimum(sum(map(self._roots, seen)) // (2 * len(seen)), 255).astype(np.uint8)
        return np.flatnonzero(x), x[x > 0]

    def _roots(self, image: NDArray[np.int64]) -> NDArray[np.int64]:
        """isqrt(min(t // e, ...)) of every unit."""
        r, pool, out = self.shifts, 2 * self.shifts + 1, []
        padded = np.pad(image, ((r, r), (r, r), (0, 0)))
        seen = np.lib.stride_tricks.sliding_window_view(padded, (self.size, self.size), axis=(0, 1))
        patches = np.moveaxis(seen, 2, -1).reshape(*seen.shape[:2], -1)  # (rows, columns, values)
        n, total = patches.shape[2], patches.sum(axis=2)
        spread = n * (patches**2).sum(axis=2) - total**2 + self.contrast * n * n
        scale = np.vectorize(lambda below: isqrt(4**self.b * n * n // int(below)))(spread)
        down, right = self.points
        for unit, f in enumerate(self.filters.astype(np.int64)):
            row, column = divmod(unit % (len(down) * len(right)), len(right))
            part = slice(down[row], down[row] + pool), slice(right[column], right[column] + pool)
            above = np.maximum(patches[part] @ f * scale[part] - self.threshold, 0) >> self.c
            out.append(isqrt(min(int(above.sum()) // self.e, 2**20 - 1)))
        return np.array(out)


def _fitted(part: Any) -> NDArray[np.int8]:
    """Filters that were made of samples."""
    kept = np.frombuffer(b64decode(part.filters), np.int8)
    return kept.reshape(part.units, -1)


def _view(image: NDArray[np.int64], k: int, s: int) -> NDArray[np.int64]:
    """A sample turned and zoomed."""
    height, width = image.shape[:2]
    y, x = np.mgrid[1 - height : height : 2, 1 - width : width : 2]  # from the middle, in halves of a pixel
    row, below = np.divmod(np.clip(64 * (height - 1) + k * y - s * x, 0, 128 * (height - 1)), 128)
    column, beside = np.divmod(np.clip(64 * (width - 1) + s * y + k * x, 0, 128 * (width - 1)), 128)
    down, right = np.minimum(row + 1, height - 1), np.minimum(column + 1, width - 1)
    below, beside = below[..., np.newaxis], beside[..., np.newaxis]
    upper = (128 - beside) * image[row, column] + beside * image[row, right]
    lower = (128 - beside) * image[down, column] + beside * image[down, right]
    return (128 - below) * upper + below * lower + 2**13 >> 14


def _points(most: int, n: int) -> list[int]:
    """n numbers from 0 to `most`, evenly spread, symmetric."""
    half = [most * i // (n - 1) if n > 1 else most // 2 for i in range((n + 1) // 2)]
    return half + [most - i for i in reversed(half[: n // 2])]
