"""The counting rule in integer sums, which merge to the bit.

    S[i, j] = S[i, j] + c[i],   n[j] = n[j] + 1                       for a sample of class j
    x_o[j]  = sum_i min(S[i, j] / (2^16 n[j]), cap / sqrt(units)) c[i] / 2^16

With `readout="bayes"`, N units, and log(n[j]) added for `prior="counts"`,

    x_o[j]  = sum_i log((S[i, j] + 2^11) / (sum_i S[i, j] + 2^11 N)) c[i] / 2^16

c is the activity of a sample of length 1 in units of 2^-16: a R >> 12 of bytes (`_few_bit_weights.py`), floor(2^16 x +
1/2) of floats. With a half-life, counts are halved, rounded up, when they add up to twice as many samples, and sums
with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.reference._activity import Active, in_order
from kenyon.reference._few_bit_weights import reciprocal
from kenyon.rules import MEAN


def narrowest(array: NDArray) -> NDArray:
    """Integers in 32 bits, or in 64 where one of them needs it."""
    return array.astype(np.uint32 if array.max(initial=0) < 2**32 else np.uint64)


class Counting:
    """The output layer; arguments as in `_plastic.py`."""

    def __init__(self, n_units: int, seed: int, spec: Any) -> None:
        self.cap, self.half_life = MEAN(spec.layer.cap).level(np.inf, 1, n_units), spec.layer.half_life
        self.sums, self.counts = np.zeros((n_units, 0), np.uint64), np.zeros(0, np.uint64)
        self.bayes, self.prior = spec.layer.readout == "bayes", spec.layer.prior

    def add_class(self) -> None:
        self.sums, self.counts = np.pad(self.sums, ((0, 0), (0, 1))), np.append(self.counts, np.uint64(0))

    def _parts(self, x: Active) -> NDArray[np.int64]:
        """c of the active units."""
        if x[1].dtype == np.uint8:
            return x[1].astype(np.int64) * reciprocal(x) >> 12
        return (x[1].astype(np.float64) * 2**16 + 0.5).astype(np.int64)

    def outputs(self, x: Active) -> NDArray[np.float32]:
        if self.bayes:
            logs = np.log(self.sums[x[0]] + 2048.0) - np.log(self.sums.sum(axis=0) + 2048.0 * len(self.sums))
            scores = in_order(logs * self._parts(x)[:, np.newaxis]) / 2**16
            return (scores + (np.log(np.maximum(self.counts, 1)) if self.prior == "counts" else 0)).astype(np.float32)
        means = self.sums[x[0]] * (1.0 / (np.maximum(self.counts, 1).astype(np.float64) * 2**16))
        total = in_order(np.minimum(means, self.cap) * self._parts(x)[:, np.newaxis].astype(np.float64))
        return (total / 2**16).astype(np.float32)

    def learn(self, x: Active, label: int, plastic: Sequence[int], beta: Sequence[np.float32]) -> int:
        self.sums[x[0], label] += self._parts(x).astype(np.uint64)
        self.counts[label] += np.uint64(1)
        if self.half_life is not None and self.counts.sum() >= 2 * self.half_life:
            halved = (self.counts + np.uint64(1)) // np.uint64(2)
            self.sums = np.rint(self.sums * (halved / np.maximum(self.counts, 1))).astype(np.uint64)
            self.counts = halved
        return len(x[0])

    def merge(self, other: Counting, neurons: NDArray[np.int64]) -> None:
        self.sums[:, neurons] += other.sums
        self.counts[neurons] += other.counts

    def arrays(self) -> dict[str, NDArray]:
        return {"sums": narrowest(self.sums), "class_counts": narrowest(self.counts)}
