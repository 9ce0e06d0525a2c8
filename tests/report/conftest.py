"""A store of real runs for the tests here; those that need a browser are skipped where there is none."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from evaluation.workers import make_config
from kenyon.evaluation import RunConfig, Store, run
from kenyon.streams import Curriculum

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not (CHROMIUM and DRIVER):
        marker = pytest.mark.skip(reason="chromium and chromedriver are not on the PATH (Debian: chromium-driver)")
        for item in items:
            if item.get_closest_marker("browser"):
                item.add_marker(marker)


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
