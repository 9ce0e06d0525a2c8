"""Inputs in standard deviations, by moments of the labelled samples before.

    z = (u - mean) / deviation,     beyond 4 deviations  sign(z) (2 sqrt(4 |z|) - 4),  10,000 at most

A sample is scaled by the moments as they are, and then counted if it has a label: n values with mean m and the sum of
squared distances q (Welford, 1962),

    n = n + 1;   d = u - m;   m = m + d / n;   q = q + d (u - m)

An input is counted 64 times; one that has not varied, 16 times. With `memory`, h samples, it goes on to be counted with
n = max(64, h / ln 2), q being multiplied by n / (n + 1) before. An input that has not varied, or is NaN, is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Scaler:
    """Moments of each input; the channels of a series have one mean and one deviation each."""

    def __init__(self, s: Mapping[str, Any]) -> None:
        n, self.unit, memory = s["n_inputs"], 1.0, s["memory"]
        self.groups = np.arange(n)
        if s["features"] == "windows":
            self.unit = 0.25
            channels = np.indices(s["shape"])[s["axes"].index("c")] if "c" in s["axes"] else np.zeros(n, int)
            self.groups = channels.ravel()
        n_groups = int(self.groups.max()) + 1
        each = n // n_groups
        self.counts, self.means, self.spreads = (np.zeros(n_groups) for _ in range(3))
        self.moving = memory is not None
        self.most, self.held = each * (64.0 if memory is None else max(64.0, memory / log(2))), each * 16.0

    def scaled(self, u: NDArray) -> NDArray[np.float32]:
        return np.array([self._scaled(float(value), g) for value, g in zip(u, self.groups, strict=True)], np.float32)

    def _scaled(self, value: float, g: int) -> float:
        if isnan(value) or self.spreads[g] == 0:
            return 0.0
        z = (value - self.means[g]) / np.sqrt(self.spreads[g] / self.counts[g])
        size = min(abs(z), 1e4)
        return self.unit * (z if size <= 4 else np.copysign(2 * sqrt(4 * size) - 4, z))

    def count(self, u: NDArray) -> None:
        """Take a labelled sample into the moments."""
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
