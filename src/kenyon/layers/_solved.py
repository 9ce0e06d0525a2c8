"""A readout as it is kept: solved from the moments, then changed with every sample that is learned.

`_readout.py` says what it is, `core/readout.h` how a sample changes it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.errors import DivergenceError
from kenyon.features import Active
from kenyon.layers._readout import BACKOFF, ClassMoments, Rule, cell_of, diagonal

MOST_SHRINKAGE = 1e6
"""Beyond this lambda the class means alone count."""

LEAST_TO_FOLLOW = 1e-5
"""With a smaller lambda rounding would add up too soon: such a readout is solved again each time."""

FOLLOWED_AT_ONCE = 32
"""Samples that are followed in one call; `core/host/readout.h` has it too."""

PENDING = 16
"""Changes of the inverse that are collected; `core/readout.h` has it too."""


FIRST_REFINED = 1
"""Samples after which products are refined, the first time."""


class Readout:
    """Products A (m_j - c) and squares (m_j + c)' A (m_j - c) of all neurons, and A itself where the readout follows
    what is learned; c is the mean of the classes' means when it was solved.

    Args:
        n_units: inputs.
        width: neurons, padded.

    Attributes:
        products: (units, width); squares: (width,).
        moments: tr W, |W|^2, the cell of the shrinkage, from and below, the shrinkage; the samples since the products
            were refined, and after how many they are.
        centre: (units,) c.
        inverse: lower triangle of A without the pending changes; None where it does not follow.
        left: samples that it may follow yet, before rounding would add up.
        cell: of the shrinkage that it was solved with.
    """

    def __init__(self, n_units: int, width: int) -> None:
        self.products, self.squares = np.zeros((n_units, width)), np.zeros(width)
        self.moments = np.array([0.0, 0.0, 0.0, np.inf, 0.0, 0.0, FIRST_REFINED])
        self.centre = np.zeros(n_units)
        self.inverse: NDArray[np.float64] | None = None
        self.left = 0
        self.cell = (0.0, np.inf)
        self._pending: tuple[NDArray, ...] = ()
        self._scratch = np.empty(0)
        self._pack: core.Pack | None = None
        self._scored: core.Pack | None = None

    def keep(self, inverse: NDArray[np.float64], most: int) -> None:
        """Follow this many samples from now on, with this inverse."""
        self.inverse, self.left = inverse, most
        n_units = len(self.products)
        self._pending = (np.empty((PENDING, n_units)), np.empty(PENDING), np.zeros(1, np.int64))
        self._make_pack()

    def _make_pack(self) -> None:
        self._scratch = np.empty(core.follow_scratch(*self.products.shape))
        self._pack = core.pack(self.inverse, *self._pending, self.products, self.squares, self.moments, self.centre)

    def widen(self, width: int) -> None:
        """Add space for more neurons, which have no samples."""
        more = width - len(self.squares)
        if more:
            self.products, self.squares = np.pad(self.products, ((0, 0), (0, more))), np.pad(self.squares, (0, more))
            self._scored = None
            if self.inverse is not None:
                self._make_pack()

    @property
    def scored(self) -> core.Pack:
        """Products and squares, as a compiled call takes them."""
        scored = self._scored
        if scored is None:
            self._scored = scored = core.pack(self.products, self.squares)
        return scored

    @property
    def followed(self) -> tuple[core.Pack | None, NDArray[np.float64]]:
        """All of it, and scratch, for a compiled call that learns."""
        return self._pack, self._scratch

    def outputs(self, class_counts: NDArray, prior: str, active: Active, first: int, last: int) -> NDArray[np.float32]:
        """Scores of the discriminant for samples first .. last - 1, (samples, width)."""
        width = len(self.squares)
        outputs, scratch = np.empty((last - first, width), np.float32), np.empty(3 * width)
        how = (self.products, self.squares, class_counts, prior == "counts")
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
            span: the first sample and the one after the last.
            outputs: where to put the discriminant's scores of each sample before it is learned, where wanted.

        Returns:
            (samples that were followed, FOLLOWED_AT_ONCE at most, whether the shrinkage is still in its cell). Ridge
            looks at that when it is asked: it takes the means of all classes.
        """
        how = (rule.least, rule.oracle, rule.prior == "counts")
        done = core.follow(self._pack, *sums, *active, labels, plastic, *span, *how, self._scratch, outputs)
        self.left -= done >> 1
        return done >> 1, not done & 1

    def refine(self, sums: tuple[NDArray, ...]) -> None:
        """Make up for the rounding of sums in floats, which samples that were followed have gone into."""
        core.refine(self._pack, *sums, self._scratch)

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
        self.left -= 1
        return bool(core.follow_thin(self._pack, distances, step, weight, means, j, rule.least, self._scratch))

    def is_of(self, rule: Rule, means: NDArray[np.float64], class_counts: NDArray) -> bool:
        """Whether its shrinkage is still that of the state that it followed.

        A little before the ends of the cell it is taken not to be, so that rounding does not decide.

        Args:
            means: (classes, units) of the classes that have samples.
            class_counts: (width,) samples of each neuron.
        """
        trace, norm, *_ = self.moments.tolist()
        counts, n_units = class_counts[class_counts > 0], len(self.products)
        n_samples = float(counts.sum())
        share = rule.chosen(trace, norm, n_samples, n_units)
        value = share * rule.total(trace, means, counts, n_samples) / n_units
        return self.cell[0] * (1 + 1e-9) <= value < self.cell[1] * (1 - 1e-9)

    @property
    def nbytes(self) -> int:
        arrays = (self.products, self.squares, self._scratch, *self._pending)
        return sum(array.nbytes for array in arrays) + (0 if self.inverse is None else self.inverse.nbytes)


