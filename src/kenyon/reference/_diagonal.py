"""The diagonal layer: sums and squares of each unit by itself.

    Q_i = Q_i + x_i^2,   S_ij = S_ij + x_i,   n_j = n_j + 1           for a sample x of class j, in float64

    score_j = c sum_i (m_ij - m_i) (x_i - (m_ij + m_i) / 2) / v_i + log n_j

m_ij and m_i are means of a class and of everything, v_i = w_i + shrinkage t_i, w_i and t_i the variance within classes
and in all, and c = 1 - (C - 1) sum_i w_i / v_i / sum_j n_j sum_i (m_ij - m_i)^2 / v_i for C classes, at least 1/64.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.reference._activity import Active
from kenyon.reference._counting import narrowest
from kenyon.reference._readout import NEVER


class Diagonal:
    """The output layer; arguments as in `_plastic.py`."""

    def __init__(self, n_units: int, seed: int, spec: Any) -> None:
        self.shrinkage, self.prior = spec.layer.shrinkage, spec.layer.prior
        self.sums, self.squares = np.zeros((n_units, 0)), np.zeros(n_units)
        self.counts = np.zeros(0, np.uint64)

    def add_class(self) -> None:
        self.sums, self.counts = np.pad(self.sums, ((0, 0), (0, 1))), np.append(self.counts, np.uint64(0))

    def learn(self, x: Active, label: int, plastic: Sequence[int], beta: Sequence[np.float32]) -> int:
        values = x[1].astype(np.float64)
        self.sums[x[0], label] += values
        self.squares[x[0]] += values**2
        self.counts[label] += np.uint64(1)
        return len(x[0])

    def outputs(self, x: Active) -> NDArray[np.float32]:
        known = np.flatnonzero(self.counts)
        counts, n = self.counts[known].astype(np.float64), float(self.counts.sum())
        dense, scores = np.zeros(len(self.squares)), np.full(len(self.counts), NEVER)
        dense[x[0]] = x[1]
        means, centre = self.sums[:, known] / counts, self.sums.sum(axis=1) / n
        within = np.maximum(self.squares / n - (means**2) @ counts / n, 0)
        total = np.maximum(self.squares / n - centre**2, 0)
        total[total <= 1e-12 * self.squares / n] = 0
        v = np.where(total > 0, within + self.shrinkage * total, np.inf)
        v[v == 0] = np.inf
        between = sum(n_j * ((m - centre) ** 2 / v).sum() for n_j, m in zip(counts, means.T, strict=True))
        chance = (len(known) - 1) * (within / v).sum()
        c = max(1 - chance / between, 1 / 64) if between > 0 else 1 / 64
        for place, n_j, m in zip(known, counts, means.T, strict=True):
            score = c * ((m - centre) * (dense - (m + centre) / 2) / v).sum()
            scores[place] = score + (np.log(n_j) if self.prior == "counts" else 0.0)
        return scores.astype(np.float32)

    def merge(self, other: Diagonal, neurons: NDArray[np.int64]) -> None:
        self.sums[:, neurons] += other.sums
        self.squares += other.squares
        self.counts[neurons] += other.counts

    def arrays(self) -> dict[str, NDArray]:
        return {"sums": self.sums, "squares": self.squares, "class_counts": narrowest(self.counts)}
