"""The pieces: configurations, speeds, cells."""

from __future__ import annotations

import math
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kenyon.data.protocol import StreamInfo
from kenyon.data.streams import Curriculum
from kenyon.lab.evaluation import RunConfig, parse_seeds, run
from kenyon.lab.tables import Missing, Result, Table, Value
from kenyon.learners import learner_class
from kenyon.paper.reproduce import Setting
from kenyon.paper.reproduce._jobs import MeasureJob, SearchJob, speed_key
from kenyon.paper.reproduce._plan import measured_speeds, nearest_speed, recorded_speeds
from kenyon.paper.reproduce._setting import PAPERS_BACKBONE
from kenyon.paper.reproduce._wanted import FAR_ABOVE, Fixed, Gap, Line, Results, Runs, Sheet
from kenyon.paper.reproduce.experiments import as_printed, chosen, lengths, on_length_1, optimised, single
from kenyon.paper.reproduce.experiments._comparison import CLASSES, SINGLE, published_cell
from kenyon.paper.reproduce.record_speeds import speeds_text
from kenyon.paper.transfer import moments

SPEEDS = {
    "er/mnist/class-incremental": 100.0,
    "er/mnist/task-incremental": 300.0,
    "kenyon/gen/cifar10/single-task": 9.0,
}


@pytest.mark.parametrize(
    ("key", "speed"),
    [
        ("er/mnist/class-incremental", 100.0),
        ("er/mnist/single-task", 200.0),
        ("er/cifar10/single-task", 200.0),
        ("kenyon/mse/mnist/single-task", 9.0),
        ("er-mir/mnist/single-task", None),
    ],
)
def test_the_speed_of_the_nearest_kind(key: str, speed: float | None) -> None:
    assert nearest_speed(SPEEDS, key) == speed


def test_speeds_are_the_stores(tmp_path: Path) -> None:
    config = RunConfig("digits", options={"rule": "mse", "n_hidden": 50})
    report = run(config, [0], tmp_path)
    speed = report.results[0].metrics.samples_per_second_overall
    key = "kenyon/mse/digits/class-incremental"
    assert measured_speeds(tmp_path) == {key: round(speed, 3)} and speed_key(config.to_dict()) == key
    recorded = tomllib.loads(speeds_text(tmp_path))
    assert recorded["speeds"] == recorded_speeds() | {key: round(speed, 3)} and recorded["machine"]["cores"] >= 1
    assert all(math.isfinite(value) and value > 0 for value in recorded_speeds().values())


def test_the_width_of_a_network_decides_how_fast_it_is() -> None:
    config = RunConfig("cifar10", "er", Curriculum("class-incremental"), {"width": 20}).to_dict()
    assert speed_key(config) == "er/cifar10/width-20/class-incremental"


def test_the_papers_configurations_as_options() -> None:
    assert on_length_1("single_configurations", "mnist", "mse") == {
        "rule": "mse",
        "n_hidden": 11000,
        "features": "sparse",
        "layer": "plastic",
        "features__density": 0.023,
        "features__inhibitory": 0.429,
        "features__threshold": 1.450,
        "layer__learning_rate": 0.582,
        "layer__clamp": "off",
        "layer__output": "clip",
    }
    assert single("mnist", "mse")["unit_norm"] is False and optimised("mnist")["layer__output"] == "clip"
    length = lengths("class_configurations", "cifar10", "inel")["mnist"]
    assert optimised("cifar10", "mnist")["rule__beta"] == pytest.approx(0.920 * 255 * length**2, rel=1e-5)
    carried = on_length_1("class_configurations", "cifar10", "inel", "mnist")
    assert carried["rule__beta"] == pytest.approx(0.920 * length)


@pytest.mark.parametrize("dataset", ["cifar10", "cifar100"])
@pytest.mark.parametrize("scenario", ["task-incremental", "class-incremental"])
def test_chosen_configurations_can_be_run(dataset: str, scenario: str) -> None:
    options = chosen(dataset, scenario)
    assert options and RunConfig(dataset, "kenyon", Curriculum(scenario), options).options["rule"] == options["rule"]


