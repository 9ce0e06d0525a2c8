"""The transfer matrix on the embedded digits, and the paper's figures beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kenyon.cli import app
from kenyon.data.streams import Curriculum
from kenyon.errors import ConfigError
from kenyon.lab.evaluation import RunConfig, run
from kenyon.paper.tables import paper_accuracy
from kenyon.paper.transfer import (
    Source,
    Target,
    TransferResult,
    default_targets,
    drops,
    load_source,
    parse_target,
    rank_correlation,
)
from kenyon.paper.transfer import transfer as run_transfer

MSE = 'dataset = "digits"\nscenario = "single-task"\n[options]\nrule = "mse"\nn_hidden = 200\n'
GEN = 'dataset = "digits"\n[options]\nrule = "gen"\nn_hidden = 200\n'


@pytest.fixture
def configs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mse.toml").write_text(MSE)
    folder = tmp_path / "searched"
    folder.mkdir()
    (folder / "best.toml").write_text(GEN)
    return ["mse.toml", "mine=searched/best.toml"]


def test_a_cell_is_the_run_of_the_configuration_on_the_target(configs: list[str]) -> None:
    sources = [load_source(text) for text in configs]
    assert [(s.name, s.dataset, s.scenario, s.rule) for s in sources] == [
        ("mse", "digits", "single-task", "mse"),
        ("mine", "digits", "class-incremental", "gen"),
    ]
    assert load_source("searched/best.toml").name == "searched"
    targets = [parse_target("digits/single-task"), parse_target("digits/class-incremental")]
    cells = run_transfer(sources, targets, (0, 1))
    assert len(cells) == 4
    curriculum = Curriculum("class-incremental")
    expected = run(RunConfig("digits", curriculum=curriculum, options={"rule": "mse", "n_hidden": 200}), (0, 1))
    assert cells[1].mean == expected.summary("accuracy").mean and cells[1].std == expected.summary("accuracy").std
    assert cells[0].mean > cells[1].mean + 0.2  # MSE forgets


def test_targets_as_text() -> None:
    assert parse_target("mnist/single-task") == Target("mnist", "single-task", 0.5)
    assert parse_target("/data/my.npz/permuted@2") == Target("/data/my.npz", "permuted", 2.0)
    assert str(parse_target("mnist/single-task@1")) == "mnist/single-task@1"
    assert str(parse_target("mnist/class-incremental@1")) == "mnist/class-incremental"
    for text in ("mnist", "mnist/serial", "mnist/single-task@many"):
        with pytest.raises(ConfigError, match="target"):
            parse_target(text)
    with pytest.raises(ConfigError, match="neither a preset"):
        load_source("split-nothing")


def test_default_targets_are_all_scenarios_of_all_sets() -> None:
    sources = [Source(name, name, "single-task", {}) for name in ("mnist", "fashion-mnist")]
    assert len(default_targets(sources)) == 6


def test_the_papers_tables() -> None:
    assert paper_accuracy("mnist", "single-task", "mse", "fashion-mnist", "single-task") == pytest.approx(0.8075)
    assert paper_accuracy("mnist", "class-incremental", "inel", "cifar-10", "class-incremental") == 0.4595
    assert paper_accuracy("mnist", "single-task", "gen", "mnist", "single-task") is None
    assert paper_accuracy("cifar10", "class-incremental", "inel", "mnist", "class-incremental") == 0.6082
    assert paper_accuracy("mine.npz", "single-task", "mse", "mnist", "single-task") is None


def cell(found: str, on: str, mean: float) -> TransferResult:
    return TransferResult(Source(found, found, "single-task", {}), Target(on, "single-task", 0.5), mean, None, None)


def test_drops_are_against_the_targets_own_best() -> None:
    cells = [cell("a", "a", 0.9), cell("a", "b", 0.6), cell("b", "a", 0.85), cell("b", "b", 0.8), cell("c", "a", 0.5)]
    found = {(d.source.name, d.target.dataset): round(d.drop, 6) for d in drops(cells)}
    assert found == {("a", "b"): 0.2, ("b", "a"): 0.05, ("c", "a"): 0.4}


def test_rank_correlation() -> None:
    assert rank_correlation([1, 2, 3, 10], [0.1, 0.2, 0.4, 0.5]) == pytest.approx(1.0)
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1.0)
    assert rank_correlation([1, 2], [1, 2]) is None and rank_correlation([1, 1, 1], [1, 2, 3]) is None


@pytest.mark.slow
def test_the_command_prints_the_matrix_and_keeps_the_runs(configs: list[str], tmp_path: Path) -> None:
    arguments = ["transfer", *configs, "--to", "digits/single-task", "--to", "digits/task-incremental"]
    result = CliRunner().invoke(app, [*arguments, "--seeds", "2", "--max-per-task", "100"])
    assert result.exit_code == 0, result.output
    assert "mine (gen)" in result.stdout and "±" in result.stdout
    kept = len(list((tmp_path / "runs").iterdir()))
    again = CliRunner().invoke(app, [*arguments, "--seeds", "2", "--max-per-task", "100", "--json"])
    cells = json.loads(again.stdout)["cells"]
    assert len(cells) == 4 and len(list((tmp_path / "runs").iterdir())) == kept
    more = [*arguments, "--seeds", "2", "--max-per-task", "100", "--json", "--workers", "2", "--out", "other"]
    assert json.loads(CliRunner().invoke(app, more).stdout)["cells"] == cells
