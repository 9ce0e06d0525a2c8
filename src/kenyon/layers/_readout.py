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
solution by rounding alone: scores by less than 1e-4 of their spread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.errors import DivergenceError
from kenyon.features import Active

NEVER = np.float32(-1e30)
"""The score of a class that was never taught."""

BACKOFF = 10.0
"""Where the matrix is not positive, which few bits can make it, lambda is raised by this factor."""

MOST_SHRINKAGE = 1e6
"""Beyond this lambda the class means alone count."""

LEAST_TO_FOLLOW = 1e-5
"""With a smaller lambda rounding would add up too soon: such a readout is solved anew each time."""

PENDING = 16
"""Changes of the inverse that are collected; `core/readout.h` has it too."""


class ClassMoments(NamedTuple):
    """What a readout is solved from; only classes that were taught.

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


class Rule(NamedTuple):
    """Which readout it is.

    Attributes:
        kind: `discriminant` or `ridge`.
        shrinkage: lambda, or `auto` for that of the oracle-approximating formula (`core/readout.h`).
        prior: `equal`, or `counts`.
        at_least: take `auto` where it is more than the shrinkage.
    """

    kind: str
    shrinkage: float | str
    prior: str
    at_least: bool

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
        apart = means - p @ means
        return trace + n_samples * float(p @ (apart * apart).sum(axis=1))


class Linear(NamedTuple):
    """`x_o = weights' x + offsets`.

    Attributes:
        weights: (units, width) float32.
        offsets: (width,) float32, NEVER for neurons that were not taught.
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


class Readout:
    """Products A m_j and squares m_j' A m_j of all neurons, and A itself where the readout follows what is learned.

    Args:
        n_units: inputs.
        width: neurons, padded.

    Attributes:
        products: (units, width); squares: (width,).
        moments: tr W, |W|^2, and the cell of the shrinkage: from, below.
        inverse: lower triangle of A without the pending changes; None where it does not follow.
        left: samples that it may follow yet, before rounding would add up.
        cell: of the shrinkage that it was solved with.
    """

    def __init__(self, n_units: int, width: int) -> None:
        self.products, self.squares = np.zeros((n_units, width)), np.zeros(width)
        self.moments = np.array([0.0, 0.0, 0.0, np.inf])
        self.inverse: NDArray[np.float64] | None = None
        self.left = 0
        self.cell = (0.0, np.inf)
        self._pending: tuple[NDArray, ...] = ()
        self._scratch = np.empty(0)
        self._pack: core.Pack | None = None

    def keep(self, inverse: NDArray[np.float64], most: int) -> None:
        """Follow so many samples from now on, with this inverse."""
        self.inverse, self.left = inverse, most
        n_units = len(self.products)
        self._pending = (np.empty((PENDING, n_units)), np.empty(PENDING), np.zeros(1, np.int64))
        self._make_pack()

    def _make_pack(self) -> None:
        self._scratch = np.empty(core.follow_scratch(*self.products.shape))
        self._pack = core.pack(self.inverse, *self._pending, self.products, self.squares, self.moments)

    def widen(self, width: int) -> None:
        """Make room for more neurons, which were never taught."""
        more = width - len(self.squares)
        if more:
            self.products, self.squares = np.pad(self.products, ((0, 0), (0, more))), np.pad(self.squares, (0, more))
            if self.inverse is not None:
                self._make_pack()

    def outputs(self, taught: NDArray, prior: str, active: Active, first: int, last: int) -> NDArray[np.float32]:
        """Scores of the discriminant for samples first .. last - 1, (samples, width)."""
        width = len(self.squares)
        outputs, scratch = np.empty((last - first, width), np.float32), np.empty(3 * width)
        how = (self.products, self.squares, taught, prior == "counts")
        core.discriminant_scores(*how, *active, first, last, outputs, scratch)
        return outputs

    def follow(
        self,
        sums: tuple[NDArray, ...],
        active: Active,
        labels: NDArray[np.int64],
        plastic: NDArray[np.bool_],
        span: tuple[int, int],
        rule: Rule,
        outputs: NDArray[np.float32] | None,
    ) -> tuple[int, bool]:
        """Follow samples that are about to be learned.

        Args:
            sums: of products, of classes, and their counts, as they are before.
            span: the first sample and the one after the last; at most BLOCK.
            outputs: room for the discriminant's scores of each sample before it is learned, where wanted.

        Returns:
            (samples that were followed, whether the shrinkage is still in its cell). Ridge looks at that when it is
            asked: it takes the means of all classes.
        """
        how = (rule.least, rule.oracle, rule.prior == "counts")
        done = core.follow(self._pack, *sums, *active, labels, plastic, *span, *how, self._scratch, outputs)
        return done >> 1, not done & 1

    def follow_thin(
        self,
        distances: NDArray[np.int16] | None,
        step: float,
        weight: float,
        means: NDArray[np.uint16],
        j: int,
        rule: Rule,
    ) -> bool:
        """Follow a sample that was just learned in few bits; whether the shrinkage is still in its cell.

        Args:
            distances: from the mean of its class before it, in steps; None where it was not let in.
            step, weight: what a step and a sample stand for.
            means: (units, width) in 1/256, after it.
            j: its class.
        """
        return bool(core.follow_thin(self._pack, distances, step, weight, means, j, rule.least, self._scratch))

    def is_of(self, rule: Rule, means: NDArray[np.float64], taught: NDArray) -> bool:
        """Whether its shrinkage is still that of the state that it followed.

        A little before the ends of the cell it is taken not to be, so that rounding does not decide.

        Args:
            means: (classes, units) of the classes that were taught.
            taught: (width,) samples of each neuron.
        """
        trace, norm, *_ = self.moments.tolist()
        counts, n_units = taught[taught > 0], len(self.products)
        n_samples = float(counts.sum())
        share = rule.chosen(trace, norm, n_samples, n_units)
        value = share * rule.total(trace, means, counts, n_samples) / n_units
        return self.cell[0] * (1 + 1e-9) <= value < self.cell[1] * (1 - 1e-9)

    @property
    def nbytes(self) -> int:
        arrays = (self.products, self.squares, self._scratch, *self._pending)
        return sum(array.nbytes for array in arrays) + (0 if self.inverse is None else self.inverse.nbytes)


