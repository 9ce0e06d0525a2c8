"""Inputs in standard deviations, by moments of the labelled samples before.

    z = (u - mean) / deviation,     beyond 4 deviations  sign(z) (2 sqrt(4 |z|) - 4),  10,000 at most

A sample is scaled by the moments as they are, and then counted if it has a label: n values with mean m and the sum of
squared distances q (Welford, 1962),

    n = n + 1;   d = u - m;   m = m + d / n;   q = q + d (u - m)

An input is counted 64 times; one that has not varied, 16 times. With a half-life of h samples, it goes on to be counted
with n = max(64, h / ln 2), q being multiplied by n / (n + 1) before. An input that has not varied, or is NaN, is 0.
"""

from __future__ import annotations

from math import isnan, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

Change = tuple[NDArray, NDArray, NDArray]
"""Factor and offset that take each input to its new units, and 1 where it begins again."""


class Units:
    """Units of the inputs of ramps that stand beside them, which change at steps alone.

    The centre of an input is its first value, its width the first distance from there. Values are drawn in to 8 r
    widths, r being r + (|z| - r) / 16 from one to the next, at least 1. After 2, 4, .. 64 labelled samples an input
    whose width is off the moments' by a factor of 1.5, or its centre by half a width, takes those. Then moments begin
    anew after 64, 128, .. samples; after 128, .. 1,024 an input whose width is off by a factor of 32 takes theirs,
    and begins again if it was too wide.
    """

    def __init__(self, n: int) -> None:
        self.counts, self.means, self.spreads, self.centres = (np.zeros(n) for _ in range(4))
        self.widths, self.usual, self.time = np.full(n, -1.0), np.ones(n), 0

    def _distance(self, value: float, i: int) -> float:
        if isnan(value) or self.widths[i] <= 0:
            return 0.0
        limit = 8.0 * self.usual[i]
        return min(max((value - self.centres[i]) / self.widths[i], -limit), limit)

    def scaled(self, u: NDArray) -> NDArray[np.float32]:
        z = [self._distance(float(value), i) for i, value in enumerate(u)]
        return np.array([d if abs(d) <= 4 else np.copysign(2 * sqrt(4 * abs(d)) - 4, d) for d in z], np.float32)

    def count(self, u: NDArray) -> Change | None:
        """Take a labelled sample into units and moments; how units change then, if they do."""
        for i, value in enumerate(u.astype(np.float64).tolist()):
            if isnan(value):
                continue
            z = self._distance(value, i)
            if self.widths[i] > 0:
                self.usual[i] = max(self.usual[i] + (abs(z) - self.usual[i]) / 16, 1.0)
                value = self.centres[i] + self.widths[i] * z
            elif self.widths[i] < 0:
                self.centres[i], self.widths[i] = value, 0.0
            else:
                self.widths[i] = abs(value - self.centres[i])
            if self.time < 1024:
                distance = value - self.means[i]
                self.counts[i] += 1
                self.means[i] += distance / self.counts[i]
                self.spreads[i] += distance * (value - self.means[i])
        self.time += 1
        return self._step() if self.time in (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024) else None

    def _step(self) -> Change | None:
        change = np.ones_like(self.means), np.zeros_like(self.means), np.zeros_like(self.means)
        off = False
        for i, (mean, centre, width) in enumerate(zip(self.means, self.centres, self.widths, strict=True)):
            found = np.sqrt(self.spreads[i] / max(self.counts[i], 1))
            if found <= 0 or width <= 0:
                continue
            if self.time > 64:
                wrong = found * 32 < width or found > 32 * width
            else:
                wrong = found > 1.5 * width or found * 1.5 < width or abs(mean - centre) > 0.5 * width
            fresh = self.time > 64 and found < width
            there = (0.0, 0.0, 1.0) if fresh else (width / found, (centre - mean) / found, 0.0)
            if wrong:
                off = True
                self.centres[i], self.widths[i], self.usual[i] = mean, found, 1.0
                for array, value in zip(change, there, strict=True):
                    array[i] = value
        if self.time >= 64:
            self.counts[:], self.means[:], self.spreads[:] = 0, 0, 0
        return change if off else None

    def arrays(self) -> dict[str, NDArray]:
        names = ("counts", "means", "spreads", "centres", "widths", "usual")
        return {f"{name}.scale": getattr(self, name) for name in names} | {"time.scale": np.array([float(self.time)])}


class Scaler:
    """Moments of each input; the channels of a series have one mean and one deviation each."""

    def __init__(self, spec: Any) -> None:
        n, self.unit, half_life = spec.n_inputs, 1.0, getattr(spec.layer, "half_life", None)
        self.groups = np.arange(n)
        if spec.features.name == "windows":
            self.unit = 0.25
            channels = np.indices(spec.shape)[spec.axes.index("c")] if "c" in spec.axes else np.zeros(n, int)
            self.groups = channels.ravel()
        n_groups = int(self.groups.max()) + 1
        each = n // n_groups
        self.counts, self.means, self.spreads = (np.zeros(n_groups) for _ in range(3))
        self.moving = half_life is not None
        self.most, self.held = each * (64.0 if half_life is None else max(64.0, half_life / log(2))), each * 16.0

    def scaled(self, u: NDArray) -> NDArray[np.float32]:
        return np.array([self._scaled(float(value), g) for value, g in zip(u, self.groups, strict=True)], np.float32)

    def _scaled(self, value: float, g: int) -> float:
        if isnan(value) or self.spreads[g] == 0:
            return 0.0
        z = (value - self.means[g]) / np.sqrt(self.spreads[g] / self.counts[g])
        size = min(abs(z), 1e4)
        return self.unit * (z if size <= 4 else np.copysign(2 * sqrt(4 * size) - 4, z))

    def count(self, u: NDArray) -> None:
        """Take a labelled sample into the moments; nothing is re-expressed."""
        for value, g in zip(u.astype(np.float64).tolist(), self.groups.tolist(), strict=True):
            n, distance = self.counts[g], value - self.means[g]
            if isnan(value) or (n >= self.most and not self.moving):
                continue
            if self.spreads[g] == 0 and distance == 0 and n >= self.held:
                continue
            if n >= self.most:
                self.spreads[g] *= self.most / (self.most + 1)
            else:
                n += 1
            self.means[g] += distance / n
            self.spreads[g] += distance * (value - self.means[g])
            self.counts[g] = n

    def merge(self, other: Scaler) -> None:
        """Moments of what both counted; equal moments, which stood still before the models parted, stay."""
        if all(np.array_equal(array, other.arrays()[name]) for name, array in self.arrays().items()):
            return
        total = self.counts + other.counts
        share = np.divide(other.counts, total, out=np.zeros_like(total), where=total > 0)
        away = other.means - self.means
        self.spreads += other.spreads + self.counts * share * away**2
        self.means += share * away
        kept = np.minimum(total, self.most)
        self.spreads *= np.divide(kept, total, out=np.ones_like(total), where=total > 0)
        self.counts = kept

    def arrays(self) -> dict[str, NDArray]:
        return {"counts.scale": self.counts, "means.scale": self.means, "spreads.scale": self.spreads}
