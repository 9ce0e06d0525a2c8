"""Every row of the table of baselines: importable, complete, and through the checks that every learner passes."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from typing import Any

import pytest

from kenyon.data.protocol import Learner, StreamInfo
from kenyon.data.streams import SCENARIOS
from kenyon.errors import ConfigError
from kenyon.learners import learner_class, learner_options, make_learner
from kenyon.learners.baselines import BASELINES
from kenyon.testing import CHECKS

WITHOUT_TORCH = ("ncm", "slda", "flymodel", "randumb")
NAMES = [
    *("iid-offline", "fine-tune", "online-ewc", "si", "lwf", "a-gem", "icarl", "gss", "er", "er-mir", "der++"),
    *("rpsnet", "instaparam", "cn-dpm", "phsic"),
    *WITHOUT_TORCH,
]
# Enough for 64 pixels, and quick; what a baseline has of it.
SMALL = {"hidden": (100,), "n_hidden": 1000, "n_features": 300, "sleep": 100, "sleep_classifier": 50, "draws": 2}


def small(name: str) -> dict[str, object]:
    """The options that make a baseline quick, those it has."""
    return {key: value for key, value in SMALL.items() if key in learner_options(name)}


def test_the_table_has_every_name_and_says_what_it_is() -> None:
    assert list(BASELINES) == NAMES
    for name, row in BASELINES.items():
        assert row.name == name
        assert row.memory and row.reference and row.summary
        assert row.scenarios and set(row.scenarios) <= set(SCENARIOS)


def test_the_table_is_read_without_torch() -> None:
    code = "import sys, kenyon.learners.baselines; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", NAMES)
def test_the_options_are_shown(name: str) -> None:
    options = learner_options(name)
    assert "batch_size" in options
    if "lr" in options:
        assert {"hidden", "threads"} <= set(options)


def check_cases() -> list[Any]:
    """Class-incrementally every check; with task heads those that the heads could break."""
    with_heads = ("same_seed_same_bits", "restore_goes_on", "state_bytes")
    cases = []
    for name, row in BASELINES.items():
        first = "class-incremental" if "class-incremental" in row.scenarios else row.scenarios[0]
        cases += [(name, check, first) for check in CHECKS]
        if "task-incremental" in row.scenarios and first != "task-incremental":
            cases += [(name, check, "task-incremental") for check in with_heads]
        elif "task-incremental" not in row.scenarios:
            cases.remove((name, "task_heads", first))
    training = pytest.mark.slow  # a network
    return [pytest.param(*case, marks=[] if case[0] in WITHOUT_TORCH else training) for case in cases]


@pytest.mark.parametrize(("name", "check", "scenario"), check_cases())
def test_check(name: str, check: str, scenario: str) -> None:
    CHECKS[check](partial(learner_class(name), **small(name)), scenario)


@pytest.mark.parametrize("name", NAMES)
def test_a_scenario_that_is_not_defined_is_refused(name: str) -> None:
    info = StreamInfo((8, 8), 10, (tuple(range(10)),), 100, False, (0.0, 16.0))
    for scenario in set(SCENARIOS) - set(BASELINES[name].scenarios):
        with pytest.raises(ConfigError, match=scenario):
            make_learner(name, info, 0, scenario)


def test_boundaries_are_asked_for_where_they_are_needed() -> None:
    for name in ("online-ewc", "si", "lwf", "icarl"):
        assert "task-free" not in BASELINES[name].scenarios
    assert "permuted" not in BASELINES["icarl"].scenarios  # a class's exemplars are chosen once


def test_a_learner_is_built_by_name() -> None:
    info = StreamInfo((8, 8), 10, (tuple(range(10)),), 100, False, (0.0, 16.0))
    learner: Learner = make_learner("er", info, 0, "single-task", buffer_size=20)
    assert learner.batch_size == 10
    with pytest.raises(ConfigError, match="buffer_size"):
        make_learner("er", info, 0, "single-task", bufer_size=20)
