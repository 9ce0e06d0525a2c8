"""Sums of the second-order layer: which units are active together, and for which class.

    T = T + x x',   S_j = S_j + x,   n_j = n_j + 1                    for a sample x of class j

In integers of bytes, which are exact, or in float32, sample after sample.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kenyon.reference._counting import narrowest
from kenyon.reference._readout import Moments
from kenyon.reference._rescaling import rescaled


class Sums:
    """Sums of d units, in uint64 for bytes or in float32."""

    def __init__(self, d: int, dtype: type[np.number]) -> None:
        self.pairs, self.sums, self.counts = np.zeros((d, d), dtype), np.zeros((d, 0), dtype), np.zeros(0, np.uint64)

    def add_class(self) -> None:
        self.sums, self.counts = np.pad(self.sums, ((0, 0), (0, 1))), np.append(self.counts, np.uint64(0))

    def add(self, x: NDArray, n_active: int, label: int) -> int:
        """Add a sample, and give the number of pairs visited."""
        x = x.astype(self.sums.dtype)
        self.pairs += np.outer(x, x)
        self.sums[:, label] += x
        self.counts[label] += np.uint64(1)
        return n_active * (n_active + 1) // 2

    def moments(self, known: NDArray[np.int64]) -> Moments:
        """T - sum_j S_j S_j' / n_j, and S_j / n_j."""
        counts, sums = self.counts[known].astype(np.float64), self.sums[:, known].astype(np.float64)
        return Moments(self.pairs.astype(np.float64) - (sums / counts) @ sums.T, sums / counts, counts, counts.sum())

    def weigh(self, counts: NDArray[np.uint64]) -> None:
        """Other counts, with the same class means and the same scatter for each sample."""
        known, before = np.flatnonzero(self.counts), self.counts.astype(np.float64)
        scatter = self.moments(known).scatter * (counts.sum() / before.sum())
        sums = self.sums * (counts / np.maximum(before, 1))
        pairs = scatter + (sums[:, known] / counts[known]) @ sums[:, known].T
        exact = self.pairs.dtype.kind == "u"
        for name, new in (("pairs", pairs), ("sums", sums)):
            setattr(self, name, (np.maximum(np.rint(new), 0) if exact else new).astype(self.pairs.dtype))
        self.counts = counts

    def grow(self, d: int, ramps: Sequence[tuple]) -> None:
        """More ramps, d units in all."""
        new, n = d - len(self.pairs), d - len(ramps)
        self.pairs, self.sums = np.pad(self.pairs, (0, new)), np.pad(self.sums, ((0, new), (0, 0)))
        self.rescale(ramps, (np.ones(n), np.zeros(n), np.zeros(n)), new)

    def rescale(self, ramps: Sequence[tuple], change: tuple[NDArray, NDArray, NDArray], new: int = 0) -> None:
        """Other units of inputs, which stand before the ramps; the last ramps may be new."""
        kept = self.pairs.astype(np.float64), self.sums.astype(np.float64), self.counts.astype(np.float64)
        pairs, sums = rescaled(ramps, change, *kept, new)
        self.pairs, self.sums = pairs.astype(self.pairs.dtype), sums.astype(self.sums.dtype)

    def merge(self, other: Sums, neurons: NDArray[np.int64]) -> None:
        self.pairs += other.pairs
        self.sums[:, neurons] += other.sums
        self.counts[neurons] += other.counts

    def cut(self, d: int) -> None:
        """Keep the first d units alone."""
        self.pairs, self.sums = self.pairs[:d, :d], self.sums[:d]

    def arrays(self) -> dict[str, NDArray]:
        kept = {"pairs": self.pairs[np.tril_indices(len(self.pairs))], "sums": self.sums}
        kept = {name: narrowest(array) if array.dtype.kind == "u" else array for name, array in kept.items()}
        return {**kept, "class_counts": narrowest(self.counts)}
