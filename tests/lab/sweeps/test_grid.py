"""What a sweep file stands for."""

from __future__ import annotations

from typing import Any

import pytest

from kenyon.errors import ConfigError
from kenyon.lab.evaluation import labels
from kenyon.lab.sweeps import Sweep, expand
from kenyon.lab.sweeps._axis import axis


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, [3]),
        ("gen", ["gen"]),
        ([1, 2], [1, 2]),
        ([1], [1]),
        ({"from": 1, "to": 3, "step": 1}, [1, 2, 3]),
        ({"from": 0.1, "to": 0.3, "step": 0.1}, [0.1, 0.2, 0.30000000000000004]),
        ({"from": 0.0, "to": 1.0, "steps": 3}, [0.0, 0.5, 1.0]),
        ({"from": 10, "to": 1000, "steps": 3, "log": True}, [10, 100, 1000]),
        ({"from": 0.001, "to": 0.1, "steps": 3, "log": True}, [0.001, 0.01, 0.1]),
        ({"from": 1, "to": 3, "steps": 9}, [1, 2, 3]),
        ([5, {"from": 10, "to": 20, "step": 10}], [5, 10, 20]),
        ({"b1": 0.0}, [{"b1": 0.0}]),
    ],
)
def test_values_of_a_key(value: Any, expected: list[Any]) -> None:
    assert axis("key", value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [([5, 3, 2], 1), ([[5, 5], [2, 8]], 2), (["sorted", "shuffled"], 2), (["sorted", [1, 0]], 2), ([], 1), ([[]], 1)],
)
def test_a_key_that_takes_lists_is_swept_by_a_list_of_lists(value: Any, expected: int) -> None:
    assert len(axis("class_order", value, takes_lists=True)) == expected


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([], "empty list"),
        ({"from": 1, "to": 3}, "either steps"),
        ({"from": 1, "to": 3, "steps": 2, "step": 1}, "either steps"),
        ({"from": 1, "steps": 3}, "expected numbers as from and to"),
        ({"from": "a", "to": 3, "steps": 3}, "expected numbers as from and to"),
        ({"from": 1, "to": 3, "stesp": 3}, "did you mean 'step"),
        ({"from": 1, "to": 3, "steps": 1}, "at least 2"),
        ({"from": 3, "to": 1, "step": 1}, "from below to"),
        ({"from": 1, "to": 3, "step": 0}, "a step above 0"),
        ({"from": 0, "to": 3, "steps": 3, "log": True}, "above 0"),
    ],
)
def test_a_range_that_means_nothing_is_refused(value: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        axis("key", value)


def points(*names: str, **values: Any) -> list[tuple[Any, ...]]:
    """The learner of each configuration and the options with these names, None where it has no such option."""
    return [(c.learner, *map(c.options.get, names)) for c in expand({"dataset": "digits", **values})]


def test_the_product_of_all_lists() -> None:
    configs = expand(
        {
            "dataset": "digits",
            "scenario": ["class-incremental", "task-incremental"],
            "learner": ["ncm", "slda"],
            "epochs": [1, 2.0],
            "options": {"batch_size": [1, 10]},
        }
    )
    assert len({config.folder_name(0) for config in configs}) == len(configs) == 16


def test_conditions_add_keys_to_what_meets_them_one_after_the_other() -> None:
    when = [
        {"if": {"learner": "kenyon"}, "options": {"rule": ["gen", "mse"]}},
        {"if": {"rule": ["gen"]}, "options": {"b2": [-1.0, -0.5]}},
        {"if": {"learner": "slda", "scenario": "class-incremental"}, "epochs": [1.0, 2.0]},
        {"if": {"options": {"b2": -0.5}}, "options": {"n_hidden": 100}},
    ]
    found = points("rule", "b2", "n_hidden", learner=["kenyon", "slda"], when=when)
    assert found == [
        ("kenyon", "gen", -1.0, "auto"), ("kenyon", "gen", -0.5, 100), ("kenyon", "mse", None, "auto"),
        ("slda", None, None, None), ("slda", None, None, None),
    ]  # fmt: skip


def test_what_is_skipped_is_left_out_and_nothing_is_run_twice() -> None:
    values = {
        "learner": ["kenyon", "ncm", "ncm"],
        "when": [{"if": {"learner": "kenyon"}, "options": {"n_hidden": [1, 2]}}],
    }
    assert points("n_hidden", **values) == [("kenyon", 1), ("kenyon", 2), ("ncm", None)]
    skip = [{"learner": "kenyon", "n_hidden": [2, 3]}]
    assert points("n_hidden", **values, skip=skip) == [("kenyon", 1), ("ncm", None)]


def test_options_that_are_lists() -> None:
    assert points("hidden_layers", options={"hidden_layers": [30, 20]}) == [("kenyon", [30, 20])]
    assert points("hidden_layers", options={"hidden_layers": [[], [30, 20]]}) == [("kenyon", []), ("kenyon", [30, 20])]
    pytest.importorskip("torch", reason="needs the extra 'baselines'")
    assert points("hidden", learner="er", options={"hidden": [30, 20]}) == [("er", [30, 20])]
    assert points("hidden", learner="er", options={"hidden": [[30], [30, 20]]}) == [("er", [30]), ("er", [30, 20])]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"leaner": "ncm"}, "did you mean 'learner'"),
        ({"learner": ["ncm", "kenyon"], "options": {"n_hidden": 3}}, r"\[\[when\]\]"),
        ({"learner": "nmc"}, "did you mean 'ncm'"),
        ({"options": 3}, "expected a table"),
        ({"when": {"if": {}}}, r"under \[\[when\]\]"),
        ({"when": [{"options": {"n_hidden": 3}}]}, "expected `if`"),
        ({"when": [{"if": {"learner": "ncm"}}]}, "expected `if`, and keys"),
        ({"when": [{"if": "ncm", "epochs": 2}]}, "expected a table of keys and values"),
        ({"skip": [{}]}, "expected a table of keys and values"),
        ({"skip": [{"learner": "kenyon"}]}, "everything is skipped"),
        ({"save_model": 1}, "true or false"),
        ({"out": 3}, "name of a folder"),
        ({"log": 3}, "a name or a list"),
        ({"seeds": "x"}, "seeds"),
        ({"epochs": [1, -1]}, "epochs"),
    ],
)
def test_a_file_that_means_nothing_is_refused(values: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Sweep.from_dict(values)


def test_labels_say_what_differs_within_a_learner() -> None:
    configs = expand(
        {
            "dataset": "digits",
            "learner": ["ncm", "kenyon"],
            "when": [{"if": {"learner": "kenyon"}, "options": {"n_hidden": [1, 2], "rule": "mse"}}],
        }
    )
    assert labels(configs) == ["ncm", "kenyon n_hidden=1", "kenyon n_hidden=2"]
