"""The search as a whole, on the embedded digits: records, failures, kills, resuming, what it leaves behind."""

from __future__ import annotations

import csv
import itertools
import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from kenyon.cli import app
from kenyon.errors import ConfigError
from kenyon.lab.evaluation import RunConfig
from kenyon.lab.search import DONE, FAILED, STOPPED, Objective, SearchFolder, best_of, evaluate, make_objective, search

SPACE = """
[rule]
values = ["gen", "mse"]
[n_hidden]
low = 100
high = 300
[learning_rate]
low = 0.01
high = 0.5
log = true
[gen.b2]
low = -2.0
high = -0.5
"""
UNCLAMPED = '[rule]\nvalues = ["mse"]\n[n_hidden]\nvalues = [100]\n[learning_rate]\nvalues = [50.0]\n'
UNCLAMPED += '[clamp]\nvalues = ["off"]\n'
OBJECTIVE = make_objective("digits", max_per_task=40)


def numbers(folder: Path) -> list[int]:
    return sorted(e.number for e in SearchFolder(folder).evaluations())


def test_a_search_records_every_evaluation_with_nan_for_inactive_parameters(tmp_path: Path) -> None:
    result = search(OBJECTIVE, tmp_path, evals=12, space=SPACE, n_initial=6, workers=2)
    assert len(result.evaluations) == result.new == 12
    with open(tmp_path / "evaluations.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert sorted(int(row["number"]) for row in rows) == list(range(12))
    for row in rows:
        assert (row["gen.b2"] == "nan") == (row["rule"] == "mse")
        assert row["protocol"] == "holdout"
    assert result.best is not None and result.best.outcome.accuracy == max(
        float(row["accuracy"]) for row in rows if row["accuracy"]
    )
    assert 0 < result.overhead_seconds < result.seconds


@pytest.mark.slow
def test_evaluations_repeat_bit_for_bit_and_one_worker_repeats_the_search(tmp_path: Path) -> None:
    runs = [search(OBJECTIVE, tmp_path / name, evals=9, space=SPACE, n_initial=5, workers=1) for name in "ab"]
    first, second = ([(e.number, repr(e.point), e.outcome.accuracy) for e in run.evaluations] for run in runs)
    assert first == second


def test_holdout_never_opens_the_test_set_and_paper_is_marked(tmp_path: Path) -> None:
    paper = make_objective("digits", protocol="paper", max_per_task=40)
    assert OBJECTIVE.config({}).curriculum.holdout == 0.1
    assert paper.config({}).curriculum.holdout == 0.0
    search(paper, tmp_path, evals=2, space=SPACE, method="random", workers=1)
    assert {e.protocol for e in SearchFolder(tmp_path).evaluations()} == {"paper"}
    assert "TEST SET" in (tmp_path / "best.toml").read_text()
    assert OBJECTIVE.final_config({}).curriculum.holdout == 0.0


def test_epochs_follow_the_paper_unless_given() -> None:
    assert make_objective("digits", "single-task").config({}).curriculum.epochs == 0.5
    assert make_objective("digits", "class-incremental").config({}).curriculum.epochs == 1.0
    assert make_objective("digits", "single-task", epochs=2).config({}).curriculum.epochs == 2.0


def test_diverging_and_guessing_configurations_are_given_up_with_a_reason() -> None:
    diverged = evaluate(OBJECTIVE, {"rule": "mse", "n_hidden": 100, "learning_rate": 50.0, "clamp": "off"})
    assert diverged.status == FAILED and diverged.reason.startswith("diverged: ") and diverged.score == 0.0
    wrong = evaluate(OBJECTIVE, {"rule": "gen", "n_hidden": -1})
    assert wrong.status == FAILED and "n_hidden" in wrong.reason
    # A threshold far out silences every unit: whatever comes, the answer is the same.
    guessing = evaluate(make_objective("digits", "single-task"), {"rule": "mse", "n_hidden": 100, "threshold": 50.0})
    assert guessing.status == STOPPED and guessing.reason.startswith("at chance: ") and guessing.accuracy is None
    patient = make_objective("digits", "single-task", chance_after=1.0)
    assert evaluate(patient, {"rule": "mse", "n_hidden": 100, "threshold": 50.0}).status == DONE


@pytest.mark.slow
def test_failed_evaluations_do_not_stop_the_search(tmp_path: Path) -> None:
    result = search(OBJECTIVE, tmp_path, evals=3, space=UNCLAMPED, method="random", workers=2)
    assert [e.outcome.status for e in result.evaluations] == [FAILED] * 3
    assert all("diverged" in e.outcome.reason for e in SearchFolder(tmp_path).evaluations())
    assert result.best is None and not (tmp_path / "best.toml").exists()


@dataclass(frozen=True)
class Deadly(Objective):
    """Kills whoever evaluates a point with 150 units or fewer."""

    def config(self, options: Mapping[str, Any]) -> RunConfig:
        if options["n_hidden"] <= 150:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().config(options)


@pytest.mark.slow
def test_a_worker_that_is_killed_costs_its_own_evaluation_only(tmp_path: Path) -> None:
    objective = Deadly("digits", OBJECTIVE.curriculum)
    space = '[rule]\nvalues = ["mse"]\n[n_hidden]\nvalues = [100, 200]\n'
    result = search(objective, tmp_path, evals=6, space=space, method="random", workers=2)
    small = [e.outcome for e in result.evaluations if e.point["n_hidden"] == 100]
    large = [e.outcome for e in result.evaluations if e.point["n_hidden"] == 200]
    assert small and large
    assert all(outcome.status == FAILED and "died (exit code -9)" in outcome.reason for outcome in small)
    assert len({outcome.accuracy for outcome in large}) == 1
    assert all(outcome.status == DONE for outcome in large)


@pytest.mark.slow
def test_a_search_goes_on_where_it_was_and_refuses_another_question(tmp_path: Path) -> None:
    first = search(OBJECTIVE, tmp_path, evals=4, space=SPACE, n_initial=3, workers=1)
    second = search(OBJECTIVE, tmp_path, evals=8, space=SPACE, n_initial=3, workers=2)
    assert second.new == 4 and numbers(tmp_path) == list(range(8))
    assert [repr(e) for e in second.evaluations[:4]] == [repr(e) for e in SearchFolder(tmp_path).evaluations()[:4]]
    assert [e.outcome.accuracy for e in first.evaluations] == [e.outcome.accuracy for e in second.evaluations[:4]]
    assert search(OBJECTIVE, tmp_path, evals=8, space=SPACE, n_initial=3).new == 0
    with pytest.raises(ConfigError, match=r"another space\.toml"):
        search(OBJECTIVE, tmp_path, evals=9, space=SPACE + "\n", n_initial=3)
    with pytest.raises(ConfigError, match=r"another search\.toml"):
        search(OBJECTIVE, tmp_path, evals=9, space=SPACE, n_initial=3, seed=1)


@pytest.mark.slow
def test_a_torn_last_line_is_cut_off_and_its_evaluation_made_up_for(tmp_path: Path) -> None:
    search(OBJECTIVE, tmp_path, evals=3, space=SPACE, method="random", workers=1)
    log = tmp_path / "evaluations.csv"
    whole = log.read_bytes()
    log.write_bytes(whole[:-7])
    assert len(SearchFolder(tmp_path).evaluations()) == 2
    search(OBJECTIVE, tmp_path, evals=3, space=SPACE, method="random", workers=1)
    again = SearchFolder(tmp_path).evaluations()
    assert len(again) == 3 and log.read_bytes().startswith(whole[: whole[:-1].rfind(b"\n") + 1])
    assert again[2].number == 2  # random points follow from their number, so it is the same evaluation


COMMAND = [
    "search",
    "--dataset",
    "digits",
    "--max-per-task",
    "60",
    "--evals",
    "14",
    "--workers",
    "2",
    "--n-initial",
    "6",
]


HOLD = """
import sys
from threading import Event
from search.test_search import OBJECTIVE, SPACE
from kenyon.lab.evaluation import Watch
from kenyon.lab.search import search

class Hold(Watch):
    def finished(self, event):
        self.n = getattr(self, "n", 0) + 1
        if self.n == int(sys.argv[2]):
            print("held", flush=True)
            Event().wait()  # for the kill

if __name__ == "__main__":
    search(OBJECTIVE, sys.argv[1], evals=14, space=SPACE, n_initial=6, workers=2, watch=Hold())
"""


@pytest.mark.slow
def test_sigkill_loses_no_finished_evaluation(tmp_path: Path) -> None:
    pytest.importorskip("deephyper", reason="needs the extra 'search'")
    (tmp_path / "hold.py").write_text(HOLD)
    command = [sys.executable, str(tmp_path / "hold.py"), str(tmp_path / "out")]
    log, seen = tmp_path / "out" / "evaluations.csv", b""
    for more in (2, 6):  # once in the random phase, once while the surrogate is at work
        with subprocess.Popen([*command, str(more)], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            try:
                assert process.stdout.readline() == b"held\n"
            finally:
                process.kill()
        kept = log.read_bytes()
        assert kept.startswith(seen)
        assert kept.count(b"\n") >= seen.count(b"\n") + more
        seen = kept[: kept.rfind(b"\n") + 1]
    search(OBJECTIVE, tmp_path / "out", evals=14, space=SPACE, n_initial=6, workers=2)
    assert log.read_bytes().startswith(seen)
    evaluations = SearchFolder(tmp_path / "out").evaluations()
    assert len(evaluations) == 14 and len({e.number for e in evaluations}) == 14
    assert all(e.finished <= f.finished for e, f in itertools.pairwise(evaluations))  # in milliseconds: two may agree


@pytest.mark.slow
def test_the_best_configuration_runs_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("deephyper", reason="needs the extra 'search'")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "space.toml").write_text(SPACE)
    searched = CliRunner().invoke(app, [*COMMAND, "--space", "space.toml", "--out", "out", "--json"])
    assert searched.exit_code == 0, searched.output
    found = json.loads(searched.stdout)
    assert found["evaluations"] == 14 and 0 < found["overhead"] < 1 and found["protocol"] == "holdout"
    ran = CliRunner().invoke(app, ["run", "--config", "out/best.toml", "--seeds", "2", "--json"])
    assert ran.exit_code == 0, ran.output
    report = json.loads(ran.stdout)
    chosen = {name: report["config"]["options"][name] for name in found["best"]["options"]}
    assert chosen == found["best"]["options"]
    assert report["config"]["max_per_task"] == 60 and report["config"]["holdout"] == 0.0
    best = best_of(SearchFolder(tmp_path / "out").evaluations())
    assert best is not None and math.isclose(best.outcome.score, found["best"]["accuracy"])


@pytest.mark.slow
def test_the_command_prints_its_own_overhead_and_draws_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "space.toml").write_text(SPACE)
    result = CliRunner().invoke(app, [*COMMAND, "--space", "space.toml", "--method", "random", "--out", "out"])
    assert result.exit_code == 0, result.output
    assert "on suggesting and recording" in result.stdout and "held-out" in result.stdout
    drawn = CliRunner().invoke(app, ["plot", "out", "--format", "svg"])
    assert drawn.exit_code == 0, drawn.output
    for name in ("trajectory", "parallel", "importance"):
        assert (tmp_path / "out" / f"{name}.svg").stat().st_size > 5000
    trajectory = (tmp_path / "out" / "trajectory.svg").read_text()
    assert "#1f77b4" in trajectory and "#2ca02c" in trajectory  # MSE blue, GEN green


