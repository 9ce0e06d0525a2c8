"""Sums of the second-order layer in 16 or 24 bits: thinned, not rounded.

    z = (256 x - m_j + 2^(7 + d)) >> 8 + d;   P = P + z z'        for one sample in 2^h of class j, chosen by its time
    m_j = m_j + (256 x - m_j + (chance n_j >> 32)) // n_j         for each sample, n_j counting it

m_j is the mean of class j in 1/256. Where an entry of the diagonal would pass the limit of the bits, either h is raised
by one and P halved, if t >> h samples are enough, i.e. sqrt(units limit / 16); or d is raised by one and P divided
by four. Off the diagonal P is rounded by chance, on it up.
"""

from __future__ import annotations

from math import isqrt

import numpy as np
from numpy.typing import NDArray

from kenyon.reference._counting import narrowest
from kenyon.reference._random import keyed
from kenyon.reference._readout import Moments


def chances(key: int, n_units: int, shift: int) -> NDArray[np.int64]:
    """`keyed(key, k) >> shift` for each pair of units, k being its place in the lower triangle, row by row."""
    square = np.zeros((n_units, n_units), np.int64)
    square[np.tril_indices(n_units)] = [keyed(key, k) >> shift for k in range(n_units * (n_units + 1) // 2)]
    return square + np.tril(square, -1).T


class FewBits:
    """Centred sums of d units."""

    def __init__(self, d: int, bits: int) -> None:
        self.bits, self.limit = bits, 2 ** (bits - 1) - 1
        self.enough = isqrt(d * self.limit // 16)
        self.pairs, self.means = np.zeros((d, d), np.int64), np.zeros((d, 0), np.int64)
        self.counts, self.halvings, self.doublings = np.zeros(0, np.uint64), 0, 0

    def add_class(self) -> None:
        self.means, self.counts = np.pad(self.means, ((0, 0), (0, 1))), np.append(self.counts, np.uint64(0))

    def add(self, x: NDArray, n_active: int, label: int) -> int:
        time, n, n_pairs, visited = int(self.counts.sum()), int(self.counts[label]) + 1, self._n_pairs(), 0
        key, away = keyed(time, 0), 256 * x.astype(np.int64) - self.means[:, label]
        while n > 1 and not (key >> 16) % 2**self.halvings:
            visited += n_pairs
            z = away + 2 ** (7 + self.doublings) >> 8 + self.doublings
            if (self.pairs.diagonal() + z * z <= self.limit).all():
                self.pairs += np.outer(z, z)
                break
            if time >> self.halvings >= self.enough:
                self.halvings, places = self.halvings + 1, 1
            else:
                self.doublings, places = min(self.doublings + 1, 8), 2
            extra = chances(256 * self.doublings + self.halvings, len(x), 32) % 2**places
            np.fill_diagonal(extra, 2**places - 1)
            self.pairs = self.pairs + extra >> places
        chance = np.array([(keyed(key, i + 1) >> 32) * n >> 32 for i in range(len(x))])
        self.means[:, label] += (away + chance) // n
        self.counts[label] += np.uint64(1)
        return visited

    def _n_pairs(self) -> int:
        return len(self.pairs) * (len(self.pairs) + 1) // 2

    def moments(self, known: NDArray[np.int64]) -> Moments:
        counts = self.counts[known].astype(np.float64)
        scatter = self.pairs.astype(np.float64) * (4.0**self.doublings * 2.0**self.halvings)
        return Moments(scatter, self.means[:, known] / 256, counts, counts.sum() / 2.0**self.halvings)

    def weigh(self, counts: NDArray[np.uint64]) -> None:
        """Other counts, with the same class means and the same scatter for each sample, rounded."""
        before, after = int(self.counts.sum()), int(counts.sum())
        self.pairs, self.counts = (2 * self.pairs * after + before) // (2 * before), counts

    def merge(self, other: FewBits, neurons: NDArray[np.int64]) -> None:
        """P of both, and the scatter n_a n_b / (n_a + n_b) (m_a - m_b) (m_a - m_b)' between the means of each class."""
        d, width = len(self.means), -(-self.means.shape[1] // 8) * 8
        time, before, scatter = int(self.counts.sum() + other.counts.sum()), self.means.copy(), []
        for k, j in enumerate(neurons.tolist()):
            a, b = int(self.counts[j]), int(other.counts[k])
            for i in range(d if a + b else 0):
                chance = (keyed(keyed(time, 2), i * width + j) >> 48) * (a + b) >> 16
                self.means[i, j] = (a * int(before[i, j]) + b * int(other.means[i, k]) + chance) // (a + b)
            if a and b:
                away = before[:, j] - other.means[:, k]
                scatter.append((min(a, b) * ((max(a, b) << 16) // (a + b)), np.outer(away, away)))
        h, dd = max(self.halvings, other.halvings), max(self.doublings, other.doublings)
        while True:
            shift, total = 16 + 2 * dd, np.zeros_like(self.pairs)
            for one in (self, other):
                total += (one.pairs << shift) >> min(62, h - one.halvings + 2 * (dd - one.doublings))
            for weight, product in scatter:
                weight = min(weight >> h, 2**47)
                total += product * (weight >> 16) + (product * (weight & 65535) >> 16)
            extra = chances(keyed(time, 1), d, 1) % 2**shift
            np.fill_diagonal(extra, 2**shift - 1)
            total = total + extra >> shift
            if total.diagonal().max() <= self.limit:
                break
            if time >> h >= self.enough or dd == 8:
                h += 1
            else:
                dd += 1
        self.pairs, self.halvings, self.doublings = np.clip(total, -self.limit, self.limit), h, dd
        self.counts[neurons] += other.counts

    def cut(self, d: int) -> None:
        """Keep only the first d units, and thin for that many from now on."""
        self.pairs, self.means, self.enough = self.pairs[:d, :d], self.means[:d], isqrt(d * self.limit // 16)

    def arrays(self) -> dict[str, NDArray]:
        pairs = self.pairs[np.tril_indices(len(self.pairs))]
        if self.bits == 24:  # three bytes, the lowest first
            packed = pairs.astype("<i4").view(np.uint8).reshape(-1, 4)[:, :3].ravel()
        scales = {"halvings": np.array([self.halvings], np.uint8), "doublings": np.array([self.doublings], np.uint8)}
        kept = {"pairs": packed if self.bits == 24 else pairs.astype(np.int16), "means": self.means.astype(np.uint16)}
        return {**kept, "class_counts": narrowest(self.counts), **scales}
