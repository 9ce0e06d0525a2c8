"""Configurations: what they accept, what they refuse and how, and the name that follows from them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from kenyon.data.streams import Curriculum, content_sum
from kenyon.errors import ConfigError
from kenyon.lab.evaluation import RunConfig, config_keys, parse_seeds
from kenyon.utils.system import read_toml, to_toml

TINY = "evaluation.tiny:Tiny"


def make(**values: Any) -> RunConfig:
    return RunConfig.from_dict({"dataset": "digits", "learner": TINY} | values)


MISTAKES: list[tuple[dict[str, Any], list[str]]] = [
    ({"lerner": "x"}, ["'lerner'", "dataset", "did you mean 'learner'"]),
    ({"learner": "kenion"}, ["'kenion'", "fine-tune", "did you mean 'kenyon'"]),
    ({"learner": "no.such.module:Class"}, ["no.such.module"]),
    ({"learner": "evaluation.tiny:Tinny"}, ["evaluation.tiny", "Tinny"]),
    ({"scenario": "class-incrmental"}, ["'class-incrmental'", "task-free", "did you mean 'class-incremental'"]),
    ({"tests": "al"}, ["'al'", "all, last, seen", "did you mean 'all'"]),
    ({"weights_every": -1}, ["weights_every", "-1"]),
    ({"weights_every": 1.5}, ["weights_every", "1.5"]),
    ({"options": {"ratee": 1.0}}, ["'ratee'", "delay", "did you mean 'rate'"]),
    ({"options": {"rate": object}}, ["options.rate", "plain value"]),
    ({"options": 3}, ["options = 3", "table"]),
    ({"epochs": -1.0}, ["epochs", "-1.0"]),
    ({"holdout": 1.0}, ["holdout", "1.0"]),
    ({"learner": "icarl", "scenario": "task-free"}, ["'task-free'", "'icarl'", "class-incremental"]),
]


@pytest.mark.parametrize(("values", "words"), MISTAKES, ids=[str(values) for values, _ in MISTAKES])
def test_a_mistake_names_key_value_and_what_is_allowed(values: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(ConfigError) as error:
        make(**values)
    for word in words:
        assert word in str(error.value)


def test_the_data_set_is_asked_for() -> None:
    with pytest.raises(ConfigError, match="dataset is missing"):
        RunConfig.from_dict({})


def test_defaults_written_out_are_the_same_run() -> None:
    plain = make()
    spelled = make(scenario="class-incremental", epochs=1, options={"rate": 0.05, "delay": 0})
    assert plain.run_id(0) == spelled.run_id(0)
    assert plain.folder_name(3) == f"digits-class-incremental-evaluation-tiny-tiny-s3-{plain.run_id(3)}"


@pytest.mark.parametrize(
    "other",
    [
        {"options": {"rate": 0.1}},
        {"epochs": 2.0},
        {"labelled": 0.5},
        {"holdout": 0.1},
        {"tests": "seen"},
        {"weights_every": 3},
        {"scenario": "task-free"},
        {"learner": "ncm"},
    ],
    ids=str,
)
def test_another_configuration_is_another_run(other: dict[str, Any]) -> None:
    assert make().run_id(0) != make(**other).run_id(0)
    assert make().run_id(0) != make().run_id(1)


def test_the_curriculum_s_own_seed_does_not_matter() -> None:
    one, two = (RunConfig("digits", TINY, Curriculum(seed=seed)) for seed in (0, 7))
    assert one.run_id(0) == two.run_id(0)
    assert "seed" not in one.to_dict()


def test_a_written_configuration_is_read_back_as_the_same(tmp_path: Path) -> None:
    config = make(task_sizes=[5, 3, 2], class_order=[9, 8, 7, 6, 5, 4, 3, 2, 1, 0], options={"rate": 1e-5})
    path = tmp_path / "c.toml"
    path.write_text(to_toml(config.to_dict() | {"seeds": [4]}))
    values = read_toml(path)
    assert values.pop("seeds") == [4]
    again = RunConfig.from_dict(values)
    assert again == config
    assert again.run_id(4) == config.run_id(4)
    assert set(values) <= set(config_keys())


@pytest.mark.parametrize(
    ("content", "word"), [(b"dataset = ", "not TOML"), (b"\xff", "not TOML"), (None, "cannot be read")]
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None, word: str) -> None:
    path = tmp_path / "broken.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=rf"broken\.toml {word}|broken\.toml is {word}"):
        read_toml(path)


@pytest.mark.parametrize(
    ("value", "seeds"),
    [
        (3, (0, 1, 2)),
        ("3", (0, 1, 2)),
        ("0,3,7", (0, 3, 7)),
        ([5], (5,)),
        ("4,", (4,)),
        (",", None),
        ("4,,", None),
        (0, None),
    ],
)
def test_seeds(value: Any, seeds: tuple[int, ...] | None) -> None:
    if seeds is None:
        with pytest.raises(ConfigError, match="seeds = "):
            parse_seeds(value)
    else:
        assert parse_seeds(value) == seeds


@pytest.mark.parametrize("value", ["x", "1,x", [1, 1], [-1], [1.5], True, None, "1.5"])
def test_seeds_that_are_none(value: Any) -> None:
    with pytest.raises(ConfigError, match="seeds = "):
        parse_seeds(value)


def test_toml_of_a_config_is_plain_toml() -> None:
    text = to_toml(make().to_dict())
    assert tomllib.loads(text)["options"] == {"rate": 0.05, "delay": 0.0, "noise": 0.01}


def test_a_set_that_was_edited_is_another_run(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("a,b,label\n" + "".join(f"{i},{i % 7},{i % 2}\n" for i in range(40)))
    config = RunConfig(str(path), "ncm", Curriculum("single-task"))
    before = config.run_id(0)
    assert config.run_id(0) == before
    text = path.read_text()
    path.write_text(text.replace("3,3,1", "3,4,1"))
    assert config.run_id(0) != before
    path.write_text(text)
    assert config.run_id(0) == before, "the content counts, not the time"


def test_a_folder_is_its_names_and_contents(tmp_path: Path) -> None:
    for name in ("cats/1.png", "dogs/1.png"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(b"picture")
    before = content_sum(tmp_path)
    (tmp_path / "dogs/1.png").rename(tmp_path / "cats/2.png")
    assert content_sum(tmp_path) != before
    assert content_sum("mnist") is None
    assert content_sum(tmp_path / "nothing.npz") is None
