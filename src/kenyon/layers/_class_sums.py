"""Sums of a second-order layer with other counts, or with several classes made one; and how typical a sample is.

Where the counts of classes are changed (to zero for a class that is forgotten), their means stay, and the scatter W of
all classes is scaled with the number of samples, so that W / n stays as it was: classes are told apart as before.

How typical a sample x is of class j is told by its squared distance (x - m_j)' A (x - m_j) from the mean, A being
that of the discriminant (`_readout.py`). Over the samples that were learned its mean is the trace of A W, for normal
activity with a variance of twice the trace of (A W)^2; a new sample is farther out by about 1 / (1 - trace / n)^2. A
gamma law with these moments gives the share of a class's own samples that lie farther out still.
"""

from __future__ import annotations

from math import lgamma
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.layers._readout import ClassMoments, add_outer
from kenyon.layers._state import State
from kenyon.layers._sums import narrowest, only

if TYPE_CHECKING:
    from kenyon.layers._coactivity import Coactivity


def with_counts(coactivity: Coactivity, state: State, counts: NDArray) -> State:
    """Sums, not centred, that weigh each class by another count: means and the scatter per sample stay as they are."""
    views = state.views()
    before = views["taught"].astype(np.float64)
    if not before.sum():
        return state
    scatter = np.tril(coactivity.moments(state).scatter) * (float(counts.sum()) / before.sum())
    sums = views["sums"] * (counts / np.maximum(before, 1.0))
    some = np.flatnonzero(counts)
    add_outer(scatter, sums[:, some] / np.sqrt(counts[some].astype(np.float64)), 1.0)
    new = {"pairs": scatter[np.tril_indices(len(scatter))], "sums": sums, "taught": counts}
    changed = State(state.declared, state.sizes)
    for name, view in changed.views().items():
        view[...] = new[name] if view.dtype.kind == "f" else np.maximum(np.rint(new[name]), 0)
    return narrowest(changed, changed.arrays)


def with_joined(state: State, neurons: NDArray[np.int64], left: NDArray[np.int64]) -> State:
    """The sums of some neurons added to the first of them, and those that are left."""
    arrays = dict(state.arrays)
    for name in ("sums", "taught"):
        array = arrays[name].astype(np.float64 if arrays[name].dtype.kind == "f" else np.uint64)
        array[..., neurons[0]] = array[..., neurons].sum(axis=-1)
        arrays[name] = array.astype(arrays[name].dtype) if arrays[name].dtype.kind == "f" else array
    return only(narrowest(state, arrays), left)


class Spread(NamedTuple):
    """How far a class's own samples are from its mean.

    Attributes:
        inverse: A, (units, units).
        means: (units, classes) of those that were taught.
        expected, variance: of the squared distance of a new sample of a class.
    """

    inverse: NDArray[np.float64]
    means: NDArray[np.float64]
    expected: float
    variance: float

    def shares(self, rows: NDArray) -> NDArray[np.float64]:
        """(samples, classes): the share of a class's samples that are farther from its mean than each row is."""
        turned = rows @ self.inverse
        squares = (turned * rows).sum(axis=1, keepdims=True) - 2 * turned @ self.means
        squares += ((self.inverse @ self.means) * self.means).sum(axis=0)
        scale = self.variance / self.expected
        shape, shares = self.expected / scale, np.empty(squares.shape)
        core.upper_gamma(shape, lgamma(shape), np.maximum(squares, 0.0) / scale, shares)
        return shares


def spread_of(moments: ClassMoments, shrinkage: float) -> Spread:
    """The law of the distances, from the moments and the readout's shrinkage."""
    scatter, means, n_samples, _ = moments
    within = (np.tril(scatter) + np.tril(scatter, -1).T) / n_samples
    d = len(within)
    floor = max(shrinkage * float(np.trace(within)) / d, 1e-12)
    inverse: NDArray[np.float64] = np.linalg.inv(within + floor * np.eye(d)).astype(np.float64)
    expected = max(d - floor * float(np.trace(inverse)), 1e-6)  # the trace of A W, as W + floor is the inverse of A
    variance = 2 * max(d - 2 * floor * float(np.trace(inverse)) + floor**2 * float((inverse**2).sum()), 1e-6)
    new = 1 / max(1 - expected / n_samples, 0.1) ** 2  # a sample that was not learned lies farther out
    return Spread(inverse, means, new * expected, new**2 * variance)
