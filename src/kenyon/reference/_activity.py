"""From the response of each unit to sparse activity: the dynamic threshold, and how activity is scaled.

    x = ReLU(v - mu - beta sigma),   then x / |x|                       float32
    x = min(255, floor(c (v - mu - beta sigma)))                        bytes; units whose byte is 0 are not active

mu and sigma are the mean and the standard deviation of the sample's own responses v over the units. Responses to bytes
are integers. In integer arithmetic the threshold is one, too, from the sum T and the sum of squares S over n units:

    mu + beta sigma  becomes  (2^12 T + B isqrt(n S - T^2)) // (2^12 n),      B = round(2^12 beta)

Floating-point sums have one order, here and everywhere: `in_order`, or in interleaved parts that are then summed.
"""

from __future__ import annotations

from math import floor, isqrt, sqrt

import numpy as np
from numpy.typing import NDArray

Active = tuple[NDArray[np.int64], NDArray]
"""The active units of a sample, ascending, and their activity in float32 or bytes."""


def in_order(terms: NDArray) -> NDArray:
    """The sum over the first axis, term after term, in the type of the terms."""
    if not len(terms):
        return np.zeros(terms.shape[1:], terms.dtype)
    return np.add.accumulate(terms, axis=0, dtype=terms.dtype)[-1] + terms.dtype.type(0)  # 0 - 0 is 0, not -0


def in_parts(terms: NDArray[np.float64], n: int) -> float:
    """The sum of n partial sums: term i goes to part i mod n."""
    return float(in_order(in_order(np.pad(terms, (0, -len(terms) % n)).reshape(-1, n))))


def threshold(v: NDArray, beta: float | None, exact: bool, parts: int) -> float:
    """mu + beta sigma, or 0 for no threshold."""
    if beta is None:
        return 0.0
    n = len(v)
    if exact:
        total, squares = int(v.sum()), int((v**2).sum())
        return (2**12 * total + round(2**12 * beta) * isqrt(n * squares - total**2)) // (2**12 * n)
    wide = v.astype(np.float64)
    mean = in_parts(wide, parts) / n
    return mean + beta * sqrt(max(in_parts(wide * wide, parts) / n - mean * mean, 0.0))


def activity(
    v: NDArray, beta: float | None, *, parts: int, exact: bool, unit_norm: bool, scale: float | None
) -> Active:
    """The active units of a sample.

    Args:
        v: the response of each unit, int64 or float32.
        beta: the threshold in standard deviations, or None.
        parts: of the sums that the threshold is computed from.
        exact: integer arithmetic.
        unit_norm: scale float activity to length 1.
        scale: the factor c of activity in bytes; None for floats.
    """
    theta = threshold(v, beta, exact, parts)
    bar = float(floor(theta) if v.dtype.kind == "i" else np.float32(theta))
    units = np.flatnonzero(v > v.dtype.type(bar))
    if scale is not None:
        values = np.minimum((v[units].astype(np.float64) - bar) * scale, 255.0)
        return units[values >= 1], values[values >= 1].astype(np.uint8)
    shift = theta if v.dtype.kind == "i" else bar
    x = (v[units].astype(np.float32).astype(np.float64) - shift).astype(np.float32)
    return units, unit_length(x, 8) if unit_norm else x


def unit_length(x: NDArray[np.float32], parts: int) -> NDArray[np.float32]:
    """x / |x|, the length in float64."""
    length = in_parts(x.astype(np.float64) ** 2, parts)
    return x * np.float32(1.0 / sqrt(length)) if length else x


def rectified(x_o: NDArray[np.float32], unit_norm: bool) -> Active:
    """The positive part of a hidden layer's output, as the activity that the next layer sees."""
    units = np.flatnonzero(x_o > 0)
    return units, unit_length(x_o[units], 1) if unit_norm else x_o[units]


def root(u: NDArray) -> NDArray[np.float32]:
    """The square root of each input, with its sign."""
    return np.copysign(np.sqrt(np.abs(u.astype(np.float32))), u.astype(np.float32))
