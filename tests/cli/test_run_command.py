"""`kenyon run` from the outside: what it prints where, what it keeps, how it fails."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from evaluation.workers import content
from kenyon.cli import app
from kenyon.lab.evaluation import METRICS, Store
from waiting import wait_until

TINY = ["--learner", "evaluation.tiny:Tiny", "--max-per-task", "30"]


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def kenyon(*args: str) -> Result:
    return CliRunner().invoke(app, list(args))


def run_json(*args: str) -> dict[str, Any]:
    result = kenyon("run", *TINY, "--json", *args)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    return json.loads(result.stdout)


def test_json_alone_on_stdout_with_the_documented_keys(tmp_path: Path) -> None:
    values = run_json("--seeds", "3", "--out", "kept")
    assert values["seeds"] == [0, 1, 2]
    assert len(values["accuracy"]["per_seed"]) == 3
    assert min(values["accuracy"]["per_seed"]) <= values["accuracy"]["mean"] <= max(values["accuracy"]["per_seed"])
    assert values["accuracy"]["std"] > 0
    assert [len(row) for row in values["accuracy_matrix"]] == [5] * 5
    for name in METRICS:
        assert set(values[name]) == {"mean", "std", "per_seed"}, name
    assert values["config"]["scenario"] == "class-incremental"
    assert values["config"]["options"]["rate"] == 0.05
    assert values["tested_on"] == "test"
    assert [Path(folder).parent for folder in values["folders"]] == [Path("kept")] * 3
    assert len(list((tmp_path / "kept").iterdir())) == 3


def test_one_seed_has_no_standard_deviation() -> None:
    assert run_json("--seeds", "1")["accuracy"]["std"] is None


def test_the_holdout_is_marked() -> None:
    assert run_json("--seeds", "1", "--holdout", "0.1")["tested_on"] == "holdout"
    result = kenyon("run", *TINY, "--seeds", "1", "--holdout", "0.1")
    assert "held-out part of the training set" in result.stdout


def test_plain_text_when_not_on_a_terminal() -> None:
    result = kenyon("run", *TINY, "--seeds", "2")
    assert result.exit_code == 0
    assert "\x1b" not in result.stdout + result.stderr
    assert "final accuracy, mean of tasks, %" in result.stdout
    assert "accuracy on each task" in result.stdout
    lines = result.stderr.splitlines()
    assert len(lines) == 2 * 6 and lines[5].startswith("[1/2] seed 0: accuracy ")
    assert re.fullmatch(r"seed 0: task 1 of 5 learned, accuracy on the tasks so far \d+\.\d\d %", lines[0])
    again = kenyon("run", *TINY, "--seeds", "2")
    assert again.stdout == result.stdout
    assert all("found in the store" in line for line in again.stderr.splitlines())


def test_the_command_line_wins_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text(
        """
        dataset = "digits"
        learner = "evaluation.tiny:Tiny"
        scenario = "task-incremental"
        seeds = [4, 2]
        out = "from-file"
        max_per_task = 30
        labelled = 0.5
        task_sizes = [4, 6]
        [options]
        rate = 0.1
        noise = 0.0
        """
    )
    plain = json.loads(kenyon("run", "--config", str(path), "--json").stdout)
    assert plain["seeds"] == [4, 2]
    assert plain["config"]["task_sizes"] == [4, 6]
    assert plain["config"]["labelled"] == 0.5
    assert plain["config"]["options"] == {"rate": 0.1, "delay": 0.0, "noise": 0.0}
    assert (tmp_path / "from-file").is_dir()
    args = ["--scenario", "class-incremental", "--labelled", "1", "--set", "rate=0.2", "--task-sizes", "5,5"]
    args += ["--class-order", "9,8,7,6,5,4,3,2,1,0", "--seeds", "2", "--out", "elsewhere"]
    over = json.loads(kenyon("run", "--config", str(path), "--json", *args).stdout)
    assert over["seeds"] == [0, 1]
    assert over["config"]["scenario"] == "class-incremental"
    assert over["config"]["options"] == {"rate": 0.2, "delay": 0.0, "noise": 0.0}
    assert over["config"]["class_order"] == list(range(9, -1, -1))
    assert over["tasks"][0] == [[9, 8, 7, 6, 5], [4, 3, 2, 1, 0]]


def test_a_run_s_own_config_file_runs_it_again() -> None:
    first = run_json("--seeds", "3,5", "--set", "rate=0.07")
    path = Path(first["folders"][1]) / "config.toml"
    again = json.loads(kenyon("run", "--config", str(path), "--out", "copy", "--json").stdout)
    assert again["seeds"] == [5]
    assert again["state_sha256"] == first["state_sha256"][1:]


MISTAKES: list[tuple[list[str], int, list[str]]] = [
    (["--scenario", "clas-incremental"], 2, ["scenario", "'clas-incremental'", "task-free", "did you mean 'class-inc"]),
    (["--learner", "kenyonn"], 2, ["learner", "'kenyonn'", "fine-tune", "did you mean 'kenyon'"]),
    (["--dataset", "mnits"], 2, ["'mnits'", "fashion-mnist", "did you mean 'mnist'"]),
    (["--set", "ratee=3"], 2, ["'ratee'", "delay", "did you mean 'rate'"]),
    (["--set", "rate"], 2, ["--set 'rate'", "key=value"]),
    (["--rule", "gen"], 2, ["'rule'", "did you mean 'rate'"]),
    (["--epochs", "0"], 2, ["epochs", "0"]),
    (["--epochs", "x"], 2, ["epochs", "'x'", "number"]),
    (["--n-tasks", "2.5"], 2, ["n_tasks", "2.5", "integer"]),
    (["--task-sizes", "5,x"], 2, ["task_sizes", "'x'", "integers"]),
    (["--seeds", "x"], 2, ["seeds = 'x'"]),
    (["--no-such"], 2, ["--no-such"]),
    (["--tests", "some"], 2, ["'some'", "all, last, seen"]),
    (["--config", "nowhere.toml"], 2, ["nowhere.toml", "cannot be read"]),
    (["--dataset", "mnist", "--data-dir", "nowhere"], 1, ["mnist", "nowhere", "train-images"]),
    (["--out", "/dev/null/x"], 1, ["/dev/null/x"]),
]


@pytest.mark.parametrize(("args", "code", "words"), MISTAKES, ids=[" ".join(args) for args, _, _ in MISTAKES])
def test_a_mistake_is_one_sentence_and_an_exit_code(args: list[str], code: int, words: list[str]) -> None:
    result = kenyon("run", *TINY, "--seeds", "1", *args)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in result.stderr, result.stderr
    assert not Path("runs").exists(), "a mistake left a folder behind"


def test_a_config_file_with_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("datset = 'digits'\n")
    result = kenyon("run", "--config", "c.toml")
    assert result.exit_code == 2
    assert "unknown configuration key 'datset'" in result.stderr
    assert "did you mean 'dataset'?" in result.stderr
    assert "seeds" in result.stderr


OFTEN = """
from kenyon.lab.evaluation import _checkpoint
from kenyon.cli import main

