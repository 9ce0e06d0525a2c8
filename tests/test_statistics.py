"""Tails and quantiles against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from kenyon.utils.statistics import friedman, mean_ranks, range_quantile, t_quantile, t_tail


@pytest.mark.parametrize("degrees", [1, 2, 4, 9, 200])
def test_students_distribution(degrees: int) -> None:
    for t in (0.0, 1e-3, 0.5, 2.7, 10.0, 300.0):
        assert np.isclose(t_tail(t, degrees), stats.t.sf(t, degrees), rtol=1e-9, atol=0)
    for p in (0.5, 0.9, 0.975, 0.9995):
        assert np.isclose(t_quantile(p, degrees), stats.t.ppf(p, degrees), rtol=1e-8, atol=1e-8)


def test_the_studentised_range_of_many_samples() -> None:
    for k in (2, 5, 30):
        assert np.isclose(range_quantile(0.95, k), stats.studentized_range.ppf(0.95, k, np.inf), rtol=1e-9)


def test_ranks_and_friedmans_test_with_ties() -> None:
    random = np.random.default_rng(0)
    for _ in range(20):
        table = random.integers(0, 9, (int(random.integers(2, 9)), int(random.integers(3, 7))))
        assert np.array_equal(mean_ranks(table), stats.rankdata(table, axis=1))
        if np.ptp(table, axis=1).any():
            assert np.isclose(friedman(table), stats.friedmanchisquare(*table.T).pvalue)
