"""From patches to filters: small integers whose sum is zero.

    q = (p - mean p) / sqrt(var p + eps)                   a patch p, in steps of 1 / 256
    Z = (mean of q q' + I / 10)^(-1/2)                     over patches of a dictionary with contrast: var q > 1/4
    w = Z q / |Z q|,   f = Z w,   less its mean
    filter = f / d, times 30, as integers                  d: the root mean square of f' q over the dictionary

Integers are rounded to the nearest; then those with the largest errors move by one, so that the sum is zero and
brightness has no part in a response. The root of a matrix is found by Newton's iteration (Schulz's coupled form). All
sums of floats have one order, so that a seed gives the same filters on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STEPS = 256
FLOOR = 0.1
SCALE = 30
"""What a response of one deviation is in the units of filters."""

MOST = 63
"""The largest entry of a filter."""

ROUNDS = 24
"""Of Newton's iteration: the smallest eigenvalue grows by 9/4 in each, until it is near 1."""


@dataclass(frozen=True)
class Whitening:
    """How patches become filters.

    Attributes:
        matrix: Z.
        deviation: d.
        floor: eps.
    """

    matrix: NDArray[np.float64]
    deviation: float
    floor: int

    def white(self, values: NDArray[np.int64]) -> NDArray[np.float64]:
        """w of patches q."""
        white = product(values.astype(np.float64), self.matrix)
        length = np.sqrt(_total(white**2))
        return white / np.where(length > 0, length, 1.0)

    def filters(self, white: NDArray[np.float64]) -> NDArray[np.int8]:
        """Filters of patches w, (n, values) int8."""
        exact = self.exact(white) * (SCALE / self.deviation)
        whole = np.clip(np.rint(exact), 1 - MOST, MOST - 1).astype(np.int64)
        excess, errors = whole.sum(axis=1, keepdims=True), exact - whole
        sign = np.sign(excess)
        order = np.argsort(np.argsort(errors * sign, axis=1, kind="stable"), axis=1, kind="stable")
        return (whole - sign * (order < np.abs(excess))).astype(np.int8)

    def exact(self, white: NDArray[np.float64]) -> NDArray[np.float64]:
        """f of patches w."""
        filters = product(white, self.matrix)
        return filters - _total(filters) / filters.shape[1]


def normalised(patches: NDArray[np.integer], floor: int, unit: int = 1) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """q of patches in steps of 1 / STEPS, and which of them have contrast."""
    p = patches.astype(np.int64)
    n, total = p.shape[1], p.sum(axis=1, keepdims=True)
    spread = n * (p * p).sum(axis=1, keepdims=True) - total * total
    least = floor * unit * unit * n * n
    values = np.rint(STEPS * (n * p - total) / np.sqrt((spread + least).astype(np.float64)))
    return values.astype(np.int64), 3 * spread[:, 0] > least


def whitening_of(patches: NDArray[np.integer], floor: int, unit: int = 1) -> Whitening:
    """The whitening for a dictionary of patches."""
    values, usable = normalised(patches, floor, unit)
    values = values[usable]
    both = values.T.astype(np.float64) @ values.astype(np.float64)  # integers below 2^53: exact in any order
    covariance = both / (float(STEPS**2) * len(values))
    matrix = inverse_root(covariance + FLOOR * np.eye(len(covariance)))
    whitening = Whitening(matrix, 1.0, floor)
    filters = whitening.exact(whitening.white(values))
    squares = _total(product(filters, covariance) * filters)[:, 0]
    return Whitening(matrix, float(np.sqrt(np.cumsum(squares)[-1] / len(squares))), floor)


def inverse_root(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The inverse square root of a symmetric positive matrix."""
    size = float(np.cumsum(np.diag(matrix))[-1])
    root, inverse, one = matrix / size, np.eye(len(matrix)), np.eye(len(matrix))
    for _ in range(ROUNDS):
        step = 1.5 * one - 0.5 * product(inverse, root)
        root, inverse = product(root, step), product(step, inverse)
    return inverse / np.sqrt(size)


def product(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """The matrix product, its sums in order."""
    out = np.zeros((len(a), b.shape[1]))
    for k in range(len(b)):
        out += a[:, k, np.newaxis] * b[k]
    return out


def _total(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums of rows, in order."""
    out = np.zeros(len(values))
    for column in values.T:
        out += column
    return out[:, np.newaxis]