def test_two_processes_cannot_search_in_one_folder(tmp_path: Path) -> None:
    folder = SearchFolder(tmp_path)
    with folder.locked(), pytest.raises(ConfigError, match="another process"):
        search(OBJECTIVE, tmp_path, evals=1, space=SPACE, method="random")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "ambz"], "ambs"),
        (["--protocol", "test"], "protocol is 'test'"),
        (["--holdout", "0"], "holdout is 0"),
        (["--evals", "0"], "evals is 0"),
        (["--engine", "dask"], "unknown engine"),
        (["--workers", "0"], "workers is 0"),
        (["--space", "missing.toml"], "missing.toml"),
        (["--chance-after", "0"], "chance_after is 0"),
    ],
)
def test_mistakes_on_the_command_line_are_named(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["search", *arguments])
    assert result.exit_code == 2 and message in result.stderr


@pytest.mark.slow
def test_the_command_knows_the_spaces_by_name_and_gives_every_evaluation_its_budget(tmp_path: Path) -> None:
    words = ["search", "--dataset", "digits", "--space", "bytes", "--memory-budget", "30KB", "--max-per-task", "20"]
    printed = CliRunner().invoke(app, [*words, "--print-space"])
    assert printed.exit_code == 0 and 'values = ["30KB"]' in printed.stdout and "20KB" not in printed.stdout
    out = tmp_path / "out"
    ran = CliRunner().invoke(app, [*words, "--method", "random", "--evals", "2", "--out", str(out), "--json"])
    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.stdout)["best"]["options"]["memory_budget"] == "30KB"
    assert 'memory_budget = "30KB"' in (out / "best.toml").read_text()
    assert (out / "space.toml").read_text() == printed.stdout
    missing = CliRunner().invoke(app, ["search", "--space", "rulse"])
    assert missing.exit_code != 0 and "neither rules nor bytes nor a file" in missing.output
