"""Schedules against their formulas, the time they run on, and the bounds of the weights."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kenyon import LocalError, Plastic
from kenyon.errors import ConfigError
from kenyon.layers import clamp_bounds
from kenyon.rules import GEN, INEL, MSE, Rule
from kenyon.utils.modulation import (
    Exponential,
    InverseTime,
    Moving,
    Schedule,
    Step,
    from_config,
    to_config,
    values_at,
)
from making import make, stream


@pytest.mark.parametrize(
    ("schedule", "formula"),
    [
        (InverseTime(0.3, 0.01), lambda t: 0.3 / (1 + 0.01 * t)),
        (Exponential(0.3, 0.01), lambda t: 0.3 * math.exp(-0.01 * t)),
        (Step(0.3, 0.5, 10), lambda t: 0.3 * 0.5 ** (t // 10)),
    ],
)
def test_schedules_are_their_formulas(schedule: Schedule, formula) -> None:
    labelled = np.array([True, False, True, True] * 10)
    values = values_at([schedule, 2.0, lambda t: t], 100, labelled)
    times = 100 + np.concatenate([[0], np.cumsum(labelled)[:-1]])
    np.testing.assert_allclose(values[:, 0], [formula(t) for t in times], rtol=1e-6)
    assert (values[:, 1] == 2.0).all()
    assert values[:, 2].tolist() == times.tolist()
    assert from_config(to_config(schedule), "learning_rate") == schedule


def test_time_is_the_labelled_samples() -> None:
    X, y = stream()
    times: list[int] = []

    def rate(t: int) -> float:
        times.append(t)
        return 0.1

    clf = make("mse", learning_rate=rate).partial_fit(X, y)
    assert clf.n_samples_learned_ == np.count_nonzero(y >= 0)
    assert max(times) <= clf.n_samples_learned_


@pytest.mark.parametrize(
    ("moving", "constant"),
    [(InverseTime(0.1, 0.0), 0.1), (Exponential(0.1, 0.0), 0.1), (Step(0.1, 1.0, 3), 0.1), (lambda t: 0.1, 0.1)],
)
def test_a_schedule_that_stands_still_is_a_constant(moving: Moving, constant: float) -> None:
    X, y = stream()
    for rule in (MSE(), GEN(), INEL(20.0)):
        a, b = (make("mse", rule=rule, learning_rate=rate).partial_fit(X, y).weights_ for rate in (moving, constant))
        assert np.array_equal(a, b)
    a, b = (make("mse", rule=GEN(b2=b2), clamp=0.1).partial_fit(X, y).weights_ for b2 in (lambda t: -1.0, -1.0))
    assert np.array_equal(a, b)


def test_a_rate_of_zero_teaches_nothing() -> None:
    X, y = stream()
    assert not make("mse", learning_rate=0.0).partial_fit(X, y).weights_.any()
    stops = make("mse", learning_rate=lambda t: 0.1 if t < 30 else 0.0)
    stops.partial_fit(X[:40], y[:40])
    weights = stops.weights_.copy()
    stops.partial_fit(X[40:], y[40:])
    assert np.array_equal(stops.weights_[:, : weights.shape[1]], weights)


@pytest.mark.parametrize("rule", [GEN(), GEN(b1=0.02), MSE(), INEL(10.0, GEN()), INEL(10.0)])
@pytest.mark.parametrize(("kind", "lowest"), [("symmetric", -0.03), ("positive", 0.0)])
def test_weights_stay_within_the_clamp(rule: Rule, kind: str, lowest: float) -> None:
    X, y = stream()
    for hidden in [()] if isinstance(rule.plasticity, GEN) else [(), (12,)]:  # of an output behind hidden layers, too
        clf = make("mse", rule=rule, clamp=0.03, clamp_kind=kind, learning_rate=0.5, hidden=LocalError(hidden))
        weights = clf.partial_fit(X, y)._core.engine.layers[-1].weights
        assert weights.min() >= np.float32(lowest) and weights.max() <= np.float32(0.03)
        assert weights.max() == np.float32(0.03), "the clamp was never reached, so nothing was tested"


def test_a_first_weight_beyond_the_clamp_starts_at_the_clamp() -> None:
    X, y = stream()
    assert make("oja", clamp=0.001).partial_fit(X, y).weights_.max() <= np.float32(0.001)


def test_bounds() -> None:
    assert clamp_bounds(None, "positive") == (-np.inf, np.inf)
    assert clamp_bounds(2.0, "symmetric") == (-2.0, 2.0)
    assert clamp_bounds(2, "positive") == (0.0, 2.0)
    with pytest.raises(ConfigError, match=r"unknown clamp_kind 'positiv'.*did you mean 'positive'"):
        Plastic(clamp=1.0, clamp_kind="positiv")


def test_a_file_names_what_it_cannot_hold() -> None:
    with pytest.raises(ConfigError, match="unknown schedule 'cosine'"):
        from_config({"schedule": "cosine"}, "learning_rate")
    with pytest.raises(ConfigError, match=r"unknown key of schedule 'step' 'evry'.*did you mean 'every'"):
        from_config({"schedule": "step", "evry": 3}, "learning_rate")
