"""What comparisons of runs need of statistics: ranks, and the tails and quantiles of three distributions.

t:       P(T > t)   = I_x(ν/2, 1/2) / 2,  x = ν / (ν + t²)      I: the regularised incomplete beta function
χ²:      P(X > c)   = 1 - P(ν/2, c/2)                           P: the regularised lower incomplete gamma function
range:   P(Q < q)   = k ∫ φ(z) [Φ(z) - Φ(z - q)]^(k-1) dz       of k standard normal values
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["friedman", "mean_ranks", "range_quantile", "t_quantile", "t_tail"]

_TINY = 1e-300


def mean_ranks(table: NDArray) -> NDArray[np.float64]:
    """The rank of each value in its row, from 1; equal values share the mean of their ranks.

    Example:
        >>> mean_ranks(np.array([[30, 10, 10, 20]])).tolist()
        [[4.0, 1.5, 1.5, 3.0]]
    """
    below = (table[:, None, :] < table[:, :, None]).sum(axis=2)
    same = (table[:, None, :] == table[:, :, None]).sum(axis=2)
    return below + (same + 1) / 2


def friedman(table: NDArray) -> float:
    """The p value of Friedman's test that the columns of a table, one row for each stream, are ranked by chance.

    Example:
        >>> round(friedman(np.array([[1, 2, 3]] * 4)), 4)
        0.0183
    """
    n, k = table.shape
    ranks = mean_ranks(table)
    ties = sum(int((counts**3 - counts).sum()) for row in ranks for counts in [np.unique(row, return_counts=True)[1]])
    squares = float(np.square(ranks.sum(axis=0)).sum())
    statistic = 12 / (n * k * (k + 1)) * squares - 3 * n * (k + 1)
    return 1 - _lower_gamma((k - 1) / 2, statistic / (1 - ties / (n * k * (k * k - 1))) / 2)


def t_tail(t: float, degrees: int) -> float:
    """The probability that a value of Student's distribution is above `t`, which is at least 0.

    Example:
        >>> round(t_tail(2.776, 4), 4)
        0.025
    """
    return _beta(degrees / (degrees + t * t), degrees / 2, 0.5) / 2


def t_quantile(probability: float, degrees: int) -> float:
    """The value of Student's distribution with this probability, at least 1/2, below it.

    Example:
        >>> round(t_quantile(0.975, 4), 3)
        2.776
    """
    return _root(lambda t: 1 - t_tail(t, degrees) - probability)


def range_quantile(probability: float, k: int) -> float:
    """The range of `k` standard normal values with this probability below it.

    Example:
        >>> round(range_quantile(0.95, 3), 3)
        3.314
    """
    z = np.linspace(-8, 8, 801)
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)

    def below(q: float) -> float:
        inside = np.array([_normal(float(value)) - _normal(float(value) - q) for value in z])
        return k * float((density * inside ** (k - 1)).sum()) * float(z[1] - z[0])

    return _root(lambda q: below(q) - probability)


def _normal(z: float) -> float:
    return math.erfc(-z / math.sqrt(2)) / 2


def _root(f: Callable[[float], float]) -> float:
    """Where an increasing function of a number above 0 is 0, by bisection."""
    high = 1.0
    while f(high) < 0:
        high *= 2
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) < 0 else (low, middle)
    return (low + high) / 2


def _beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by its continued fraction."""
    if x <= 0.0 or x >= 1.0:
        return max(0.0, min(1.0, x))
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(1 - x, b, a)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    c, d = 1.0, 0.0
    value = 1.0
    for i in range(500):
        m = i // 2
        if i == 0:
            step = 1.0
        elif i % 2:
            step = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            step = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / _off_zero(1 + step * d)
        c = _off_zero(1 + step / c)
        value *= c * d
        if i and abs(c * d - 1) < 1e-15:
            break
    return front * (value - 1)


def _off_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def _lower_gamma(a: float, x: float) -> float:
    """The regularised lower incomplete gamma function, by its series, all of whose terms are positive."""
    if x <= 0:
        return 0.0
    term = math.exp(a * math.log(x) - x - math.lgamma(a + 1))
    total, n = term, a
    while term > total * 1e-17:
        n += 1
        term *= x / n
        total += term
    return min(total, 1.0)
