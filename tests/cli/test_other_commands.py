"""`kenyon show`, `plot`, `learners`, `data`, `--version`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cases import slow
from evaluation.workers import make_config
from kenyon.cli import app
from kenyon.lab.evaluation import Store, run


def kenyon(*args: str) -> Result:
    return CliRunner().invoke(app, list(args))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two configurations, one of them with a run that was stopped."""
    path = tmp_path_factory.mktemp("store")
    run(make_config(max_per_task=30), [0, 1], path)
    run(make_config("task-incremental", max_per_task=30), [0, 1], path)
    Store(path).folder(make_config(max_per_task=30), 1).clear()
    return path


def test_show_compares_the_runs_of_a_store(store: Path) -> None:
    result = kenyon("show", str(store))
    assert result.exit_code == 0, result.stderr
    header, first, second, _, shared = result.stdout.splitlines()
    assert "accuracy, %" in header
    assert "task-incremental" in first, "the best comes first"
    assert "class-incremental" in second and "1 + 1 stopped" in second
    assert "labelled" not in result.stdout, "what is the same in all runs is left out"
    assert shared == "digits"


def test_show_as_json(store: Path) -> None:
    best, other = json.loads(kenyon("show", str(store), "--json").stdout)
    assert best["seeds"] == [0, 1] and best["incomplete"] == []
    assert other["seeds"] == [0] and len(other["incomplete"]) == 1
    assert best["accuracy"]["mean"] > other["accuracy"]["mean"]


def test_show_one_run(store: Path) -> None:
    folder = Store(store).folder(make_config("task-incremental", max_per_task=30), 1)
    result = kenyon("show", str(folder.path))
    assert "final accuracy, mean of tasks" in result.stdout
    stopped = Store(store).folder(make_config(max_per_task=30), 1)
    assert "1 stopped" in kenyon("show", str(stopped.path)).stdout


@pytest.mark.parametrize("command", ["show", "plot"])
def test_a_path_without_runs_is_named(tmp_path: Path, command: str) -> None:
    result = kenyon(command, str(tmp_path))
    assert result.exit_code == 1
    assert str(tmp_path) in result.stderr


@pytest.mark.parametrize(
    ("kind", "start"),
    [
        ("svg", b"<?xml"),
        slow("png", b"\x89PNG"),
        slow("pdf", b"%PDF"),
    ],
)
def test_plot_draws_three_pictures(store: Path, tmp_path: Path, kind: str, start: bytes) -> None:
    folder = Store(store).folder(make_config(max_per_task=30), 0)
    result = kenyon("plot", str(folder.path), "--format", kind, "--out", str(tmp_path / "pictures"))
    assert result.exit_code == 0, result.stderr
    written = [Path(line) for line in result.stdout.splitlines()]
    assert [path.name for path in written] == [f"{name}.{kind}" for name in ("accuracy_matrix", "accuracy", "weights")]
    assert all(path.read_bytes().startswith(start) for path in written)


@pytest.mark.slow
def test_plot_draws_every_complete_run_of_a_store(store: Path, tmp_path: Path) -> None:
    result = kenyon("plot", str(store), "--runs", "--out", str(tmp_path))
    assert len(result.stdout.splitlines()) == 3 * 3
    assert len(list(tmp_path.glob("*/*.png"))) == 9


@pytest.mark.parametrize("name", ["metrics.json", *(slow(n) for n in ("prequential.npy", "run.json"))])
def test_plot_names_a_damaged_run_and_draws_the_others(store: Path, tmp_path: Path, name: str) -> None:
    copy = shutil.copytree(store, tmp_path / "copy")
    folder = Store(copy).folder(make_config(max_per_task=30), 0)
    folder.file(name).write_text("{")
    result = kenyon("plot", str(copy), "--runs")
    assert result.exit_code == 0 and len(result.stdout.splitlines()) == 3 * 2
    assert f"left out {folder.path.name}" in result.stderr and f"{name} is damaged" in result.stderr
    one = kenyon("plot", str(folder.path))
    assert one.exit_code == 1 and f"{name} is damaged" in one.stderr


def test_plot_leaves_out_what_a_run_was_copied_without(store: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(store, tmp_path / "copy")
    folder = Store(copy).folder(make_config(max_per_task=30), 0)
    folder.file("prequential.npy").unlink()
    written = kenyon("plot", str(folder.path)).stdout.splitlines()
    assert [Path(line).stem for line in written] == ["accuracy_matrix", "weights"]


def test_plot_refuses_another_format(store: Path) -> None:
    result = kenyon("plot", str(store), "--format", "pgn")
    assert result.exit_code == 2
    assert "did you mean 'png'" in result.stderr


def test_learners_are_listed() -> None:
    lines = {line.split()[0]: line for line in kenyon("learners").stdout.splitlines()}
    assert {"kenyon", "fine-tune"} <= set(lines)
    for words in ("importance", "class-incremental", "Schwarz"):
        assert words in lines["online-ewc"]
    assert {row["name"] for row in json.loads(kenyon("learners", "--json").stdout)} >= {"kenyon", "ncm"}
    one = json.loads(kenyon("learners", "evaluation.tiny:Tiny", "--json").stdout)
    assert one["options"] == {"rate": 0.05, "delay": 0.0, "noise": 0.01}
    assert "batch_size" in kenyon("learners", "ncm").stdout


def test_data_is_listed_and_verified(tmp_path: Path) -> None:
    listed = {
        row["name"]: row for row in json.loads(kenyon("data", "list", "--json", "--data-dir", str(tmp_path)).stdout)
    }
    assert listed["digits"]["present"] and not listed["mnist"]["present"]
    assert "mnist" in kenyon("data", "list", "--data-dir", str(tmp_path)).stdout
    assert kenyon("data", "verify", "digits").exit_code == 0
    missing = kenyon("data", "verify", "mnist", "--data-dir", str(tmp_path))
    assert missing.exit_code == 1 and "train-images" in missing.stderr
    assert kenyon("data", "verify", "minst").exit_code == 2
    (tmp_path / "mnist").mkdir()
    for name in ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1"):
        (tmp_path / "mnist" / f"{name}-ubyte.gz").write_bytes(b"not it")
    wrong = kenyon("data", "verify", "mnist", "--data-dir", str(tmp_path))
    assert wrong.exit_code == 1 and "WRONG" in wrong.stdout
    assert kenyon("data", "download", "digits").exit_code == 2


def test_version() -> None:
    assert kenyon("--version").stdout.startswith("kenyon ")
    assert subprocess.run([sys.executable, "-m", "kenyon.cli", "--version"], capture_output=True).returncode == 0
