"""Readouts solved from the moments of the activity: linear discriminant analysis and ridge regression.

    discriminant:  score_j = n (m_j' A x - m_j' A m_j / 2),    A = (W + a I)^-1,    less the mean over classes
    ridge:         score_j = b_j' (x - c) + p_j,               b_j = n p_j (V + a I)^-1 (m_j - c)

W is the scatter within classes, m_j a class's mean, n the number of samples. Ridge gives every class the same weight
p_j = 1 / C, however many samples it had; c is the sum of p_j m_j, and V = W + n sum_j p_j (m_j - c)(m_j - c)': least
squares onto one-hot targets. With `prior="counts"`, which takes classes for as likely as they were, p_j is n_j / n, and
the discriminant adds log n_j to a score.

The shrinkage a is lambda times the mean of the diagonal of W (of V for ridge), rounded to the middle of a cell of a
quarter of an octave (`core/readout.h`): from 8 % below to 9 % above. Within a cell, a sample that is learned changes A
by one rank, so that a readout which keeps A follows what is learned at O(units^2 + units classes) a sample. Ridge is
made of the same products; with U the means less c (a column each), P the diagonal of p,

    (V + a I)^-1 U P = A U (P^-1 + n U' A U)^-1                (Woodbury)

Doubles throughout, sums in one order: the same bits on every machine. A readout that followed differs from a new
solution by rounding alone: scores by less than 1e-4 of their spread; by a few 1e-4 for outliers of a
table with two inputs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.errors import DivergenceError
from kenyon.features import Active

NEVER = np.float32(-1e30)
"""The score of a class without samples."""

BACKOFF = 10.0
"""Where the matrix is not positive, which few bits can make it, lambda is raised by this factor."""


class ClassMoments(NamedTuple):
    """What a readout is solved from; only classes that have samples.

    Attributes:
        scatter: lower triangle of W, row after row.
        means: (classes, units).
        n_samples: that the scatter stands for.
        n_used: samples that really went into it.
    """

    scatter: NDArray[np.float64]
    means: NDArray[np.float64]
    n_samples: float
    n_used: float

    def of_first(self, n_units: int) -> ClassMoments:
        """Those of the first units alone."""
        scatter, means = self.scatter[: n_units * (n_units + 1) // 2], self.means[:, :n_units]
        return self._replace(scatter=scatter, means=np.ascontiguousarray(means))


class Rule(NamedTuple):
    """Which readout it is.

    Attributes:
        kind: `discriminant` or `ridge`.
        shrinkage: lambda, or `auto` for that of the oracle-approximating formula (`core/readout.h`).
        prior: `equal`, or `counts`.
        at_least: take `auto` where it is more than the shrinkage.
        first: units that are read, the first ones; 0 for all.
    """

    kind: str
    shrinkage: float | str
    prior: str
    at_least: bool
    first: int = 0

    @property
    def oracle(self) -> bool:
        """Whether lambda depends on the state."""
        return self.shrinkage == "auto" or self.at_least

    @property
    def least(self) -> float:
        """Lambda, or the least that it may be."""
        return 0.0 if self.shrinkage == "auto" else float(self.shrinkage)

    def chosen(self, trace: float, norm: float, n_used: float, n_units: int) -> float:
        """Lambda of a state: tr W, |W|^2 and the samples that went into it."""
        if not self.oracle:
            return self.least
        out = np.empty(1)
        core.oracle_shrinkage(trace, norm, n_used, n_units, out)
        return max(self.least, float(out[0]))

    def weights(self, counts: NDArray) -> NDArray[np.float64]:
        """p: what each class counts for."""
        return counts / float(counts.sum()) if self.prior == "counts" else np.full(len(counts), 1 / len(counts))

    def total(self, trace: float, means: NDArray[np.float64], counts: NDArray, n_samples: float) -> float:
        """The trace that lambda is a share of: of W, or of V."""
        if self.kind == "discriminant":
            return trace
        p = self.weights(counts)
        apart = means - weighed(p, means)
        return trace + n_samples * float((p * (apart * apart).sum(axis=1)).sum())


class Linear(NamedTuple):
    """`x_o = weights' x + offsets`.

    Attributes:
        weights: (units, width) float32.
        offsets: (width,) float32, NEVER for neurons without samples.
    """

    weights: NDArray[np.float32]
    offsets: NDArray[np.float32]

    def outputs(self, active: Active, first: int, last: int) -> NDArray[np.float32]:
        """`x_o` of samples first .. last - 1, (samples, width)."""
        units, values, counts = active
        rows = (units[first:last], values[first:last].astype(np.float32, copy=False), counts[first:last])
        outputs = np.empty((last - first, len(self.offsets)), np.float32)
        core.forward(self.weights, *rows, 0, last - first, outputs)
        return outputs + self.offsets


def linear(
    products: NDArray[np.float64],
    squares: NDArray[np.float64],
    means: NDArray[np.float64],
    class_counts: NDArray,
    rule: Rule,
) -> Linear:
    """A readout as weights and offsets in float32.

    Args:
        products, squares: A (m_j - c), (units, width), and (m_j + c)' A (m_j - c), (width,), of any c.
        means: (classes, units) of the classes that have samples.
        class_counts: (width,) samples of each neuron.
    """
    (known,) = np.nonzero(class_counts)
    out = Linear(np.zeros(products.shape, np.float32), np.full(len(class_counts), NEVER, np.float32))
    if not known.size:
        return out
    counts, products = class_counts[known].astype(np.float64), products[:, known]
    n_samples = float(counts.sum())
    if rule.kind == "discriminant":
        weights = n_samples * (products - products.mean(axis=1, keepdims=True))
        offsets = -n_samples / 2 * squares[known] + (np.log(counts) if rule.prior == "counts" else 0.0)
        offsets = offsets - offsets.mean()
    else:
        p = rule.weights(counts)
        centre = weighed(p, means)
        apart = np.ascontiguousarray((means - centre).T)
        turned = n_samples * (products - (products * p).sum(axis=1, keepdims=True))
        system = np.zeros(len(known) * (len(known) + 1) // 2)
        system[diagonal(len(known))] = 1 / p
        core.subtract_products(system, apart, np.ascontiguousarray(-turned))
        right = np.ascontiguousarray(turned.T)
        core.solve(system, right, np.empty(core.solver_scratch(*right.shape)))
        weights = right.T
        offsets = p - (centre[:, np.newaxis] * weights).sum(axis=0)
    with np.errstate(over="ignore"):  # refused below
        out.weights[:, known], out.offsets[known] = weights, offsets
    if not (np.isfinite(out.weights).all() and np.isfinite(out.offsets).all()):
        raise DivergenceError(
            "the readout passes what float32 holds: expected activity of about the same scale in all units, and inputs "
            "that are neither huge nor tiny. Scale the inputs, or raise shrinkage"
        )
    return out


def weighed(p: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of the rows, each times its weight; not by BLAS, which would start threads."""
    return (p[:, np.newaxis] * rows).sum(axis=0)


def cell_of(shrinkage: float) -> tuple[float, float, float]:
    """(the middle, the beginning, the end) of the cell that a shrinkage lies in.

    Example:
        >>> middle, first, end = cell_of(1.0)
        >>> first, round(end / first, 3), round(middle / first, 3)
        (1.0, 1.189, 1.091)
    """
    if shrinkage <= 0:
        return 0.0, 0.0, 0.0
    out = np.empty(3)
    core.shrinkage_cell(shrinkage, out)
    middle, first, end = out.tolist()
    return middle, first, end


def diagonal(n_units: int) -> NDArray[np.int64]:
    """The places of the diagonal in a triangle."""
    unit = np.arange(n_units, dtype=np.int64)
    return unit * (unit + 3) // 2


def add_outer(triangle: NDArray[np.float64], rows: NDArray[np.float64], factor: float) -> None:
    """Add factor times the sum of the rows' outer products with themselves."""
    rows = np.ascontiguousarray(rows)
    core.subtract_products(triangle, rows, -factor * rows)
