"""Other packages' code under our protocol; what needs them is skipped where they are not installed."""

from __future__ import annotations

import importlib.util

import pytest

from kenyon.data.streams import Curriculum
from kenyon.errors import ConfigError, KenyonError
from kenyon.lab.evaluation import RunConfig, run

AVALANCHE, CAPYMOA = "kenyon.learners.peers:AvalancheLearner", "kenyon.learners.peers:CapyMOALearner"


def installed(package: str) -> pytest.MarkDecorator:
    missing = importlib.util.find_spec(package) is None
    return pytest.mark.skipif(missing, reason=f"peers: {package} is not installed")


@pytest.mark.slow
@installed("avalanche")
@pytest.mark.parametrize(
    ("strategy", "arguments", "least"),
    [("Naive", "{}", 0.1), ("Replay", '{"mem_size": 200}', 0.25), ("SynapticIntelligence", '{"si_lambda": 1.0}', 0.1)],
)
def test_a_strategy_of_avalanche_runs(strategy: str, arguments: str, least: float) -> None:
    options = {"strategy": strategy, "arguments": arguments, "hidden": [50]}
    config = RunConfig("digits", AVALANCHE, Curriculum(max_per_task=250), options, tests="last", prequential=False)
    assert run(config, [0]).summary("accuracy").mean > least


@pytest.mark.slow
@installed("capymoa")
def test_a_classifier_of_capymoa_runs() -> None:
    config = RunConfig("digits", CAPYMOA, Curriculum("single-task", max_per_task=400), tests="last", prequential=False)
    assert run(config, [0]).summary("accuracy").mean > 0.6


@pytest.mark.parametrize("learner", [AVALANCHE, CAPYMOA])
def test_tasks_with_heads_are_refused(learner: str) -> None:
    with pytest.raises(ConfigError, match="has no heads for tasks: expected a scenario without a given task"):
        run(RunConfig("digits", learner, Curriculum("task-incremental")), [0])


@pytest.mark.skipif(importlib.util.find_spec("capymoa") is not None, reason="capymoa is installed")
def test_a_missing_package_is_named() -> None:
    with pytest.raises(KenyonError, match=r"needs 'capymoa.classifier', which is not installed: pip install"):
        run(RunConfig("digits", CAPYMOA), [0])