def solve(moments: Callable[[], ClassMoments], taught: NDArray, n_units: int, rule: Rule, follow: int = 0) -> Readout:
    """The readout of all neurons.

    Args:
        moments: gives them anew; what it gives is overwritten.
        taught: (width,) samples of each neuron.
        follow: samples that it has to follow; 0 for none.
    """
    readout, (known,) = Readout(n_units, len(taught)), np.nonzero(taught)
    if not known.size:
        return readout
    scatter, means, n_samples, n_used = moments()
    core.scatter_moments(scatter, n_units, readout.moments)
    trace, norm, *_ = readout.moments.tolist()
    share = rule.chosen(trace, norm, n_used, n_units)
    total = rule.total(trace, means, taught[known], n_samples)
    follow = follow if share >= LEAST_TO_FOLLOW else 0
    products = None
    while products is None and total > 0 and share <= MOST_SHRINKAGE:
        amount, first, end = cell_of(share * total / n_units)
        readout.cell = (first, end)
        products = _products(scatter, means, amount, follow > 0)
        if products is None:
            share, follow = BACKOFF * max(share, 1e-6), 0
            scatter = moments().scatter
    if products is None:  # no scatter yet, or none to be trusted: the nearest mean
        products, follow = means / n_samples, 0
    if not np.isfinite(products).all():
        raise DivergenceError(
            "the readout passes what float64 holds: expected activity of about the same scale in all units, and inputs "
            "that are neither huge nor tiny. Scale the inputs, or raise shrinkage"
        )
    readout.products[:, known] = products.T
    readout.squares[known] = (means * products).sum(axis=1)
    if follow:
        readout.keep(scatter, follow)
        readout.moments[2:] = (0.0, np.inf) if rule.kind == "ridge" else readout.cell
    return readout


def linear(readout: Readout, means: NDArray[np.float64], taught: NDArray, rule: Rule) -> Linear:
    """A readout as weights and offsets in float32.

    Args:
        readout: of that state.
        means: (classes, units) of the classes that were taught.
        taught: (width,) samples of each neuron.
    """
    (known,) = np.nonzero(taught)
    out = Linear(np.zeros(readout.products.shape, np.float32), np.full(len(taught), NEVER, np.float32))
    if not known.size:
        return out
    counts, products = taught[known].astype(np.float64), readout.products[:, known]
    n_samples = float(counts.sum())
    if rule.kind == "discriminant":
        weights = n_samples * (products - products.mean(axis=1, keepdims=True))
        offsets = -n_samples / 2 * readout.squares[known] + (np.log(counts) if rule.prior == "counts" else 0.0)
        offsets = offsets - offsets.mean()
    else:
        p = rule.weights(counts)
        centre = p @ means
        apart = np.ascontiguousarray((means - centre).T)
        turned = n_samples * (products - (products * p).sum(axis=1, keepdims=True))
        system = np.zeros(len(known) * (len(known) + 1) // 2)
        system[diagonal(len(known))] = 1 / p
        core.subtract_products(system, apart, -turned)
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


def _products(
    scatter: NDArray[np.float64], means: NDArray[np.float64], amount: float, invert: bool
) -> NDArray[np.float64] | None:
    """A times each mean, a row each; None where the matrix is not positive. The scatter becomes A, or is spoilt."""
    n_classes, n_units = means.shape
    scatter[diagonal(n_units)] += amount
    scratch = np.empty(core.solver_scratch(n_units, n_classes))
    if invert:
        products = np.empty_like(means)
        if not core.invert(scatter, n_units, scratch):
            return None
        core.multiply(scatter, means, products)
        return products
    right = np.ascontiguousarray(means.T)
    return np.ascontiguousarray(right.T) if core.solve(scatter, right, scratch) else None
