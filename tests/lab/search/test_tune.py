"""Hyperparameters are chosen on held-out training samples and become defaults."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the extra 'baselines'")


from kenyon.data.protocol import StreamInfo
from kenyon.data.streams import Curriculum, load_dataset
from kenyon.errors import ConfigError
from kenyon.lab.evaluation import RunConfig, RunResult, run
from kenyon.lab.search.tune import main, record, tune
from kenyon.learners import learner_class, learner_options
from kenyon.learners.baselines import TUNED, _tuned, family, grid_of, tuned_values
from kenyon.learners.baselines._fine_tune import FineTune
from kenyon.learners.baselines._tuned import _table, tuned

pytestmark = pytest.mark.slow

GRIDS = tomllib.loads(TUNED.with_name("grids.toml").read_text())


@pytest.mark.parametrize("name", list(GRIDS))
def test_a_grid_names_real_options(name: str) -> None:
    assert set(grid_of(name)) <= set(learner_options(name))


def test_a_baseline_without_a_grid_is_named() -> None:
    with pytest.raises(ConfigError, match="fine-tune"):
        grid_of("fine-tuned")


def test_the_better_value_wins_without_opening_the_test_set() -> None:
    digits = load_dataset("digits")
    curriculum = Curriculum(scenario="task-incremental", holdout=0.1, max_per_task=100)
    config = RunConfig("digits", "fine-tune", curriculum, options={"hidden": [30]}, tests="last")
    tried = []
    values, score = tune(config, digits, {"lr": [1e-6, 0.1]}, (0,), lambda v, s: tried.append((v["lr"], s)))
    assert values == {"lr": 0.1}
    assert [lr for lr, _ in tried] == [1e-6, 0.1]
    assert score == tried[1][1] > tried[0][1]


def test_the_command_writes_a_row_and_keeps_the_others(tmp_path: Path) -> None:
    out = tmp_path / "tuned.toml"
    record(out, "other/mnist/class-incremental", {"values": {"lr": 1.0}})
    arguments = ["fine-tune", "--dataset", "digits", "--scenario", "task-incremental", "--max-per-task", "20"]
    assert main([*arguments, "--seeds", "1", "--out", str(out)]) == 0
    table = tomllib.loads(out.read_text())
    row = table["fine-tune/digits/task-incremental"]
    assert row["values"]["lr"] in GRIDS["fine-tune"]["lr"] and row["grid"] == GRIDS["fine-tune"]
    assert "--max-per-task 20" in row["command"] and 0 < row["score"] <= 1
    assert table["other/mnist/class-incremental"] == {"values": {"lr": 1.0}}


def test_a_wrong_name_is_an_error_with_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["er", "--dataset", "mnits"]) == 1
    assert "mnits" in capsys.readouterr().err


def test_chosen_values_are_the_defaults_unless_given() -> None:
    chosen = tomllib.loads(TUNED.read_text())["fine-tune/mnist/class-incremental"]["values"]["lr"]
    info = StreamInfo((28, 28), 10, ((0, 1), (2, 3)), 10, False)
    assert tuned("fine-tune", info) == {"lr": chosen}
    assert FineTune(info, 0).lr == chosen
    learner = FineTune(info, 0, lr=0.123)
    assert learner.lr == 0.123 and learner.options == {"lr": 0.123}
    assert tuned("no-such-baseline", info) == {}


def test_a_single_task_takes_the_row_of_task_heads() -> None:
    row = tomllib.loads(TUNED.read_text())["er/mnist/task-incremental"]["values"]
    assert tuned("er", StreamInfo((28, 28), 10, (tuple(range(10)),), 10, False)) == row


def test_families() -> None:
    assert family((3, 32, 32)) == "cifar"
    assert family((28, 28)) == family((1000,)) == family((1, 28, 28)) == "mnist"
    assert family((8, 8)) == family((4,)) == "digits"


def test_a_baseline_tuned_anew_is_another_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def ids() -> list[str]:
        return [
            RunConfig("digits", "er", Curriculum(name)).run_id(0) for name in ("class-incremental", "task-incremental")
        ]

    before = ids()
    row = {"values": {"lr": 0.123}}
    monkeypatch.setattr(_tuned, "_table", lambda: _table() | {"er/digits/class-incremental": row})
    after = ids()
    assert after[0] != before[0] and after[1] == before[1]


def test_a_run_records_the_values_in_force() -> None:
    for name in ("fine-tune", "randumb"):
        result = run(RunConfig("digits", name, Curriculum("class-incremental", max_per_task=20)), [0]).results[0]
        tuned_here = tuned_values(name, "class-incremental").get("digits", {})
        assert result.options == learner_class(name).defaults | tuned_here
        assert RunResult.from_dict(result.to_dict()) == result
