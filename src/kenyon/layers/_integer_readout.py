"""The discriminant of a second-order layer in integers, the same bits on every machine.

What follows defines every bit, so that an implementation in another language can give the same. Numbers are integers
in two's complement of 64 bits; `>>` and `/` round down, v << n with a negative n is v >> -n, bits(v) is the number of
binary digits of |v| (0 for 0), clip(v) bounds v to -(2^31 - 1) .. 2^31 - 1.

With P the co-activity in few bits (`_few_bits.py`), m_j the mean of class j in units of 1/256, and C classes that were
class_counts, over d units:

    c[i]      = (2 * sum over classes of m_j[i] + C) / (2 C)
    shrinkage = min(2^30, max(1, (trace of P * mantissa >> shift) / d))      mantissa / 2^shift is lambda
    b_j       = m_j - c                                                      the right-hand side of class j

(P + shrinkage I) x = b_j is solved by conjugate gradients (Hestenes and Stiefel, 1952), class after class. r, p, q and
x are vectors, f and g say where their points are: the solution is x / 2^f and the residual r * 2^g. R, Q and Z keep
every sum below 2^63. w are the weights that the class had in the last readout, or zeros.

    Z = (62 - bits(d)) / 2;   R = min(26, Z);   Q = min(28, 62 - bits(d) - R)
    f = 30 - max(0, (bits(sum b^2) + 1) / 2 - bits(shrinkage) + 1)           x / 2^f is at most |b| / shrinkage
    u = R - bits(largest b);   g = -u

    where sum w b is positive:                          begin with the multiple of w that is best
        q = P w + shrinkage w;   s = bits(largest q) - Q;   q = q >> s
        a = (sum w b) over (sum w q)                    where sum w q is not positive, the matrix is not: see below
        x = a(w, s - f);   p = r = clip((b << u) - a(q, -u))
    else:
        x = 0;   p = r = b << u
    u = R - bits(largest r);   r = p = r << u;   g = g - u

    repeat, as long as r is not zero, for at most this many steps:
        q = P p + shrinkage p;   s = bits(largest q) - Q;   q = q >> s
        a = (sum r^2) over (sum p q)                    where sum p q is not positive, the matrix is not: see below
        x = clip(x + a(p, s - g - f));   r' = clip(r - a(q, 0))
        z = max(0, bits(largest r') - Z)
        a = (sum (r' >> z)^2) over (sum r^2);   p = clip(r' + a(p, -2 z))
        u = R - bits(largest of r', p);  r = r' << u;   p = p << u;   g = g - u

    A over B:  u = 62 - bits(A);  v = bits(B) - 31;  k = (A << u) / (B >> v);  t = u + v
    a(v, n) = clip(k v >> min(62, max(0, t + n)))

The steps are at most 16 + d / 4. After k samples since the last readout, a class that begins with weights takes at
most 1 + k of them. Where that is no less than 16 + d / 4, and where k is 255 or more, all weights are taken to be
zero, so that the readout depends on the state alone. So it is after whatever else changes the state: a class is
forgotten, models are merged, one is loaded. A new class has no weights.

Where the matrix is not positive, which few bits can make it, all classes are begun again with ten times the shrinkage,
2^30 at most; at that, x is left as it is. Then, for each class,

    e = bits(largest x) - 15;   w = x >> e;   offset = -(sum of w (m_j + c)) >> 9
    E = e - f                                           -1000 where x is zero
    score = (sum of w[i] activity[i] + offset) >> min(62, largest E - E + K)

with K = max(0, bits(d * 511 * 32767) - 22), so that every score is below 2^22 and outputs in float32 tell all of them
apart. They agree with the discriminant that LAPACK solves to about three digits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.features import Active
from kenyon.layers._readout import NEVER, diagonal
from kenyon.rules import as_shifted

SCORE_BITS = 22

MANY_LEARNED = 255
"""After this many samples, a readout does not begin with the last one."""

NO_WEIGHTS = -1000
"""The exponent of a class whose weights are all zero."""


class IntegerReadout(NamedTuple):
    """What scores are read with.

    Attributes:
        weights: (units, width) int16.
        offsets, shifts: (width,) int64.
        known: (width,) bool, the neurons that have samples.
        scale: the output of a score of 1, such that differences are log-odds.

    Example:
        >>> from kenyon.layers import SecondOrderLayer
        >>> layer = SecondOrderLayer(n_inputs=20, bits=16, integer=True)
        >>> layer.add_class()
        >>> isinstance(layer.present_integers(), IntegerReadout)
        True
    """

    weights: NDArray[np.int16]
    offsets: NDArray[np.int64]
    shifts: NDArray[np.int64]
    known: NDArray[np.bool_]
    scale: float

    def widened(self, width: int) -> IntegerReadout:
        """With space for more neurons, which have no samples."""
        more = width - len(self.offsets)
        if not more:
            return self
        return self._replace(
            weights=np.pad(self.weights, ((0, 0), (0, more))),
            offsets=np.pad(self.offsets, (0, more)),
            shifts=np.pad(self.shifts, (0, more)),
            known=np.pad(self.known, (0, more)),
        )

    def scores(self, active: Active, first: int, last: int) -> NDArray[np.int32]:
        """Integer scores of samples first .. last - 1, (samples, width); meaningless for neurons without samples."""
        scores = np.zeros((last - first, len(self.offsets)), np.int32)
        class_counts = np.flatnonzero(self.known)
        totals = np.empty(len(self.offsets), np.int64)
        core.read_integers(self.weights, self.offsets, self.shifts, class_counts, *active, first, last, scores, totals)
        return scores

    def outputs(self, active: Active, first: int, last: int) -> NDArray[np.float32]:
        """`x_o` of samples first .. last - 1, (samples, width)."""
        return np.where(self.known, self.scores(active, first, last) * np.float32(self.scale), NEVER)

    def in_floats(self) -> NDArray[np.float32]:
        """(units, width): the weights in the unit of the outputs."""
        return (self.weights * (self.scale * 2.0 ** -self.shifts.astype(np.float64))).astype(np.float32)


def most_steps(n_units: int) -> int:
    """Steps of conjugate gradients: on held-out digits and clothes, as many as leave accuracy within 0.1 points."""
    return 16 + n_units // 4


def few_steps(n_units: int, n_learned: int) -> int:
    """Steps from the last weights, after a number of samples since; 0 where the readout begins with zero."""
    few = 1 + n_learned
    return few if n_learned < MANY_LEARNED and few < most_steps(n_units) else 0


def score_shift(n_units: int) -> int:
    """K: how far scores are shifted so that none reaches 2^SCORE_BITS."""
    return max(0, (n_units * 511 * 32767).bit_length() - SCORE_BITS)


def integer_readout_numbers(n_units: int, shrinkage: float) -> dict[str, int]:
    """The constants of the definition above, for other implementations of it.

    Example:
        >>> integer_readout_numbers(128, 0.001)["steps"]
        48
    """
    mantissa, shift = as_shifted(shrinkage)
    vector_bits = min(26, (62 - n_units.bit_length()) // 2)
    return {
        "shrinkage": mantissa,
        "shrinkage_shift": shift,
        "vector_bits": vector_bits,
        "square_bits": (62 - n_units.bit_length()) // 2,
        "product_bits": min(28, 62 - n_units.bit_length() - vector_bits),
        "steps": most_steps(n_units),
        "score_shift": score_shift(n_units),
    }


def shrinkage_amount(
    triangle: NDArray[np.int16 | np.int32], n_units: int, shrinkage: tuple[int, int], n_samples: int | None = None
) -> int:
    """`shrinkage` of the definition above, with lambda as (mantissa, shift).

    Distances of single samples are taken with max(shrinkage, trace / (4 n)), n being the samples in the triangle: with
    few of them, most directions have no variance yet, and everything would be far away.
    """
    mantissa, shift = shrinkage
    trace = int(triangle[diagonal(n_units)].sum(dtype=np.int64))
    least = 1 if n_samples is None else max(1, trace // (4 * max(1, n_samples)))
    return min(2**30, max(least, (trace * mantissa >> shift) // n_units))


def solve_integers(
    triangle: NDArray[np.int16 | np.int32],
    means: NDArray[np.uint16],
    class_counts: NDArray,
    shrinkage: tuple[int, int],
    unit: float,
    last: IntegerReadout | None = None,
    n_learned: int = MANY_LEARNED,
) -> IntegerReadout:
    """The readout of all neurons.

    Args:
        triangle: co-activity, the lower triangle row after row.
        means: (units, width) in units of 1/256.
        class_counts: (width,) samples of each neuron.
        shrinkage: lambda as (mantissa, shift).
        unit: of a weight: what makes differences of scores log-odds.
        last: the readout before, as wide, where there is one.
        n_learned: samples since.
    """
    n_units, width = means.shape
    amount = shrinkage_amount(triangle, n_units, shrinkage)
    few = 0 if last is None else few_steps(n_units, n_learned)
    weights = last.weights.copy() if last is not None and few else np.zeros((n_units, width), np.int16)
    exponents, offsets = np.full(width, NO_WEIGHTS, np.int64), np.zeros(width, np.int64)
    (known,) = np.nonzero(class_counts)
    solved = (weights, exponents, offsets, np.empty(3 * n_units, np.int32), np.empty(2 * n_units, np.int64))
    core.solve_classes(triangle, means, known, amount, few or most_steps(n_units), most_steps(n_units), *solved)
    most = int(exponents[known].max(initial=NO_WEIGHTS))
    shifts = np.minimum(62, most - exponents + score_shift(n_units))
    return IntegerReadout(weights, offsets, shifts, class_counts > 0, unit * 2.0 ** (score_shift(n_units) + most))
