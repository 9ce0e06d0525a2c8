"""Sums of inputs and ramps, re-expressed when inputs get other units.

    z' = f z + o                    inputs, exactly;   f = 0 and a variance of 1 where an input begins again
    x' = phi p' + d_j + e           a ramp x = max(0, p - b) that sees such an input, p = w . z

The past samples are gone, but the sums have the mean of z' for each class j and its covariance within classes. What a
ramp would have answered is taken to be its regression on the inputs under a bell of that mean and covariance: with s
the deviation of p' within classes, a_j = (mean_j p' - b) / s, and X of the bell,

    mean of class j   m_j = s R(a_j),      R(a) = E max(0, X + a)
    slope             phi = sum_j n_j F(a_j) / n,      F = R', the bell's distribution function
    variance of e     sum_j n_j s^2 (Q(a_j) - R(a_j)^2) / n - phi^2 s^2,      Q(a) = E max(0, X + a)^2

and d_j makes the class means m_j. All other units keep their sums. The result is the sums of possible samples, so
that the co-activity stays positive. The bell is that of three uniform numbers of variance 1/3: its moments are
polynomials, so that everything is computed by +, -, *, / and the root, in one order: the same bits everywhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SMALLEST = 1e-12
"""Variance of a sum of inputs that has none yet."""

Floats = NDArray[np.float64]


class Rescaling(NamedTuple):
    """From old units to new ones: z' = factors z + offsets.

    Attributes:
        factors, offsets: (inputs,).
        fresh: (inputs,) 1 where an input begins again, and 0 elsewhere.

    Example:
        >>> import numpy as np
        >>> Rescaling(np.array([1.0, 2.0]), np.zeros(2), np.zeros(2)).changed.tolist()
        [False, True]
    """

    factors: Floats
    offsets: Floats
    fresh: Floats

    @property
    def changed(self) -> NDArray[np.bool_]:
        """Inputs that get other units."""
        return (self.factors != 1) | (self.offsets != 0) | (self.fresh != 0)


class Summing(NamedTuple):
    """Ramps as sums of inputs: unit u is max(0, sum_k weights[u, k] z[inputs[u, k]] - offsets[u]).

    Attributes:
        inputs: (ramps, K).
        weights: (ramps, K), zero beyond the ramp's own size.
        offsets: (ramps,).
    """

    inputs: NDArray[np.int64]
    weights: Floats
    offsets: Floats

    def of(self, columns: Floats, factor: Floats | None = None) -> Floats:
        """(ramps, ...): the sums of rows of `columns` (inputs, ...), in the order of the inputs."""
        weights = self.weights if factor is None else self.weights * factor[:, np.newaxis]
        total = np.zeros((len(self.inputs), *columns.shape[1:]))
        for k in range(self.inputs.shape[1]):
            total += (columns[self.inputs[:, k]].T * weights[:, k]).T
        return total


def rescaled(
    ramps: Summing, change: Rescaling, pairs: Floats, sums: Floats, counts: Floats, n_new: int = 0
) -> tuple[Floats, Floats]:
    """New (pairs, sums).

    Args:
        ramps: the units behind the inputs.
        change: of the inputs' units.
        pairs: (units, units), sums of products; symmetric.
        sums: (units, classes).
        counts: (classes,) samples, some of them.
        n_new: ramps that have no sums yet, the last ones. They get those of their regression on the inputs, with one
            d for all classes, so that a readout that sees the inputs has no use for them yet.
    """
    n, total = len(change.factors), counts.sum()
    pairs, sums = _moved(change, pairs, sums, counts)
    seen = (change.changed[ramps.inputs] & (ramps.weights != 0)).any(axis=1)
    seen[len(seen) - n_new :] = True
    (seeing,) = np.nonzero(seen)
    if not seeing.size:
        return pairs, sums
    ramps = Summing(ramps.inputs[seeing], ramps.weights[seeing], ramps.offsets[seeing])
    means, shares = sums[:n] / np.maximum(counts, 1), counts / total
    within = (pairs[:n, :n] - _outer_sum(means * counts, means)) / total
    across = ramps.of(within)
    spread = np.zeros(len(seeing))
    for k in range(ramps.inputs.shape[1]):
        spread += across[np.arange(len(seeing)), ramps.inputs[:, k]] * ramps.weights[:, k]
    deviation = np.sqrt(np.maximum(spread, SMALLEST))
    first, slope, second = bell((ramps.of(means) - ramps.offsets[:, np.newaxis]) / deviation[:, np.newaxis])
    slopes, variance = _in_order(slope * shares), _in_order((second - first * first) * shares)
    wanted = np.where(counts > 0, deviation[:, np.newaxis] * first, 0.0)
    along = ramps.of(means, slopes)
    apart = np.where(counts > 0, wanted - along, 0.0)
    new = seeing >= len(seen) - n_new
    if n_new:  # nothing that would tell classes apart beyond the inputs
        apart[new] = np.where(counts > 0, _in_order(apart * shares)[new, np.newaxis], 0.0)
        wanted[new] = np.where(counts > 0, (along + apart)[new], 0.0)
    rest = np.maximum(deviation * deviation * (variance - slopes * slopes), 0.0)
    linear, linear_sums = ramps.of(pairs[:n], slopes), ramps.of(sums[:n], slopes)
    among = ramps.of(np.ascontiguousarray(linear[:, :n].T), slopes)
    among += _outer_sum(linear_sums, apart) + _outer_sum(apart, linear_sums) + _outer_sum(apart * counts, apart)
    among[np.diag_indices(len(seeing))] += total * rest
    rows, places = linear + _outer_sum(apart, sums), n + seeing
    pairs[places], pairs[:, places] = rows, rows.T
    pairs[np.ix_(places, places)] = np.tril(among) + np.tril(among, -1).T
    sums[places] = wanted * counts
    return pairs, sums


def bell(a: Floats) -> tuple[Floats, Floats, Floats]:
    """R, its slope F, and Q of the bell, which ends at -3 and 3.

    Example:
        >>> [[round(float(value), 3) for value in values] for values in bell(np.array([0.0, 4.0]))]
        [[0.406, 4.0], [0.5, 1.0], [0.5, 17.0]]
    """
    beyond = a >= 3
    inside = np.where(beyond, 0.0, a)
    first, slope, second = np.zeros_like(a), np.zeros_like(a), np.zeros_like(a)
    for sign, knot in ((1.0, 3.0), (-3.0, 1.0), (3.0, -1.0), (-1.0, -3.0)):
        t = np.maximum(inside + knot, 0.0)
        cube = sign * t * t * t
        slope, first, second = slope + cube / 48, first + cube * t / 192, second + cube * t * t / 480
    return np.where(beyond, a, first), np.where(beyond, 1.0, slope), np.where(beyond, a * a + 1, second)


def _moved(change: Rescaling, pairs: Floats, sums: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Sums with the inputs in new units; ramps as they are."""
    n, total = len(change.factors), counts.sum()
    factors, offsets = np.ones(len(pairs)), np.zeros(len(pairs))
    factors[:n], offsets[:n] = change.factors, change.offsets
    cross = np.multiply.outer(factors * _in_order(sums), offsets)
    pairs = pairs * np.multiply.outer(factors, factors) + (cross + cross.T)
    pairs += total * np.multiply.outer(offsets, offsets)
    pairs[np.arange(n), np.arange(n)] += total * change.fresh
    return pairs, sums * factors[:, np.newaxis] + np.multiply.outer(offsets, counts)


def _in_order(columns: Floats) -> Floats:
    """The sum over the columns, one after the other."""
    total = np.zeros(len(columns))
    for column in columns.T:
        total += column
    return total


def _outer_sum(left: Floats, right: Floats) -> Floats:
    """The sum of the outer products of columns, one after the other."""
    total = np.zeros((len(left), len(right)))
    for one, other in zip(left.T, right.T, strict=True):
        total += np.multiply.outer(one, other)
    return total
