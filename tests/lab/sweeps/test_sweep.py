"""Sweeps: the same store and the same bits as single runs, on any number of workers, killed or not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cases import slow
from evaluation.workers import content
from kenyon.cli import app
from kenyon.errors import ConfigError
from kenyon.lab.evaluation import Store, run_all
from kenyon.lab.sweeps import Sweep, sweep
from kenyon.utils.events import Event, Watch
from waiting import wait_until

TINY = "evaluation.tiny:Tiny"
VALUES = {
    "dataset": "digits",
    "learner": ["ncm", TINY],
    "max_per_task": 30,
    "seeds": 2,
    "when": [{"if": {"learner": TINY}, "options": {"rate": [0.05, 0.1]}}],
}
BROKEN = """
from evaluation.tiny import Tiny

class Broken(Tiny):
    def __init__(self, info, seed, rate: float = 0.05):
        super().__init__(info, seed, rate)
        self.calls = 0

    def test_then_learn(self, X, y, task=None):
        self.calls += 1
        if self.rate > 0.1 and self.calls > 2:
            raise RuntimeError("out of\\nluck")
        return super().test_then_learn(X, y, task)
"""


def kenyon(*args: str) -> Result:
    return CliRunner().invoke(app, list(args))


def everything(store: Path) -> dict[str, object]:
    return {folder.path.name: content(folder) for folder in Store(store).runs()}


class Seen(Watch):
    def __init__(self) -> None:
        self.began: list[tuple[str, int]] = []
        self.done: list[tuple[str, int, bool]] = []

    def started(self, event: Event) -> None:
        self.began.append((event.config.learner, event.seed or 0))

    def finished(self, event: Event) -> None:
        self.done.append((event.config.learner, event.seed or 0, event.seconds == 0))


@pytest.mark.slow
def test_a_sweep_is_its_runs_on_any_number_of_workers(tmp_path: Path) -> None:
    plan = Sweep.from_dict(VALUES)
    run_all(plan.configs, plan.seeds, tmp_path / "runs")
    one, two = sweep(plan, tmp_path / "one"), sweep(VALUES, tmp_path / "two", workers=2)
    assert everything(tmp_path / "runs") == everything(tmp_path / "one") == everything(tmp_path / "two")
    assert [len(report.results) for report in one.reports] == [2, 2, 2] and not one.failures
    assert [r.config for r in one.reports] == [r.config for r in two.reports]
    watch = Seen()
    again = sweep(VALUES, tmp_path / "two", workers=2, watch=watch)
    assert again.found == 6 and not watch.began and all(found for *_, found in watch.done)
    more = sweep({**VALUES, "seeds": 3}, tmp_path / "two", watch=watch)
    assert more.found == 6 and watch.began == [("ncm", 2), (TINY, 2), (TINY, 2)]


@pytest.mark.parametrize("workers", [1, slow(2)])
def test_a_run_that_fails_stops_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.py").write_text(BROKEN)
    learner = "broken.py:Broken"
    values = {"dataset": ["digits", "missing.csv"], "learner": learner, "seeds": 2, "max_per_task": 40}
    result = sweep({**values, "options": {"rate": [0.05, 0.5]}}, "runs", workers=workers)
    reasons = sorted({failure.reason for failure in result.failures})
    assert len(result.failures) == 6 and len(result.reports) == 1
    assert reasons[0] == "RuntimeError: out of luck (broken.py, line 12)" and "missing.csv" in reasons[1]


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sweep.toml").write_text('learner = ["ncm", "slda"]\nmax_per_task = [20, 30]\nseeds = 2\nout = "here"\n')
    planned = kenyon("sweep", "sweep.toml", "--plan")
    assert planned.exit_code == 0 and "4 configurations, 8 runs, 0 of them in here" in planned.stdout
    assert not Path("here").exists()
    done = kenyon("sweep", "sweep.toml", "--seeds", "1")
    assert done.exit_code == 0, done.stderr
    assert "[4/4]" in done.stderr and "left" in done.stderr and "4 runs in" in done.stdout
    assert "max_per_task=20" in done.stdout
    rest = kenyon("sweep", "sweep.toml")
    assert "4 runs found in the store" in rest.stderr and "4 found, 0 failed" in rest.stdout
    assert "8 of them in here" in kenyon("sweep", "sweep.toml", "--plan").stdout
    found = json.loads(kenyon("sweep", "sweep.toml", "--json").stdout)
    assert len(found["reports"]) == 4 and found["failures"] == []
    Path("wrong.toml").write_text('learner = ["ncm", "sdla"]\n')
    wrong = kenyon("sweep", "wrong.toml", "--out", "wrong")
    assert wrong.exit_code == 2 and "did you mean 'slda'" in wrong.stderr and not Path("wrong").exists()
    assert kenyon("sweep", "nothing.toml").exit_code == 2
    failed = kenyon("run", "--learner", "ncm", "--max-per-task", "20", "--out", "x", "--log", "nowhere")
    assert failed.exit_code == 2 and "unknown log" in failed.stderr and not Path("x").exists()


def test_a_failure_is_said_and_gives_exit_code_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.py").write_text(BROKEN)
    Path("sweep.toml").write_text(
        'learner = ["ncm", "broken.py:Broken"]\nmax_per_task = 40\nseeds = 1\n'
        '[[when]]\nif = {learner = "broken.py:Broken"}\noptions = {rate = 0.5}\n'
    )
    result = kenyon("sweep", "sweep.toml")
    assert result.exit_code == 1 and "1 failed" in result.stdout
    assert "RuntimeError: out of luck" in result.stderr and "Traceback" not in result.stderr


@pytest.mark.slow
def test_a_sweep_that_is_killed_goes_on(tmp_path: Path) -> None:
    values = f'dataset = "digits"\nlearner = ["ncm", "{TINY}"]\nseeds = 2\nmax_per_task = 40\n'
    (tmp_path / "sweep.toml").write_text(
        values + f'[[when]]\nif = {{learner = "{TINY}"}}\noptions.rate = [0.05, 0.1]\n'
    )
    command = [sys.executable, "-m", "kenyon.cli", "sweep", "sweep.toml", "--workers", "2"]
    gated = os.environ | {"TINY_GATE": str(tmp_path / "gate")}
    with subprocess.Popen(command, cwd=tmp_path, env=gated, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: len(list(tmp_path.glob("gate-*"))) == 2, process)  # both workers are in mid-run
        finally:
            process.kill()
    complete = sum(run.complete for run in Store(tmp_path / "runs").runs())
    assert 1 <= complete < 6
    finished = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    assert f"{complete} found, 0 failed" in finished.stdout
    sweep(tmp_path / "sweep.toml", tmp_path / "whole")
    assert everything(tmp_path / "runs") == everything(tmp_path / "whole")


def test_what_cannot_be_logged_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="unknown log"):
        sweep({**VALUES, "log": "tensorbord"}, tmp_path)
    assert not list(tmp_path.iterdir())
