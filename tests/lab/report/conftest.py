"""A store of real runs for the tests here."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.workers import make_config
from kenyon.data.streams import Curriculum
from kenyon.lab.evaluation import RunConfig, Store, run


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two scenarios, two learners, one run that was stopped."""
    path = tmp_path_factory.mktemp("stores") / "kept"
    kenyon = RunConfig("digits", "kenyon", Curriculum(max_per_task=60), {"n_hidden": 300})
    run(kenyon, [0, 1], path)
    run(make_config(max_per_task=60), [0, 2], path)
    run(make_config("single-task", max_per_task=60), [3], path)
    stopped = make_config("task-incremental", max_per_task=60)
    run(stopped, [0], path)
    Store(path).folder(stopped, 0).clear()
    return path