@pytest.mark.parametrize(("rule", "reach"), [("mse", None), ("inel", 0.954)])
def test_the_printed_reading_is_the_papers_equations(rule: str, reach: float | None) -> None:
    """x_o = clip(W^T x_e / length^2), dW = l (x_m - x_o) x_e where beta |W - mean| <= 1, pixels from 0 to 1."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 256, (60, 12)).astype(np.uint8), rng.integers(0, 3, 60)
    length = 2.0
    plain = {"rule": rule, "features": "identity", "layer": "plastic", "layer__learning_rate": 0.5}
    options = as_printed({**plain, "layer__clamp": "off"}, reach, length, 255.0)
    info = StreamInfo((12,), 3, ((0, 1, 2),), len(X), task_heads=False, value_range=(0.0, 255.0))
    learner: Any = learner_class("kenyon")(info, 0, **options)
    X[:3], y[:3] = 0, [0, 1, 2]  # which teach nothing, but bring all classes along
    learner.learn(X, y)
    W = np.zeros((12, 3))
    for x, label in zip(X / 255, y, strict=True):
        x_o = np.clip(x @ W / length**2, 0, 1)
        inside = 1.0 if reach is None else reach * np.abs(W - W.mean(axis=0)) <= 1
        W += 0.5 * np.outer(x, np.eye(3)[label] - x_o) * inside
    expected = np.clip(X / 255 @ W / length**2, 0, 1)
    np.testing.assert_allclose(learner.classifier.decision_function(X), expected, atol=1e-3)


def test_the_command_of_a_single_seed_other_than_0_is_that_seed_alone(tmp_path: Path) -> None:
    runs = Runs(RunConfig("digits", "ncm", Curriculum(max_per_task=20)), seeds=(3,))
    missing = runs.fill(Results(tmp_path))
    run(runs.config, [3], tmp_path)
    cell = runs.fill(Results(tmp_path))
    assert isinstance(missing, Missing) and isinstance(cell, Result) and (cell.n, len(cell.runs)) == (1, 1)
    for command in (runs.command, missing.command, cell.command):
        assert command and parse_seeds(command.split()[-1]) == (3,)


def test_the_best_of_a_column_is_marked_unless_it_is_no_contender() -> None:
    def line(mean: float, better: str = "higher", outside: bool = False) -> Line:
        return Line(str(mean), (Fixed(Result(mean, better=better)),), outside=outside)

    def best(*lines: Line) -> list[str]:
        table = Sheet("t", "t", ("a",), lines).draw(Results(Path()))[0]
        assert isinstance(table, Table)
        return [row.label for row in table.rows if isinstance(row.cells[0], Result) and row.cells[0].best]

    assert best(line(3), line(5), line(9, outside=True)) == ["5"]
    assert best(line(3, "lower"), line(5, "lower")) == ["3"]
    assert best(line(3)) == []


def test_rows_without_a_number_in_the_columns_that_count_are_left_out() -> None:
    number, nothing = Fixed(Result(1.0, None, 1)), Gap("not run")
    lines = (Line("kept", (nothing, number)), Line("left out", (number, nothing)))
    (table,) = Sheet("t", "t", ("a", "b"), lines, needed=(1,)).draw(Results(Path()))
    assert isinstance(table, Table) and [row.label for row in table.rows] == ["kept"]
    assert Sheet("t", "t", ("a", "b"), lines[1:], needed=(1,)).draw(Results(Path())) == []


def test_a_backbone_without_weights_is_a_gap_with_its_command(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="needs the extra 'backbones'")
    setting = Setting(tmp_path, tmp_path)
    setting.__dict__["present"] = frozenset({"cifar10"})
    cell = setting.kenyon("cifar10", "single-task", {"rule": "mse"}, features=PAPERS_BACKBONE, paper=(73.24,))
    assert isinstance(cell, Gap) and "wide_resnet50_2-95faca4d.pth" in cell.reason and cell.paper == Value(73.24)
    assert cell.command and "--backbone wide_resnet50_2" in cell.command
    stand_in = setting.kenyon("cifar10", "single-task", {"rule": "mse"}, paper=(73.24,))
    assert isinstance(stand_in, Runs) and stand_in.stand_in and "wide-ResNet50" in stand_in.stand_in
    assert stand_in.config.tests == "seen" and setting.kenyon("cifar10", "single-task", {}, features=False) != stand_in


def test_a_measurement_is_kept_as_it_was_made(tmp_path: Path) -> None:
    from kenyon.data.streams import load_dataset

    job = MeasureJob("digits")
    assert not job.done(tmp_path)
    assert job.do(tmp_path, None).startswith("effective dimension")
    kept, made = job.moments(tmp_path), moments(load_dataset("digits"))
    assert job.done(tmp_path) and kept.dimension == made.dimension and (kept.centroids == made.centroids).all()


def test_a_search_is_done_once_it_has_its_evaluations(tmp_path: Path) -> None:
    job = SearchJob("digits", "single-task", 3, 1, 100)
    assert not job.started(tmp_path) and "--max-per-task 100" in job.command
    log = tmp_path / job.name / "evaluations.csv"
    log.parent.mkdir(parents=True)
    log.write_text("head\n1\n2\n")
    assert job.started(tmp_path) and not job.done(tmp_path)
    log.write_text("head\n1\n2\n3\n")
    assert job.done(tmp_path)


def test_some_seeds_are_better_than_none(tmp_path: Path) -> None:
    cell = Runs(RunConfig("digits", options={"rule": "mse", "n_hidden": 50}), (0, 1, 2))
    assert isinstance(cell.fill(Results(tmp_path)), Missing)
    run(cell.config, [1], tmp_path)
    filled = cell.fill(Results(tmp_path))
    assert (
        isinstance(filled, Result) and filled.n == 1 and filled.std is None and filled.remark == "1 of 3 seeds so far."
    )


@pytest.mark.parametrize(("difference", "remark"), [(0.1, None), (FAR_ABOVE + 1, "above"), (-0.1, "below")])
def test_a_number_below_the_papers_or_far_above_it_says_why(
    tmp_path: Path, difference: float, remark: str | None
) -> None:
    cell = Runs(RunConfig("digits", options={"rule": "mse", "n_hidden": 200}), (0,), below="below", above="above")
    mean = 100 * (run(cell.config, [0], tmp_path).summary("accuracy").mean or 0.0)
    filled = replace(cell, paper=Value(mean - difference)).fill(Results(tmp_path))
    assert isinstance(filled, Result) and filled.remark == remark


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ((SINGLE, "mnist", "inel", "task-incremental"), ("domain-incremental", "nothing fitted", None)),
        ((SINGLE, "mnist", "inel", "class-incremental"), ("class-incremental", "last task alone", None)),
        ((SINGLE, "cifar10", "mse", "task-incremental"), ("task-incremental", "nothing fitted", "another network")),
        ((CLASSES, "cifar10", "inel", "class-incremental"), ("class-incremental", "nothing fitted", "another network")),
    ],
)
def test_cells_of_the_papers_configurations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cell: tuple[str, str, str, str], words: tuple[str, str, str | None]
) -> None:
    monkeypatch.setattr(Setting, "dataset", lambda self, name: name)
    monkeypatch.setattr(Setting, "no_weights", lambda self, backbone: None)
    *where, scenario = cell
    made = published_cell(Setting(tmp_path), tuple(where), cell[1], scenario, (65.0,))
    assert isinstance(made, Runs) and made.config.curriculum.scenario == words[0]
    assert words[1] in (made.below or "") and (words[2] or "") in (made.above or "")


def test_what_takes_long_is_shown_where_the_store_has_it(tmp_path: Path) -> None:
    setting = Setting(tmp_path)
    cell = Runs(RunConfig("digits", options={"rule": "mse", "n_hidden": 50}), (0, 1), paper=Value(98.1))
    gap = setting.on_request(cell, False, "ask for it")
    assert isinstance(gap, Gap) and (gap.reason, gap.command, gap.paper) == ("ask for it", cell.command, cell.paper)
    assert setting.on_request(cell, True, "ask for it") == cell and setting.on_request(gap, False, "no") == gap
    run(cell.config, [1], tmp_path)
    left = setting.on_request(cell, False, "ask for it")
    assert isinstance(left, Runs) and left.seeds == (1,)


@pytest.mark.parametrize(("dataset", "quick", "below"), [("digits", False, "why"), ("mnist", True, None)])
def test_a_quick_number_needs_no_reason_to_be_below_the_papers(
    tmp_path: Path, dataset: str, quick: bool, below: str | None
) -> None:
    cell = Setting(tmp_path, quick=quick).kenyon(dataset, "single-task", {"rule": "mse"}, paper=(96.0,), below="why")
    assert isinstance(cell, Runs) and cell.below == below
