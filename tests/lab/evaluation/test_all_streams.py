"""Every scenario on every data set that is there, through the loop."""

from __future__ import annotations

import os

import pytest

from kenyon.data.streams import SCENARIOS, Curriculum
from kenyon.lab.evaluation import RunConfig, run

SETS = {"digits": 10, "mnist": 10, "fashion-mnist": 10, "cifar10": 10, "cifar100": 100}


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize(
    "dataset", [name if name == "digits" else pytest.param(name, marks=pytest.mark.real_data) for name in SETS]
)
def test_runs_and_beats_chance(dataset: str, scenario: str) -> None:
    curriculum = Curriculum(scenario, max_per_task=400, n_tasks=3 if scenario in ("permuted", "rotated") else None)
    config = RunConfig(dataset, "kenyon", curriculum, {"n_hidden": 400, "rule": "inel"}, tests="last")
    result = run(config, [0], data_dir=os.environ.get("KENYON_DATA")).results[0]
    guesses = len(result.tasks[0]) if scenario in ("task-incremental", "domain-incremental") else SETS[dataset]
    assert result.metrics.accuracy is not None
    # The place of a CIFAR class in its pair says nothing about its pixels, so near chance is what to expect there.
    if (dataset, scenario) not in {("cifar10", "domain-incremental"), ("cifar100", "domain-incremental")}:
        assert result.metrics.accuracy > 1.1 / guesses
    whole = scenario in ("permuted", "rotated") or scenario.endswith("drift")  # every task is tested on all classes
    assert sum(result.n_test) == {"digits": 359}.get(dataset, 10_000) * (len(result.tasks) if whole else 1)
