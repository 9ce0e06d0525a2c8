"""Readouts of the second-order layer in float64: linear discriminant analysis and ridge regression.

    discriminant:  score_j = n (m_j' A x - m_j' A m_j / 2) + log n_j, less the mean over classes    A = (W + a I)^-1
    ridge:         score_j = w_j (n (m_j - c)' A (x - c) + 1),                                  the same A, with V for W

W is the scatter within classes, m_j the mean of class j, c the mean of the class means, w_j = 1 / C for C classes;
V = W + n sum_j w_j (m_j - c) (m_j - c)'. The logarithm is there with `prior="counts"`, which sets w_j to n_j / n, too.
The shrinkage a is lambda mean(diag W), rounded to the middle of a cell of a quarter of an octave: 2^((k + 1/2) / 4) for
values from 2^(k / 4) to 2^((k + 1) / 4). Within a cell a sample changes W + a I by one rank, so that others can follow
the stream without solving the readout; here it is solved again each time.
`shrinkage="auto"` chooses lambda by the oracle-approximating formula (Chen, Wiesel, Eldar and Hero, 2010).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kenyon.reference._activity import Active, in_order

NEVER = np.float32(-1e30)
"""The score of a class without samples."""


class Moments(NamedTuple):
    """The sum of squared distances from the class means, these means, and the samples: of classes, in all, used."""

    scatter: NDArray[np.float64]
    means: NDArray[np.float64]
    counts: NDArray[np.float64]
    n_used: float


class Readout(NamedTuple):
    """x_o = weights' x + offsets."""

    weights: NDArray[np.float32]
    offsets: NDArray[np.float32]

    @property
    def known(self) -> NDArray[np.int64]:
        """Neurons that have samples."""
        return np.flatnonzero(self.offsets > NEVER)

    def outputs(self, x: Active) -> NDArray[np.float32]:
        return in_order(self.weights[x[0]] * x[1].astype(np.float32)[:, np.newaxis]) + self.offsets


def solve(moments: Moments, known: NDArray[np.int64], n_neurons: int, spec: Any, first: int = 0) -> Readout:
    """The readout of the neurons that are known, i.e. have samples; it reads the first units alone where `first`."""
    scatter, means, counts, n_used = moments
    weights = np.zeros((len(scatter), n_neurons), np.float32)
    if first:
        scatter, means = scatter[:first, :first], means[:first]
    offsets = np.full(n_neurons, NEVER)
    if not known.size:
        return Readout(weights, offsets)
    n, ridge, prior = counts.sum(), spec.layer.readout == "ridge", counts / counts.sum()
    shrinkage = 0.0 if spec.layer.shrinkage == "auto" else float(spec.layer.shrinkage)
    if spec.layer.shrinkage == "auto" or spec.features.name == "ramps":
        shrinkage = max(shrinkage, oracle(scatter, n_used))
    if ridge:
        share = prior if spec.layer.prior == "counts" else np.full(len(known), 1 / len(known))
        centre = means @ share[:, np.newaxis]
        apart = means - centre
        solved = share * n * shrunk(scatter + n * (apart * share @ apart.T), apart, shrinkage, n)
        shift = share - (centre * solved).sum(axis=0)
    else:
        solved = n * shrunk(scatter, means, shrinkage, n)
        shift = -(means * solved).sum(axis=0) / 2 + (np.log(counts) if spec.layer.prior == "counts" else 0.0)
        solved, shift = solved - solved.mean(axis=1, keepdims=True), shift - shift.mean()
    weights[: len(scatter), known], offsets[known] = solved, shift
    return Readout(weights, offsets)


def shrunk(
    scatter: NDArray[np.float64], columns: NDArray[np.float64], shrinkage: float, n: float
) -> NDArray[np.float64]:
    """A times columns. Where the matrix is not positive definite, lambda is raised tenfold until it is."""
    mean = np.trace(scatter) / len(scatter)
    while mean > 0 and shrinkage <= 1e6:
        try:
            factor = np.linalg.cholesky(scatter + middle_of_cell(shrinkage * mean) * np.eye(len(scatter)))
            return np.linalg.solve(factor.T, np.linalg.solve(factor, columns))
        except np.linalg.LinAlgError:
            shrinkage = 10 * max(shrinkage, 1e-6)
    return columns / n


def middle_of_cell(value: float) -> float:
    return 2.0 ** ((np.floor(4 * np.log2(value)) + 0.5) / 4) if value > 0 else 0.0


def oracle(scatter: NDArray[np.float64], n_used: float) -> float:
    """rho / (1 - rho), (1 - rho) S + rho mean(diag S) I being the estimate of the covariance that S is of n samples."""
    n, trace, squares = max(n_used, 1.0), float(np.trace(scatter)) ** 2, float((scatter**2).sum())
    excess = (n + 1) * (squares - trace / len(scatter))
    rho = min(0.999, (squares + trace) / excess) if excess > 0 else 0.999
    return rho / (1 - rho)
