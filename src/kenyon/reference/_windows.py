"""Windows: units that look at a small part of an image or a series, wherever a small shift of it answers best.

    r(d) = sum_k s_k u[place_k + d],    |d| <= r along each axis          the response of a unit at a shift d
    p    = max_d r(d)   or   sum_d max(0, r(d))                           pooled over the shifts
    v    = p            or   sqrt(p / 2^a)                                with `root`
    x    = ReLU(v - mu - beta sigma)                                      `_activity.py`

A unit has K inputs of any channel inside a window at a random place, with signs s of +1 or -1; outside the sample there
are zeros. The sum of bytes p has at most m bits: a = m - 16, and bytes of activity are x / 2^(m - 8), or x with `root`.
Floats are read as bytes divided by 255.
"""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.reference._activity import Active, activity, in_order
from kenyon.reference._random import Generator


class Windows:
    """Samples of a shape to units with a window each."""

    def __init__(self, spec: Any, seed: int) -> None:
        self.spec, k = spec, spec.features.density
        self.axes = spec.axes.replace("t", "w")
        sizes = {"c": 1, "h": 1, **dict(zip(self.axes, spec.shape, strict=True))}
        self.size = sizes["c"], sizes["h"], sizes["w"]
        self.shifts = (0 if "t" in spec.axes else spec.features.shifts), spec.features.shifts
        self.excitatory = k - round(spec.features.inhibitory * k)
        window = (1 if "t" in spec.axes else spec.features.window), spec.features.window
        drawn = _drawn(seed, spec.n_units, k, self.excitatory, self.size, window, spec.features.signs)
        self.inputs = np.moveaxis(np.array(drawn), 2, 0)
        self.signs = np.where(np.arange(k) < self.excitatory, 1, -1)[:, np.newaxis]

    def __call__(self, u: NDArray) -> Active:
        spec = self.spec
        if u.dtype != np.uint8 and spec.scale == "range":
            u = as_bytes(u.astype(np.float64))
        of_bytes = u.dtype == np.uint8
        v = self._pooled(u.astype(np.int64 if of_bytes else np.float32))
        n_shifts = (2 * self.shifts[0] + 1) * (2 * self.shifts[1] + 1)
        bits = (255 * self.excitatory * (n_shifts if spec.features.pooling == "sum" else 1)).bit_length()
        unit = 1.0 if of_bytes else 255.0
        if spec.features.root:
            v = np.sqrt(np.maximum(v.astype(np.float64), 0.0) * (unit / 2.0 ** (bits - 16))).astype(v.dtype)
        scale = 1.0 if spec.features.root else unit / 2.0 ** max(0, bits - 8)
        how = {"exact": spec.integer, "scale": scale if spec.in_bytes else None}
        return activity(v, spec.features.threshold, parts=32, unit_norm=spec.unit_norm, **how)

    def _pooled(self, u: NDArray) -> NDArray:
        """p of each unit; shifts go row by row."""
        order = sorted(range(len(self.axes)), key=lambda axis: "chw".index(self.axes[axis]))
        planes = u.reshape(self.spec.shape).transpose(order).reshape(self.size)
        down, right = self.shifts
        planes = np.pad(planes, ((0, 0), (down, down), (right, right)))
        channel, row, column = self.inputs
        shifts = [(dy, dx) for dy in range(2 * down + 1) for dx in range(2 * right + 1)]
        at = [planes[channel, row + dy, column + dx] for dy, dx in shifts]
        responses = np.array([in_order(values.T * self.signs.astype(u.dtype)) for values in at])
        return responses.max(axis=0) if self.spec.features.pooling == "max" else in_order(np.maximum(responses, 0))


def as_bytes(u: NDArray[np.float64]) -> NDArray[np.uint8]:
    """One sample as bytes, by its own range; the range begins at 0 where it is at least half as wide as it is high."""
    low, high = u.min(), u.max()
    low = 0.0 if 0 <= 2 * low <= high else low
    return np.rint((u - low) * 255 / (high - low) if high > low else u - low).astype(np.uint8)


def _drawn(
    seed: int, n_units: int, k: int, excitatory: int, size: tuple[int, int, int], window: tuple[int, int], signs: str
) -> list[list[tuple[int, int, int]]]:
    """(channel, row, column) of the inputs of each unit, the excitatory ones first, each group ascending."""
    channels, height, width = size
    generator, pool = Generator(seed), list(range(channels * window[0] * window[1]))
    units = []
    for unit in range(n_units):
        top, left = generator.below(height - window[0] + 1), generator.below(width - window[1] + 1)
        if signs == "oriented":
            order, side = _sides(generator, window, channels, bar=unit % 2 == 0)
            cut = min(max(side, excitatory), len(order) - (k - excitatory))
            chosen = generator.choose(order[:cut], excitatory) + generator.choose(order[cut:], k - excitatory)
        else:
            chosen = generator.choose(pool, k)
        places = [
            (one % channels, top + one // channels // window[1], left + one // channels % window[1]) for one in chosen
        ]
        units.append(sorted(places[:excitatory]) + sorted(places[excitatory:]))
    return units


def _sides(generator: Generator, window: tuple[int, int], channels: int, bar: bool) -> tuple[list[int], int]:
    """The inputs of a window by their distance from a random line, and how many are on its excitatory side.

    A line has an integer normal of length 10 to 15 and passes near the middle. An edge parts one side from the other, a
    bar what is within a fifth of the window from the rest, either of them excitatory. Coordinates are doubled.
    """
    if window[0] == 1:
        down, right = 0, 15 - 30 * generator.below(2)
    else:
        down, right = 0, 0
        while not 100 <= down**2 + right**2 <= 225:
            down, right = generator.below(31) - 15, generator.below(31) - 15
    reach = window[1] * isqrt(down**2 + right**2)
    most = 2 * reach // 5 if bar else reach // 2
    offset = generator.below(2 * most + 1) - most
    sign = 1 - 2 * generator.below(2) if bar else 1
    distances = []
    for i in range(channels * window[0] * window[1]):
        row, column = divmod(i // channels, window[1])
        away = down * (2 * row - window[0] + 1) + right * (2 * column - window[1] + 1) + offset
        distances.append(sign * (abs(away) - 2 * reach // 5) if bar else away)
    order = sorted(range(len(distances)), key=lambda i: (-distances[i], i))
    return order, sum(distance >= 0 for distance in distances)
