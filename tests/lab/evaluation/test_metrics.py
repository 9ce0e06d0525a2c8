"""The metrics against examples worked by hand."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from evaluation.workers import make_config
from kenyon.cli import app
from kenyon.lab.evaluation import METRICS, FinishedRun, Metric, Metrics, Report, RunFolder, Tally, run
from kenyon.lab.evaluation._result import summarise

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


def accuracy_metrics(R: NDArray, before: NDArray, n_test: NDArray) -> dict[str, float | None]:
    """The metrics of an accuracy matrix."""
    finished = FinishedRun(R, before, n_test, Tally.empty(len(R)), learner=None, stream=None)  # type: ignore[arg-type]
    computed = {name: METRICS[name].compute(finished) for name in BY_HAND}
    return {name: None if value is None or np.isnan(value) else value for name, value in computed.items()}


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
    for name, metric in METRICS.items():
        assert metric.name == name
        assert metric.description, f"{name} has no formula"
    assert 0 < sum(metric.measured for metric in METRICS.values()) < len(METRICS)


@pytest.fixture
def worst_task(monkeypatch: pytest.MonkeyPatch) -> str:
    """A metric as a user would add it: one entry."""
    metric = Metric("worst_task", "final accuracy on the worst task", lambda run: run.R[-1].min(), unit="%")
    monkeypatch.setitem(METRICS, metric.name, metric)
    return metric.name


def test_a_run_made_before_a_metric_shows_a_gap(worst_task: str, tmp_path: Path) -> None:
    (new,) = run(make_config(max_per_task=10), [0], tmp_path).results
    assert new.folder is not None
    values = json.loads((new.folder / "metrics.json").read_text())
    del values["metrics"][worst_task]
    (new.folder / "metrics.json").write_text(json.dumps(values))
    result = RunFolder(new.folder).result()
    assert result.metrics.worst_task is None and result.metrics.accuracy is not None
    summary = Report({}, [result, result]).summary(worst_task)
    assert summary.mean is None and summary.per_seed == (None, None)
    shown = CliRunner().invoke(app, ["show", str(new.folder)]).stdout
    (line,) = [line for line in shown.splitlines() if line.startswith("worst task, %")]
    assert line.split()[-1] == "-"


def test_what_a_later_version_wrote_is_left_out(tmp_path: Path) -> None:
    (result,) = run(make_config(max_per_task=10), [0], tmp_path).results
    assert result.folder is not None
    path = result.folder / "metrics.json"
    values = json.loads(path.read_text())
    values["metrics"]["from_tomorrow"], values["also_from_tomorrow"] = 3.0, {"a": [1]}
    path.write_text(json.dumps(values))
    assert RunFolder(result.folder).result() == result
    with pytest.raises(AttributeError, match="from_tomorrow"):
        _ = result.metrics.from_tomorrow


@pytest.mark.parametrize("value", [float("nan"), float("inf"), np.float64("nan"), None])
def test_a_metric_that_is_no_number_is_undefined(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: float | None
) -> None:
    monkeypatch.setitem(METRICS, "odd", Metric("odd", "nothing", lambda run: value))
    assert run(make_config(max_per_task=10), [0], tmp_path).results[0].metrics.odd is None


def test_metrics_are_a_plain_value() -> None:
    metrics = Metrics({"accuracy": 0.5, "state_bytes": 3})
    assert metrics == pickle.loads(pickle.dumps(metrics)) == copy.deepcopy(metrics) != Metrics({"accuracy": 0.5})
    assert set(metrics) == set(METRICS) and metrics["forgetting"] is None
    for wrong in ("0.5", True, [1]):
        with pytest.raises(ValueError, match=r"metrics\.accuracy"):
            Metrics({"accuracy": wrong})