_checkpoint.Timer.due = lambda *_: True  # a checkpoint at every pause
main()
"""


def spawn(*args: str, **more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", OFTEN, *args]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | more)


@pytest.mark.slow
def test_the_command_killed_and_given_again_goes_on(tmp_path: Path) -> None:
    args = ["run", *TINY, "--seeds", "1", "--json", "--out"]
    first = spawn(*args, "killed", TINY_GATE=str(tmp_path / "gate"))
    try:
        wait_until(lambda: list(tmp_path.glob("gate-*")), first)
    finally:
        first.kill()
        first.communicate()
    assert list(tmp_path.glob("killed/*/checkpoint.safetensors"))
    second, whole = spawn(*args, "killed"), spawn(*args, "whole")
    for process in (second, whole):
        out, err = process.communicate()
        assert process.returncode == 0, err
        assert json.loads(out)["seeds"] == [0]
    assert content(Store(tmp_path / "killed").runs()[0]) == content(Store(tmp_path / "whole").runs()[0])
    sessions = json.loads((Store(tmp_path / "killed").runs()[0].file("environment.json")).read_text())
    assert len(sessions) == 2


def test_help_needs_no_heavy_import() -> None:
    code = (
        "import sys; from typer.testing import CliRunner; from kenyon.cli import app\n"
        "assert CliRunner().invoke(app, ['run', '--help']).exit_code == 0\n"
        "heavy = {'sklearn', 'torch', 'matplotlib', 'numpy', 'pooch', 'pyarrow', 'PIL'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ)


def test_a_run_imports_nothing_optional() -> None:
    code = (
        "import sys; from typer.testing import CliRunner; from kenyon.cli import app\n"
        f"assert CliRunner().invoke(app, {['run', *TINY, '--seeds', '1']!r}).exit_code == 0\n"
        "optional = {'torch', 'matplotlib', 'pooch', 'PIL'} & set(sys.modules)\n"
        "assert not optional, optional"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_passes_over_a_task_are_an_option_of_the_run_and_not_of_the_learner() -> None:
    from kenyon.cli._config_options import config_values

    assert config_values({"epochs": "0.5", "n_hidden": "900"}, {}) == ({"epochs": 0.5}, {"n_hidden": 900})
