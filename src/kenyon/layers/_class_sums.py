"""Sums of a second-order layer with other counts, or with several classes made one; and how typical a sample is.

Where the counts of classes are changed (to zero for a class that is forgotten), their means stay, and the scatter W of
all classes is scaled with the number of samples, so that W / n stays as it was: classes are separated as before.

How typical a sample x is of class j follows from its squared distance (x - m_j)' A (x - m_j) from the mean, A being
that of the discriminant (`_readout.py`). Over the samples that were learned its mean is the trace of A W, for normal
activity with a variance of twice the trace of (A W)^2. For a new sample, the leverage of a sample divides the mean by
1 - trace / n, and the variance by the third power of that. A gamma law with these moments gives the share of a class's
own samples that lie farther out still.
"""

from __future__ import annotations

from collections.abc import Callable
from math import lgamma
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.layers._readout import BACKOFF, ClassMoments, Rule, add_outer, cell_of, diagonal
from kenyon.layers._state import State
from kenyon.layers._sums import narrowest, only

if TYPE_CHECKING:
    from kenyon.layers._coactivity import Coactivity


def with_counts(coactivity: Coactivity, state: State, counts: NDArray) -> State:
    """Sums, not centred, that weigh each class by another count: means and the scatter per sample stay as they are."""
    views = state.views()
    before = views["class_counts"].astype(np.float64)
    if not before.sum():
        return state
    scatter = coactivity.moments(state).scatter * (float(counts.sum()) / before.sum())
    sums = views["sums"] * (counts / np.maximum(before, 1.0))
    some = np.flatnonzero(counts)
    add_outer(scatter, (sums[:, some] / np.sqrt(counts[some].astype(np.float64))).T, 1.0)
    new = {"pairs": scatter, "sums": sums, "class_counts": counts}
    changed = State(state.declared, state.sizes)
    for name, view in changed.views().items():
        view[...] = new[name] if view.dtype.kind == "f" else np.maximum(np.rint(new[name]), 0)
    return narrowest(changed, changed.arrays)


def with_joined(state: State, neurons: NDArray[np.int64], left: NDArray[np.int64]) -> State:
    """The sums of some neurons added to the first of them, and those that are left."""
    arrays = dict(state.arrays)
    for name in ("sums", "class_counts"):
        array = arrays[name].astype(np.float64 if arrays[name].dtype.kind == "f" else np.uint64)
        array[..., neurons[0]] = array[..., neurons].sum(axis=-1)
        arrays[name] = array.astype(arrays[name].dtype) if arrays[name].dtype.kind == "f" else array
    return only(narrowest(state, arrays), left)


class Spread(NamedTuple):
    """How far a class's own samples are from its mean.

    Attributes:
        inverse: lower triangle of A.
        means, products: (classes, units) of those that have samples, and A times them.
        expected, variance: of the squared distance of a new sample of a class.
    """

    inverse: NDArray[np.float64]
    means: NDArray[np.float64]
    products: NDArray[np.float64]
    expected: float
    variance: float

    def shares(self, rows: NDArray) -> NDArray[np.float64]:
        """(samples, classes): the share of a class's samples that are farther from its mean than each row is."""
        rows = rows.astype(np.float64)
        turned = np.empty_like(rows)
        core.multiply(self.inverse, rows, turned)
        squares = (turned * rows).sum(axis=1, keepdims=True) + (self.means * self.products).sum(axis=1)
        for j, product in enumerate(self.products):
            squares[:, j] -= 2 * (rows * product).sum(axis=1)
        scale = self.variance / self.expected
        shape, shares = self.expected / scale, np.empty(squares.shape)
        core.upper_gamma(shape, lgamma(shape), np.maximum(squares, 0.0) / scale, shares)
        return shares


def spread_of(moments: Callable[[], ClassMoments], rule: Rule) -> Spread:
    """The law of the distances.

    Args:
        moments: computes them; the result is overwritten.
        rule: of the readout, whose shrinkage it has.
    """
    scatter, means, n_samples, n_used = moments()
    d, found = means.shape[1], np.empty(2)
    core.scatter_moments(scatter, d, found)
    trace, norm = found.tolist()
    floor = max(cell_of(rule.chosen(trace, norm, n_used, d) * trace / d)[0], 1e-12 * n_samples)
    places, scratch = diagonal(d), np.empty(core.solver_scratch(d, 0))
    while True:
        scatter[places] += floor
        if core.invert(scatter, d, scratch):
            break
        scatter, floor = moments().scatter, BACKOFF * floor
    share, squares = floor * float(scatter[places].sum()), floor**2 * (2 * float((scatter**2).sum()))
    squares -= floor**2 * float((scatter[places] ** 2).sum())
    expected = max(d - share, 1e-6)  # the trace of A W, as W + floor is the inverse of A
    variance = 2 * max(d - 2 * share + squares, 1e-6)
    new = 1 / max(1 - expected / n_samples, 0.1)  # a sample that was not learned lies farther out
    scatter *= n_samples
    products = np.empty_like(means)
    core.multiply(scatter, means, products)
    return Spread(scatter, means, products, new * expected, new**3 * variance)
