"""Anomalies in River's streams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

checks = pytest.importorskip("river.checks")

from kenyon.apps.river import RiverAnomalyDetector  # noqa: E402
from kenyon.errors import InputError  # noqa: E402


class Payments:
    """A few hundred payments in place of the set that River's checks would download; one in twenty is a fraud."""

    def take(self, n: int) -> Iterator[tuple[dict[str, float], int]]:
        rng = np.random.default_rng(0)
        for _ in range(min(n, 200)):
            fraud = int(rng.random() < 0.05)
            yield {f"V{i}": float(value) for i, value in enumerate(rng.normal(3 * fraud, 1, 5))}, fraud


with pytest.MonkeyPatch.context() as patch:
    patch.setattr("river.datasets.CreditCard", Payments)
    CHECKS = list(checks.yield_checks(RiverAnomalyDetector(seed=0)))


@pytest.mark.parametrize("check", CHECKS, ids=[check.__name__ for check in CHECKS])
def test_river(check: Any) -> None:
    check(RiverAnomalyDetector(seed=0))


def test_other_digits_stand_out() -> None:
    X, y = load_digits(return_X_y=True)
    usual, rare = X[y == 1], X[y == 7][:20]
    model, scores = RiverAnomalyDetector(seed=0), []
    for x in usual[:120]:
        model.learn_one(dict(enumerate(x)))
    scores = [model.score_one(dict(enumerate(x))) for x in (*usual[120:], *rare)]
    assert roc_auc_score(np.arange(len(scores)) >= len(usual) - 120, scores) > 0.9


def test_names_that_are_missing_or_new() -> None:
    model = RiverAnomalyDetector(seed=0)
    rng = np.random.default_rng(0)
    for a, b in rng.normal(size=(50, 2)):
        model.learn_one({"a": a, "b": b})
    assert 0 <= model.score_one({"a": 0.0}) == model.score_one({"a": 0.0, "c": 9.0}) <= 1
    with pytest.raises(InputError, match="'a' is 'x'"):
        model.score_one({"a": "x"})