def solve(
    moments: Callable[[], ClassMoments], class_counts: NDArray, n_units: int, rule: Rule, follow: int = 0
) -> Readout:
    """The readout of all neurons.

    Args:
        moments: computes them; the result is overwritten.
        class_counts: (width,) samples of each neuron.
        follow: samples that it has to follow; 0 for none.
    """
    n_units, whole = rule.first or n_units, moments
    moments = lambda: whole().of_first(n_units) if rule.first else whole()  # noqa: E731
    readout, (known,) = Readout(n_units, len(class_counts)), np.nonzero(class_counts)
    if not known.size:
        return readout
    scatter, means, n_samples, n_used = moments()
    readout.centre[:] = means.mean(axis=0)
    core.scatter_moments(scatter, n_units, readout.moments)
    trace, norm, *_ = readout.moments.tolist()
    share = rule.chosen(trace, norm, n_used, n_units)
    total = rule.total(trace, means, class_counts[known], n_samples)
    follow = follow if share >= LEAST_TO_FOLLOW else 0
    products = again = None
    while products is None and total > 0 and share <= MOST_SHRINKAGE:
        amount, first, end = cell_of(share * total / n_units)
        readout.cell = (first, end)
        products = _products(scatter, means - readout.centre, amount, follow > 0)
        if products is None:
            share, follow = BACKOFF * max(share, 1e-6), 0
            again = moments().scatter if again is None else again  # many classes take long to sum
            scatter = again.copy()
    if products is None:  # no scatter yet, or none to be trusted: the nearest mean
        products, follow = (means - readout.centre) / n_samples, 0
    if not np.isfinite(products).all():
        raise DivergenceError(
            "the readout passes what float64 holds: expected activity of about the same scale in all units, and inputs "
            "that are neither huge nor tiny. Scale the inputs, or raise shrinkage"
        )
    readout.products[:, known] = products.T
    readout.squares[known] = ((means + readout.centre) * products).sum(axis=1)
    if follow:
        readout.keep(scatter, follow)
        readout.moments[2:5] = *((0.0, np.inf) if rule.kind == "ridge" else readout.cell), amount
    return readout


def _products(
    scatter: NDArray[np.float64], means: NDArray[np.float64], amount: float, invert: bool
) -> NDArray[np.float64] | None:
    """A times each row of `means`; None where the matrix is not positive. The scatter becomes A, or is spoilt."""
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
