"""Ranks over several streams (Demsar, "Statistical Comparisons of Classifiers over Multiple Data Sets", 2006)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kenyon.utils.statistics import friedman, mean_ranks, range_quantile


@dataclass(frozen=True)
class Ranks:
    """How configurations rank over streams; 1 is the best, ties share their ranks.

    Attributes:
        names: the configurations, best mean rank first.
        means: the mean rank of each.
        streams: how many streams all of them have.
        p: Friedman's test that all are equal; None for two configurations.
        critical: two mean ranks that lie further apart differ (Nemenyi's test).

    Example:
        >>> rank_streams(["a", "b", "c"], {"x": [3, 2, 1], "y": [9, 8, 7]}).names
        ('a', 'b', 'c')
    """

    names: tuple[str, ...]
    means: tuple[float, ...]
    streams: int
    p: float | None
    critical: float


def rank_streams(
    names: Sequence[str], values: Mapping[str, Sequence[float]], lower_is_better: bool = False, alpha: float = 0.05
) -> Ranks | None:
    """Rank configurations on every stream; None for fewer than two streams.

    Args:
        names: the configurations.
        values: for each stream, a number for each of them.
        lower_is_better: whether the smallest number has the first rank.
        alpha: of the critical difference.

    Example:
        >>> rank_streams(["a", "b"], {"x": [0.9, 0.8], "y": [0.7, 0.8]}).means
        (1.5, 1.5)
    """
    table = np.array([row for row in values.values() if np.isfinite(row).all()], np.float64).reshape(-1, len(names))
    n, k = table.shape
    if n < 2 or k < 2:
        return None
    means = mean_ranks(table if lower_is_better else -table).mean(axis=0)
    order = np.argsort(means, kind="stable")
    p = friedman(table) if k > 2 and np.ptp(table, axis=1).any() else None
    q = range_quantile(1 - alpha, k) / math.sqrt(2)
    critical = q * math.sqrt(k * (k + 1) / (6 * n))
    return Ranks(tuple(names[i] for i in order), tuple(means[order].tolist()), n, p, critical)
