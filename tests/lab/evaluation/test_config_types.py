"""Values of the wrong type or size in a configuration: one line, at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from evaluation.tiny import Tiny
from kenyon import KenyonClassifier
from kenyon.cli import app
from kenyon.errors import ConfigError
from kenyon.lab.evaluation import RunConfig, parse_seeds
from kenyon.learners import learner_options
from kenyon.learners.baselines import BASELINES
from kenyon.utils.parallel import Workers
from kenyon.utils.system import read_toml, to_toml

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"learner": "er", "options": {"lr": [1]}}, r"lr of the learner 'er' is \[1\]: expected a finite number"),
    ({"learner": "er", "options": {"lr": "fast"}}, "lr of the learner 'er' is 'fast'"),
    ({"learner": "er", "options": {"lr": True}}, "lr of the learner 'er' is True"),
    ({"learner": "er", "options": {"hidden": 0}}, "hidden of the learner 'er' is 0: expected a list of integers"),
    ({"learner": "er", "options": {"hidden": [1.5]}}, "hidden of the learner 'er'"),
    ({"learner": "er", "options": {"network": 3}}, "network of the learner 'er' is 3: expected a text"),
    ({"learner": "er", "options": {"buffer_size": 10**12}}, "buffer_size of the learner 'er'"),
    ({"options": {"hidden__widths": 0}}, "widths is 0: expected a list of widths"),
    ({"options": {"n_hidden": [1]}}, r"n_hidden is \[1\]"),
    ({"options": {"layer__learning_rate": [1]}}, r"learning_rate is \[1\]"),
    ({"options": {"layer__learning_rate": 10**400}}, "learning_rate is 1000"),
    ({"options": {"layer__decay": 10**400}}, "decay is 1000"),
    ({"options": {"features": []}}, "features"),
    ({"options": {"rule__b1": {}}}, "gen.b1 is"),
    ({"options": {"rule": 3}}, "rule is 3"),
    ({"options": {"n_jobs": 100_000}}, "n_jobs is 100000: expected a number of threads"),
    ({"options": {"features__shifts": 10**9, "features": "windows", "shape": [8, 8]}}, "places"),
    ({"dataset": [1]}, r"dataset is \[1\]"),
    ({"dataset": ""}, "dataset is ''"),
    ({"learner": {}}, "learner is {}"),
    ({"scenario": [1]}, r"unknown scenario \[1\]"),
    ({"tests": []}, "unknown value of tests"),
    ({"epochs": 1e300}, "epochs is 1e"),
    ({"epochs": 10**400}, "epochs is 1000"),
    ({"n_tasks": 1e9}, "n_tasks is"),
    ({"backbone": 3}, "backbone is 3"),
    ({"backbone": {"name": "resnet18", "weights": [1]}}, r"weights of the backbone is \[1\]"),
    ({"backbone": {"name": "resnet18", "interpolation": [1]}}, "interpolation of the backbone"),
]


@pytest.mark.parametrize(("values", "match"), WRONG, ids=[str(values)[:60] for values, _ in WRONG])
def test_a_value_of_the_wrong_type_is_named(values: dict[str, Any], match: str) -> None:
    with pytest.raises(ConfigError, match=match) as caught:
        config = RunConfig.from_dict({"dataset": "digits", **values})
        build(config)
    assert "\n" not in str(caught.value)


def build(config: RunConfig) -> None:
    """The checks that come when the learner is built."""
    from kenyon.model.plain import classifier_params

    KenyonClassifier(**classifier_params(config.options)).fit(np.zeros((2, 64)), [0, 1])


@pytest.mark.parametrize(
    ("lines", "match"),
    [
        ("out = [1]", "out = [1]: expected the path of a folder"),
        ("data_dir = 3", "data_dir = 3: expected the path of a folder"),
        ("seeds = 1000000000", "seeds = 1000000000: expected how many"),
        ("seeds = [1, 1]", "seeds = [1, 1]"),
        ("seeds = 1979-05-27", "seeds = "),
        ("save_model = 3", "save_model = 3"),
        ("[[options]]", "options = [{}]: expected a table"),
        ("backbone = 3", "backbone is 3"),
        ("x = 9999-99-99", "is not TOML"),
        ("x = " + "[" * 5000, "is not TOML"),
    ],
)
def test_a_configuration_file_of_wrong_types_is_one_line(lines: str, match: str, tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text(lines)
    ran = CliRunner().invoke(app, ["run", "--config", str(tmp_path / "run.toml")])
    assert ran.exit_code == 2 and ran.output.count("\n") == 1 and match in ran.output, ran.output


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (["--seeds", "1000000000"], "seeds = 1000000000"),
        (["--seeds", "9" * 30], "seeds = 999"),
        (["--seeds", "0,99999999999999999999"], "seeds ="),
        (["--workers", "100000"], "workers is 100000: expected an integer from 1 to 1024"),
        (["--learner", "er", "--set", "threads=100000"], "threads is 100000: expected an integer from 1 to 1024"),
        (["--learner", "er", "--set", "lr=[1]"], "lr of the learner 'er' is [1]"),
        (["--set", "hidden__widths=0"], "widths is 0"),
        (["--set", f"lr={'[' * 3000}"], "unknown option"),
    ],
)
def test_words_of_the_command_line(words: list[str], match: str, tmp_path: Path) -> None:
    if "er" in words:
        pytest.importorskip("torch", reason="needs the extra 'baselines'")
    ran = CliRunner().invoke(app, ["run", "--out", str(tmp_path), *words])
    assert ran.exit_code == 2 and match in ran.output and len(ran.output.strip().splitlines()) == 1, ran.output


def test_every_baseline_takes_its_own_defaults_and_refuses_lists_of_lists() -> None:
    for name, spec in BASELINES.items():
        options = {key: value for key, value in learner_options(name).items() if value is not None}
        RunConfig("digits", name, options=options, curriculum=_first(spec.scenarios))
        for key in options:
            with pytest.raises(ConfigError, match=key):
                RunConfig("digits", name, options={key: [[1]]}, curriculum=_first(spec.scenarios))


def _first(scenarios: tuple[str, ...]) -> Any:
    from kenyon.data.streams import Curriculum

    return Curriculum(scenarios[0])


def test_a_learner_of_ones_own_is_held_to_its_annotations() -> None:
    name = f"{Tiny.__module__}:Tiny"
    with pytest.raises(ConfigError, match="expected a finite number"):
        RunConfig("digits", name, options={"rate": [1]})


def test_a_file_without_end_is_not_read_to_its_end(tmp_path: Path) -> None:
    if not Path("/dev/zero").exists():
        pytest.skip("this system has no such device")
    with pytest.raises(ConfigError, match="more than"):
        read_toml(Path("/dev/zero"))


def test_lines_of_windows_are_toml(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(to_toml({"a": 1, "b": "x"}).replace("\n", "\r\n").encode())
    assert read_toml(tmp_path / "a.toml") == {"a": 1, "b": "x"}


def test_workers_are_counted() -> None:
    for workers in (0, 100_000, 1.5, True):
        with pytest.raises(ConfigError, match="workers is"):
            Workers(workers)  # type: ignore[arg-type]
    assert parse_seeds(100_000)[-1] == 99_999
