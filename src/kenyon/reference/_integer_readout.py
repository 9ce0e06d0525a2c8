"""The discriminant in integers of 64 bits, by conjugate gradients (Hestenes and Stiefel, 1952).

    (P + shrinkage I) x = b,   b = m_j - c,   shrinkage = min(2^30, max(1, (trace P lambda) // d))

P is the co-activity in few bits of d units, m_j the mean of class j in 1/256, c that of the class means; lambda is
mantissa / 2^shift. `>>` and `//` round down, `up` shifts either way, `clip` is to 32 bits. The vectors r, p and q are
kept at R, R and Q bits, x / 2^f is the solution and r 2^g the residual:

    q = P p + shrinkage p;   a = r'r / p'q;   x = x + a p;   r' = r - a q;   p = r' + (r''r' / r'r) p

At most 16 + d / 4 steps begin with zero. Soon after a readout, k samples later, a class begins with the multiple of its
last weights w that is best, w'b / w'(P + shrinkage I)w, and takes at most 1 + k steps, where that is less.
Weights w of 15 bits are made of x, with an exponent for each class: score = (w'a + offset) >> shift.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kenyon.reference._activity import Active
from kenyon.reference._readout import NEVER
from kenyon.rules import as_shifted

Integers = NDArray[np.int64]


class IntegerReadout(NamedTuple):
    """Weights (units, neurons), offsets, shifts, the neurons that are known, and the output of a score of 1."""

    weights: Integers
    offsets: Integers
    shifts: Integers
    known: Integers
    scale: float

    def widened(self) -> IntegerReadout:
        """With one more neuron, which is not known."""
        weights, offsets, shifts = np.pad(self.weights, ((0, 0), (0, 1))), *(np.pad(v, (0, 1)) for v in self[1:3])
        return self._replace(weights=weights, offsets=offsets, shifts=shifts)

    def scores(self, x: Active) -> Integers:
        return self.weights[x[0]].T @ x[1].astype(np.int64) + self.offsets >> self.shifts

    def outputs(self, x: Active) -> NDArray[np.float32]:
        out = np.full(len(self.offsets), NEVER)
        out[self.known] = self.scores(x)[self.known].astype(np.float32) * np.float32(self.scale)
        return out


def bits(values: Integers | int) -> int:
    """Binary digits of the largest absolute value."""
    return int(np.abs(values).max()).bit_length()


def up(v: Integers, n: int) -> Integers:
    return v << n if n >= 0 else v >> min(-n, 63)


def over(a: int, b: int) -> tuple[int, int]:
    """(k, t), k / 2^t being a / b."""
    u, v = 62 - a.bit_length(), b.bit_length() - 31
    return (a << u) // (b >> v if v >= 0 else b << -v), u + v


def times(k: int, t: int, v: Integers) -> Integers:
    return clip(k * v >> min(62, max(0, t)))


def clip(v: Integers) -> Integers:
    return np.minimum(np.maximum(v, -(2**31 - 1)), 2**31 - 1)


def gradients(P: Integers, shrinkage: int, b: Integers, w: Integers, few: int) -> tuple[Integers, int, bool]:
    """(x, f, True) after `few` steps from the weights w, or 16 + d / 4 from zero where w'b is not positive; False as
    soon as the matrix proves not to be positive."""
    d = len(b)
    Z = (62 - d.bit_length()) // 2
    R = min(26, Z)
    Q = min(28, 62 - d.bit_length() - R)
    f = 30 - max(0, (int(b @ b).bit_length() + 1) // 2 - shrinkage.bit_length() + 1)
    g = bits(b) - R
    x, r, wb = np.zeros(d, np.int64), up(b, -g), int(w @ b)
    if wb > 0:
        q = P @ w + shrinkage * w
        s = bits(q) - Q
        q = up(q, -s)
        if int(w @ q) <= 0:
            return x, f, False
        k, t = over(wb, int(w @ q))
        x, r = times(k, t + s - f, w), clip(r - times(k, t + g, q))
    u = R - bits(r)
    r, g = up(r, u), g - u
    p = r
    for _ in range(few if wb > 0 else 16 + d // 4):
        rr = int(r @ r)
        if not rr:
            break
        q = P @ p + shrinkage * p
        s = bits(q) - Q
        q = up(q, -s)
        pq = int(p @ q)
        if pq <= 0:
            return x, f, False
        k, t = over(rr, pq)
        x, r = clip(x + times(k, t + s - g - f, p)), clip(r - times(k, t, q))
        z = max(0, bits(r) - Z)
        k, t = over(int((r >> z) @ (r >> z)), rr)
        p = clip(r + times(k, t - 2 * z, p))
        u = R - max(bits(r), bits(p))
        r, p, g = up(r, u), up(p, u), g - u
    return x, f, True


def solve_integers(
    P: Integers,
    means: Integers,
    known: Integers,
    shrinkage: float,
    unit: float,
    last: Integers | None = None,
    n_learned: int = 255,
) -> IntegerReadout:
    """The readout of the neurons that are known.

    Args:
        means: (units, neurons).
        unit: of a weight, so that differences of outputs are log-odds.
        last: weights of the last readout, n_learned samples ago.
    """
    d, n_neurons = means.shape
    mantissa, shift = as_shifted(shrinkage)
    amount = min(2**30, max(1, (int(np.trace(P)) * mantissa >> shift) // d))
    n, few = max(1, len(known)), 1 + n_learned
    centre = (2 * means[:, known].sum(axis=1) + n) // (2 * n)
    weights, offsets = np.zeros((d, n_neurons), np.int64), np.zeros(n_neurons, np.int64)
    if last is not None and n_learned < 255 and few < 16 + d // 4:
        weights[:, : last.shape[1]] = last
    else:
        few = 16 + d // 4
    exponents, number = np.full(n_neurons, -1000), 0
    while number < len(known):
        j = known[number]
        x, f, positive = gradients(P, amount, means[:, j] - centre, weights[:, j], few)
        if not positive and amount < 2**30:
            amount, number = min(2**30, 10 * amount), 0
            continue
        e = bits(x) - 15
        weights[:, j] = up(x, -e)
        offsets[j] = -(weights[:, j] @ (means[:, j] + centre)) >> 9
        exponents[j] = e - f if x.any() else -1000
        number += 1
    K = max(0, (d * 511 * 32767).bit_length() - 22)
    most = int(exponents.max(initial=-1000))
    return IntegerReadout(weights, offsets, np.minimum(62, most - exponents + K), known, unit * 2.0 ** (K + most))
