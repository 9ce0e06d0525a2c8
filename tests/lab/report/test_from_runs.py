"""Reports of stores, through the command and from Python; and the commands that repeat runs."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from evaluation.workers import make_config
from kenyon.cli import app
from kenyon.data.streams import Curriculum
from kenyon.lab.evaluation import RunConfig, Store, run
from kenyon.lab.figures import Heatmap, Lines, Scatter
from kenyon.lab.report import config_command, report_of_runs, run_command, write_report
from kenyon.lab.tables import Missing
from kenyon.lab.tables import Result as Number
from kenyon.learners import LEARNERS
from report.sample import sample


def kenyon(*args: object) -> Result:
    return CliRunner().invoke(app, [str(arg) for arg in args])


def test_tables_hold_the_stores_numbers(store: Path) -> None:
    report = report_of_runs(store)
    assert [table.title for table in report.tables] == [
        f"digits, {s}" for s in ("class-incremental", "single-task", "task-incremental")
    ]
    shown = json.loads(kenyon("show", store, "--json").stdout)
    for table, scenario in zip(report.tables[:2], ("class-incremental", "single-task"), strict=True):
        groups = [group for group in shown if group["config"]["scenario"] == scenario]
        for row, group in zip(table.rows, groups, strict=True):
            accuracy = row.cells[0]
            assert isinstance(accuracy, Number)
            assert accuracy.mean == pytest.approx(100 * group["accuracy"]["mean"])
            assert accuracy.n == len(group["seeds"])
            assert set(accuracy.runs) == {Path(folder).name for folder in group["folders"]}
    best = [row.cells[0].best for row in report.tables[0].rows if isinstance(row.cells[0], Number)]
    assert best == [True, False], "the most accurate first, and bold"


def test_incomplete_runs_are_named(store: Path) -> None:
    table = report_of_runs(store).tables[2]
    cell = table.rows[0].cells[0]
    assert isinstance(cell, Missing) and "not complete (stopped)" in cell.reason and cell.command
    assert "Incomplete, left out of the numbers: digits-task-incremental-evaluation-tiny-tiny-s0" in table.note
    assert "1 incomplete run" in report_of_runs(store).subtitle


def test_undefined_columns_are_left_out(store: Path) -> None:
    first, second, _ = report_of_runs(store).tables
    assert first.columns == ("accuracy", "forgetting", "state", "samples/s", "seeds")
    assert "forgetting" not in second.columns, "one task forgets nothing"


def test_figures_are_drawn_from_the_runs(store: Path) -> None:
    figures = report_of_runs(store).figures
    scatter = figures[0]
    assert isinstance(scatter, Scatter) and scatter.frontier and scatter.x_log
    assert {point.group for point in scatter.points} == {"Kenyon", "keeps: unknown"}
    stream = next(f for f in figures if isinstance(f, Lines) and f.id.startswith("stream"))
    assert stream.marks == (60.0, 120.0, 180.0, 240.0) and stream.series[0].x[-1] == 300.0
    assert all(band is not None for band in (series.band for series in stream.series)), "two seeds each"
    matrix = next(f for f in figures if isinstance(f, Heatmap))
    result = Store(store).runs()
    assert matrix.rows == ("1", "2", "3", "4", "5") and len(result) == 6
    weights = next(f for f in figures if f.title.startswith("Weight evolution"))
    assert isinstance(weights, Lines) and len(weights.series) == 10
    assert all(len(series.x) <= 400 for f in figures if isinstance(f, Lines) for series in f.series)


def test_a_store_without_its_arrays_has_fewer_figures(store: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(store, tmp_path / "copy")
    for array in copy.glob("*/*.npy"):
        array.unlink()
    assert {type(figure) for figure in report_of_runs(copy).figures} == {Scatter, Heatmap}


def test_configurations_that_differ_have_different_names(tmp_path: Path) -> None:
    for epochs in (1.0, 0.5):
        run(make_config(max_per_task=20, epochs=epochs), [0], tmp_path)
    report = report_of_runs(tmp_path)
    labels = sorted(row.label for row in report.tables[0].rows)
    assert labels == ["evaluation.tiny:Tiny, epochs 0.5", "evaluation.tiny:Tiny, epochs 1.0"]
    assert len({figure.id for figure in report.figures}) == len(report.figures)


def test_one_runs_folder_is_enough(store: Path) -> None:
    folder = next(folder for folder in Store(store).runs() if folder.complete)
    report = report_of_runs(folder.path)
    assert list(report.runs) == [folder.path.name] and report.title == folder.path.name
    assert report.runs[folder.path.name].command == f"kenyon run --config {folder.file('config.toml')}"


@pytest.mark.parametrize(
    "config",
    [
        make_config(max_per_task=20, task_sizes=(5, 3, 2), class_order=tuple(range(9, -1, -1)), labelled=0.5),
        RunConfig(
            "digits", "evaluation.tiny:Tiny", Curriculum("task-free", blur=0.25, max_per_task=20), {"rate": 0.07}
        ),
        RunConfig("digits", "kenyon", Curriculum(max_per_task=5), {"n_hidden": 100, "rule": "inel", "rule__beta": 3.0}),
        RunConfig("digits", "ncm", Curriculum(max_per_task=5), test_every=5, prequential=False),
        RunConfig("digits", "ncm", Curriculum(max_per_task=5), label_budget=0.5, asking="random", compute_budget=1e6),
    ],
    ids=["stream", "options", "kenyon", "tests", "budgets"],
)
def test_commands_find_the_same_run(config: RunConfig, tmp_path: Path) -> None:
    run(config, [0, 3], tmp_path / "runs")
    before = sorted(path.name for path in (tmp_path / "runs").iterdir())
    folder = Store(tmp_path / "runs").folder(config, 3)
    commands = [run_command(folder.config(), seeds) for seeds in ([0, 3], [3])]
    for command in (*commands, config_command(folder.file("config.toml"))):
        program, *words = shlex.split(command)
        assert program == "kenyon"
        result = kenyon(*words, "--out", tmp_path / "runs")
        assert result.exit_code == 0, result.stderr
        assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == before, command


def test_a_single_later_seed_is_not_written_as_a_count() -> None:
    assert run_command(make_config().to_dict(), [3]).endswith("--seeds 3,")
    assert run_command(make_config().to_dict(), [0]).endswith("--seeds 1")


def test_the_command_names_the_column_of_the_labels() -> None:
    config = RunConfig("mine.csv", "ncm", label="kind")
    assert "--label kind" in run_command(config.to_dict(), [0])


def test_one_seed_alone_is_repeated_by_its_command(tmp_path: Path) -> None:
    """A table of one run with another seed than 0 named a file of the store, which others do not have."""
    run(make_config(max_per_task=5), [3], tmp_path)
    cell = report_of_runs(tmp_path).tables[0].rows[0].cells[0]
    assert isinstance(cell, Number) and cell.command is not None and cell.command.endswith("--seeds 3,")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("gen", "rule=gen"),
        ("true", 'rule="true"'),
        ("3", 'rule="3"'),
        ([1, 2], "rule=[1, 2]"),
        ({"a": 1.0}, "rule={a = 1.0}"),
    ],
)
def test_options_are_written_so_that_they_are_read_back(value: Any, text: str) -> None:
    config = {"dataset": "d", "scenario": "single-task", "learner": "no:where", "options": {"rule_of": value}}
    assert shlex.split(run_command(config, [0]))[-3] == text.replace("rule", "rule_of", 1)


def test_the_command_writes_the_page(store: Path, tmp_path: Path) -> None:
    result = kenyon("report", store, "--out", tmp_path / "page.html")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.strip() == str(tmp_path / "page.html")
    assert "digits, class-incremental" in (tmp_path / "page.html").read_text()
    copy = shutil.copytree(store, tmp_path / "copy")
    assert kenyon("report", copy).stdout.strip() == str(copy / "report.html")


def test_the_command_writes_markdown(store: Path, tmp_path: Path) -> None:
    assert kenyon("report", store, "--markdown", tmp_path / "docs" / "results.md").exit_code == 0
    assert "## digits, class-incremental" in (tmp_path / "docs" / "results.md").read_text()
    assert not (store / "report.html").exists(), "Markdown alone was asked for"


def test_a_stores_own_report_is_taken(store: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(store, tmp_path / "copy")
    write_report(sample(), copy / "report.json")
    for path in (copy, copy / "report.json"):
        assert kenyon("report", path, "--out", tmp_path / "page.html").exit_code == 0
        assert "Class-incremental comparison" in (tmp_path / "page.html").read_text()
    (copy / "report.json").write_text('{"format": 1, "title": 3}')
    result = kenyon("report", copy)
    assert result.exit_code == 1
    assert "report.json is damaged" in result.stderr and "report.title = 3" in result.stderr
    assert not (copy / "report.html").exists()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda run: run.file("metrics.json").write_text("{"), "metrics.json is damaged"),
        (lambda run: run.file("config.toml").write_text("= 3"), "is not TOML"),
        (lambda run: run.file("config.toml").write_text('dataset = "d"'), "has no 'scenario'"),
        (lambda run: run.file("prequential.npy").write_bytes(b"no array"), "prequential.npy is damaged"),
        (lambda run: np.save(run.file("weights.npy"), np.zeros(3)), "weights.npy is damaged (it holds another array)"),
    ],
    ids=["metrics", "toml", "keys", "array", "another array"],
)
def test_a_damaged_run_is_named_and_left_out(store: Path, tmp_path: Path, damage: Any, words: str) -> None:
    copy = shutil.copytree(store, tmp_path / "copy")
    run = Store(copy).runs()[0]
    damage(run)
    result = kenyon("report", copy)
    assert result.exit_code == 0 and words in result.stderr and run.path.name in result.stderr
    report = report_of_runs(copy)
    assert run.path.name not in report.runs and "1 damaged run" in report.subtitle
    alone = kenyon("report", run.path)
    assert alone.exit_code == 1 and words in alone.stderr


def test_numbers_of_another_version_are_left_out(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LEARNERS, "kenyon", replace(LEARNERS["kenyon"], version=7))
    report = report_of_runs(store)
    cells = {row.label: row.cells[0] for row in report.tables[0].rows}
    assert list(cells) == ["evaluation.tiny:Tiny", "kenyon gen"], "what has no number comes last"
    outdated = cells["kenyon gen"]
    assert isinstance(outdated, Missing) and outdated.reason == "kenyon has changed since"
    scatter = report.figures[0]
    assert isinstance(scatter, Scatter) and [point.name for point in scatter.points] == ["evaluation.tiny:Tiny"]


def test_stores_with_nothing_to_show_are_named(store: Path, tmp_path: Path) -> None:
    assert f"no store {tmp_path / 'none'}" in kenyon("report", tmp_path / "none").stderr
    assert f"{tmp_path} holds no run" in kenyon("report", tmp_path).stderr
    for folder in Store(shutil.copytree(store, tmp_path / "copy")).runs():
        folder.clear()
    result = kenyon("report", tmp_path / "copy")
    assert result.exit_code == 1 and "holds no complete run" in result.stderr


def test_a_page_needs_nothing_optional(store: Path, tmp_path: Path) -> None:
    words = ["report", str(store), "--out", str(tmp_path / "page.html")]
    code = (
        "import sys\n"
        "sys.modules.update(dict.fromkeys(('torch', 'matplotlib', 'pooch', 'PIL', 'pandas', 'pyarrow', 'selenium')))\n"
        "from typer.testing import CliRunner; from kenyon.cli import app\n"
        f"result = CliRunner().invoke(app, {words!r}); assert result.exit_code == 0, result.stderr"
    )
    tests = Path(__file__).parents[2]
    path = os.pathsep.join([str(tests.parent / "src"), str(tests)])
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"PYTHONPATH": path})


def test_runs_without_predictions_before_learning_have_no_line(tmp_path: Path) -> None:
    for learner in ("ncm", "slda"):
        config = RunConfig(
            "digits", learner, Curriculum(max_per_task=20), prequential=learner == "ncm", weights_every=0
        )
        run(config, [0], tmp_path)
    (lines,) = [figure for figure in report_of_runs(tmp_path).figures if figure.id.startswith("stream")]
    assert isinstance(lines, Lines) and [series.name for series in lines.series] == ["ncm"]
