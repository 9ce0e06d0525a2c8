"""Runs by configuration: what is averaged with what, what is named and left out, what is no longer current."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from evaluation.workers import make_config, write_csv
from kenyon.cli import app
from kenyon.data.streams import Curriculum
from kenyon.lab.evaluation import RunConfig, RunFolder, Store, by_stream, group_runs, run, run_all
from kenyon.learners import LEARNERS


def kenyon(*args: object) -> Result:
    return CliRunner().invoke(app, [str(arg) for arg in args])


def seeds_of(store: Path) -> list[list[int]]:
    """The seeds of each group, in the order of the folders' names."""
    return [[result.seed for _, result in group.complete] for group in group_runs(Store(store).runs()).groups]


def test_an_edited_data_set_is_not_averaged_with_its_older_self(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    write_csv(path)
    config = RunConfig(str(path), "ncm", Curriculum("single-task"))
    run(config, [0, 1], tmp_path / "runs")
    with open(path, "a") as file:
        file.write("41,2,1\n")
    run(config, [0, 2, 3], tmp_path / "runs")
    assert sorted(seeds_of(tmp_path / "runs")) == [[0, 1], [0, 2, 3]]
    groups = group_runs(Store(tmp_path / "runs").runs()).groups
    labels = [group.label for group in by_stream(groups)["mine", "single-task"]]
    assert len(set(labels)) == 2 and all("content" in label for label in labels)
    shown = kenyon("show", tmp_path / "runs").stdout.splitlines()
    assert sum("content=" in line for line in shown) == 2


def test_only_what_somebody_changed_is_compared(tmp_path: Path) -> None:
    """Learners have different options; those that all leave at their defaults say nothing."""
    run(make_config(max_per_task=10), [0], tmp_path)
    run(RunConfig("digits", "ncm", Curriculum(max_per_task=10), weights_every=7), [0], tmp_path)
    assert kenyon("show", tmp_path).stdout.split()[:2] == ["learner", "accuracy,"]


def test_a_stopped_run_is_beside_its_other_seeds(tmp_path: Path) -> None:
    config = make_config(max_per_task=10)
    run(config, [0, 1], tmp_path)
    Store(tmp_path).folder(config, 0).clear()
    (group,) = group_runs(Store(tmp_path).runs()).groups
    assert group.names == (Store(tmp_path).folder(config, 1).path.name,)
    assert [run.path for run in group.incomplete] == [Store(tmp_path).folder(config, 0).path]


OWN = """
from evaluation.tiny import Tiny


class Own(Tiny):
    pass
"""


def test_a_class_that_changed_is_said_to_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    source = tmp_path / "grouped_own.py"
    source.write_text(OWN)
    run(RunConfig("digits", "grouped_own:Own", Curriculum(max_per_task=10)), [0], tmp_path / "runs")
    assert "note" not in kenyon("show", tmp_path / "runs").stdout
    accuracy = json.loads(kenyon("show", tmp_path / "runs", "--json").stdout)[0]["accuracy"]["mean"]
    source.write_text(OWN + "\n    rate = 3\n")
    shown = kenyon("show", tmp_path / "runs")
    assert shown.exit_code == 0
    assert "the source of grouped_own has changed since" in shown.stdout
    assert f"{100 * accuracy:.2f}" not in shown.stdout, "old numbers are not shown as current"
    assert "grouped_own" in json.loads(kenyon("show", tmp_path / "runs", "--json").stdout)[0]["outdated"]
    one = kenyon("show", Store(tmp_path / "runs").runs()[0].path).stdout
    assert f"{100 * accuracy:.2f}" in one and "the source of grouped_own has changed since" in one
    source.unlink()
    assert "changed" not in kenyon("show", tmp_path / "runs").stdout, "what is not here cannot be told to differ"


def test_a_class_named_by_its_file_is_known_by_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("filed_own.py").write_text(OWN)
    config = RunConfig("digits", "filed_own.py:Own", Curriculum(max_per_task=10))
    run(config, [0], "runs")
    assert "note" not in kenyon("show", "runs").stdout
    Path("filed_own.py").write_text(OWN + "\n    rate = 3\n")
    assert "the source of filed_own.py has changed since" in kenyon("show", "runs").stdout


def test_a_learner_of_another_version_is_said_to_have_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = RunConfig("digits", "ncm", Curriculum(max_per_task=10))
    run(config, [0], tmp_path)
    monkeypatch.setitem(LEARNERS, "ncm", replace(LEARNERS["ncm"], version=2))
    assert "ncm has changed since" in kenyon("show", tmp_path).stdout
    run(replace(config), [0, 1], tmp_path)
    groups = group_runs(Store(tmp_path).runs()).groups
    assert sorted((len(group.complete), group.outdated) for group in groups) == [(1, "ncm has changed since"), (2, "")]


DAMAGE: dict[str, tuple[Callable[[RunFolder], object], str]] = {
    "metrics": (lambda run: run.file("metrics.json").write_text("{"), "metrics.json is damaged"),
    "list": (lambda run: run.file("metrics.json").write_text("[]"), "metrics.json is damaged"),
    "deep": (lambda run: run.file("metrics.json").write_text("[" * 100_000), "metrics.json is damaged"),
    "binary": (lambda run: run.file("metrics.json").write_bytes(b"\xff\xfe"), "metrics.json is damaged"),
    "toml": (lambda run: run.file("config.toml").write_text("= 3"), "is not TOML"),
    "deep toml": (lambda run: run.file("config.toml").write_text("a = " + "[" * 100_000), "is not TOML"),
    "keys": (lambda run: run.file("config.toml").write_text('dataset = "d"'), "has no 'scenario'"),
    "record": (lambda run: run.file("run.json").write_text("7"), "run.json is damaged"),
    "forged": (
        lambda run: run.file("run.json").write_text('{"format": 1, "run": "1", "values": {}, "seed": 0}'),
        "its values make",
    ),
    "later": (lambda run: run.file("run.json").write_text('{"format": 2}'), "format 2, expected 1"),
    "flipped": (
        lambda run: run.file("run.json").write_text(run.file("run.json").read_text().replace("digits", "digitt")),
        "its values make another",
    ),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_run_is_named_and_the_others_shown(tmp_path: Path, kind: str) -> None:
    config = make_config(max_per_task=10)
    run(config, [0, 1, 2], tmp_path)
    folder, (damage, words) = Store(tmp_path).folder(config, 1), DAMAGE[kind]
    damage(folder)
    result = kenyon("show", tmp_path)
    assert result.exit_code == 0
    assert folder.path.name in result.stderr and words in result.stderr and len(result.stderr.splitlines()) == 1
    assert " 2 " in result.stdout.splitlines()[1]
    assert json.loads(kenyon("show", tmp_path, "--json").stdout)[0]["seeds"] == [0, 2]
    one = kenyon("show", folder.path)
    assert one.exit_code == 1 and words in one.stderr and one.stdout == ""


def test_results_of_another_run_are_noticed(tmp_path: Path) -> None:
    config = make_config(max_per_task=10)
    run(config, [0, 1, 2], tmp_path)
    one, two = (Store(tmp_path).folder(config, seed).file("metrics.json") for seed in (0, 1))
    texts = one.read_text(), two.read_text()
    one.write_text(texts[1])
    two.write_text(texts[0])
    groups, damaged = group_runs(Store(tmp_path).runs())
    assert [len(group.complete) for group in groups] == [1] and len(damaged) == 2
    assert all("belongs to the run" in reason for _, reason in damaged)


def test_a_label_names_what_learned(tmp_path: Path) -> None:
    """A second-order layer has no rule, so it is not called after one."""
    stream = Curriculum(max_per_task=10)
    for options in ({"n_hidden": 50}, {"n_hidden": 50, "rule": "mse"}, {"n_hidden": 20, "layer": "second-order"}):
        run(RunConfig("digits", "kenyon", stream, options), [0], tmp_path)
    labels = {group.label for group in by_stream(group_runs(Store(tmp_path).runs()).groups)["digits", stream.scenario]}
    assert labels == {"kenyon gen", "kenyon mse", "kenyon second-order"}


def test_a_label_names_what_was_chosen(tmp_path: Path) -> None:
    """A memory budget chooses a second-order layer, which learns by no rule."""
    configs = [
        RunConfig("digits", options=options, curriculum=Curriculum(max_per_task=20))
        for options in ({"memory_budget": "20KB"}, {"n_hidden": 50}, {"n_hidden": 50, "rule": "oja"})
    ]
    run_all(configs, [0], tmp_path)
    (groups,) = by_stream(group_runs(Store(tmp_path).runs()).groups).values()
    assert sorted(group.label for group in groups) == ["kenyon gen", "kenyon oja", "kenyon second-order"]
