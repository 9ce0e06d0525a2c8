"""Trials that may diverge, and the tables of class orders and of normalisation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kenyon.data.streams import Curriculum
from kenyon.lab.evaluation import RunConfig
from kenyon.lab.tables import Missing, Result, Text, Value
from kenyon.paper.reproduce import Setting
from kenyon.paper.reproduce._trials import TrialJob, trial
from kenyon.paper.reproduce._wanted import Computed, Results, Runs, Sheet
from kenyon.paper.reproduce.experiments._normalisation import normalisation
from kenyon.paper.reproduce.experiments._orders import orders

LIVES = RunConfig("digits", "kenyon", Curriculum("single-task", max_per_task=300), {"rule": "mse", "n_hidden": 200})
DIES = replace(LIVES, options={**LIVES.options, "unit_norm": False})


@pytest.fixture
def everything_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Setting, "dataset", lambda self, name: name)
    monkeypatch.setattr(Setting, "no_weights", lambda self, backbone: None)


def test_a_trial_that_diverges_has_that_as_its_result(tmp_path: Path) -> None:
    cells = [trial(config, Value(96.0)) for config in (LIVES, DIES)]
    assert all(isinstance(cell.fill(Results(tmp_path)), Missing) for cell in cells)
    words = [job.do(tmp_path, None) for cell in cells for job in cell.jobs()]
    assert words[1] == "diverges" and words[0].endswith("%")
    lives, dies = (cell.fill(Results(tmp_path)) for cell in cells)
    assert isinstance(lives, Result) and lives.mean > 20 and lives.n == 1 and lives.paper == Value(96.0)
    assert isinstance(dies, Text) and dies.text == "diverges" and dies.command == cells[1].command
    assert all(job.done(tmp_path) for cell in cells for job in cell.jobs())
    assert not list(tmp_path.glob("*/metrics.json")), "a trial is no run of the store"


@pytest.mark.usefixtures("everything_there")
def test_every_configuration_of_the_paper_is_shown_on_three_scales(tmp_path: Path) -> None:
    (sheet,) = normalisation(Setting(tmp_path))
    assert isinstance(sheet, Sheet) and len(sheet.lines) == 8
    for line in sheet.lines:
        printed, length_1, undivided = line.cells
        assert isinstance(printed, Runs) and isinstance(length_1, Runs) and isinstance(undivided, Computed)
        (job,) = undivided.needs
        assert isinstance(job, TrialJob) and not job.config.options["unit_norm"]
        rates = [given["layer__learning_rate"] for given in (printed.config.options, job.config.options)]
        assert rates[1] > 200 * rates[0] and length_1.config.options.get("unit_norm", True)


@pytest.mark.usefixtures("everything_there")
def test_shuffled_orders_stand_beside_the_sorted_one(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs the extra 'baselines'")
    (sheet,) = orders(Setting(tmp_path))
    assert isinstance(sheet, Sheet) and len(sheet.columns) == 6
    labels = [line.label for line in sheet.lines]
    assert {"Kenyon, a rule", "DER++", "SI", "NCM", "RanDumb"} <= set(labels) and "iid-offline" not in labels
    for line in sheet.lines:
        runs = [cell for cell in line.cells if isinstance(cell, Runs)]
        assert [cell.config.curriculum.class_order for cell in runs] == ["sorted", "shuffled"] * (len(runs) // 2)
        assert len(runs) >= 2 and all(len(cell.seeds) >= 3 for cell in runs)
