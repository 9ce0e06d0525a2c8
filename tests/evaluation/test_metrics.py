"""The metrics against examples worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from kenyon.evaluation import MEASURED, METRIC_NAMES, Metrics
from kenyon.evaluation._metrics import accuracy_metrics, summarise

R = np.array(
    [
        [0.90, 0.10, 0.20],
        [0.60, 0.80, 0.30],
        [0.50, 0.70, 1.00],
    ]
)
BEFORE = np.array([0.05, 0.15, 0.05])
N_TEST = np.array([100, 100, 200])

BY_HAND = {
    "accuracy": (0.5 + 0.7 + 1.0) / 3,
    "sample_accuracy": (50 + 70 + 200) / 400,
    "anytime_accuracy": (0.9 + (0.6 + 0.8) / 2 + (0.5 + 0.7 + 1.0) / 3) / 3,
    "forgetting": ((0.9 - 0.5) + (0.8 - 0.7)) / 2,
    "backward_transfer": ((0.5 - 0.9) + (0.7 - 0.8)) / 2,
    "forward_transfer": ((0.1 - 0.15) + (0.3 - 0.05)) / 2,
    "learning_accuracy": (0.9 + 0.8 + 1.0) / 3,
}


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name: str) -> None:
    assert accuracy_metrics(R, BEFORE, N_TEST)[name] == pytest.approx(BY_HAND[name], abs=1e-15)


def test_forgetting_takes_the_best_since_the_task_was_learned() -> None:
    rising = np.array([[0.5, 0.9, 0.0], [0.8, 0.6, 0.0], [0.7, 0.6, 0.5]])
    # Task 1 was best after task 2; what task 2 had before it was learned does not count.
    assert accuracy_metrics(rising, BEFORE, N_TEST)["forgetting"] == pytest.approx(((0.8 - 0.7) + (0.6 - 0.6)) / 2)


def test_one_task_has_no_transfer() -> None:
    values = accuracy_metrics(np.array([[0.75]]), np.array([0.1]), np.array([40]))
    assert values["accuracy"] == values["sample_accuracy"] == values["anytime_accuracy"] == 0.75
    assert values["forgetting"] is values["backward_transfer"] is values["forward_transfer"] is None


def test_what_was_not_tested_is_undefined() -> None:
    last = np.where(np.arange(3)[:, None] == 2, R, np.nan)
    values = accuracy_metrics(last, np.full(3, np.nan), N_TEST)
    assert values["accuracy"] == pytest.approx(BY_HAND["accuracy"])
    for name in set(BY_HAND) - {"accuracy", "sample_accuracy"}:
        assert values[name] is None, name
    seen = np.where(np.tri(3) > 0, R, np.nan)
    values = accuracy_metrics(seen, np.full(3, np.nan), N_TEST)
    for name in set(BY_HAND) - {"forward_transfer"}:
        assert values[name] == pytest.approx(BY_HAND[name]), name
    assert values["forward_transfer"] is None


def test_summary() -> None:
    summary = summarise([1.0, 2.0, 4.0])
    assert summary.mean == pytest.approx(7 / 3)
    assert summary.std == pytest.approx(np.sqrt(((4 / 3) ** 2 + (1 / 3) ** 2 + (5 / 3) ** 2) / 2))
    assert summary.per_seed == (1.0, 2.0, 4.0)
    assert summarise([3.0]).std is None
    assert summarise([1.0, None]).mean is None


def test_every_metric_has_its_formula() -> None:
    import inspect

    source = inspect.getsource(Metrics)
    for name in METRIC_NAMES:
        after = source.split(f"    {name}: ", 1)[1].splitlines()[1]
        assert after.strip().startswith('"""'), f"{name} has no docstring"
    assert set(MEASURED) < set(METRIC_NAMES)
