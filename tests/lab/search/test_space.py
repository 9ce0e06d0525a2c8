"""The space: what is active, what a point stands for, what a file may say."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenyon.errors import ConfigError
from kenyon.lab.evaluation import RunConfig
from kenyon.lab.search import (
    SPACES,
    Parameter,
    Space,
    default_space,
    evaluate,
    make_objective,
    parse_space,
    with_budget,
)
from kenyon.paper.reproduce.experiments import on_length_1
from kenyon.paper.tables import paper_table

SMALL = """
[rule]
values = ["gen", "mse"]
[n_hidden]
low = 10
high = 20
[layer__decay]
low = 1e-6
high = 1e-2
log = true
off = 0.0
[gen.rule__b1]
low = 1e-4
high = 1e-2
log = true
off = 0.0
[gen.rule__b2]
low = -2.0
high = 0.0
[oja.rule__b1]
low = 0.1
high = 1.0
"""


def active(point: dict) -> set[str]:
    return {name for name, value in point.items() if not (isinstance(value, float) and math.isnan(value))}


@given(st.integers(0, 10**6))
def test_a_drawn_point_holds_nan_exactly_where_a_parameter_is_inactive(seed: int) -> None:
    point = parse_space(default_space()).draw(np.random.default_rng(seed))
    rule, unclamped = point["rule"], point["mse.layer__clamp_on"] == "no" or point["inel.layer__clamp_on"] == "no"
    scaled = "true" if point[f"{rule}.unit_norm"] else "false"
    expected = {
        "rule",
        "n_hidden",
        "features__density",
        "features__inhibitory",
        "features__threshold",
        "layer__initial_weight_on",
        "layer__decay_on",
    }
    expected |= {f"{rule}.unit_norm", f"{rule}.{scaled}.layer__learning_rate"}
    expected |= {"layer__initial_weight"} if point["layer__initial_weight_on"] == "yes" else set()
    expected |= {"layer__decay"} if point["layer__decay_on"] == "yes" else set()
    expected |= {f"{rule}.layer__clamp_on", f"{rule}.layer__output"} if rule in ("mse", "inel") else set()
    expected |= set() if unclamped else {f"{rule}.layer__clamp", f"{rule}.layer__clamp_kind"}
    expected |= {
        "gen": {"gen.rule__b1_on", "gen.rule__b2"} | ({"gen.rule__b1"} if point["gen.rule__b1_on"] == "yes" else set()),
        "oja": {"oja.rule__b1"},
        "inel": {"inel.rule__beta"},
        "mse": set(),
    }[rule]
    assert active(point) == expected


@given(st.integers(0, 10**6))
def test_every_point_of_the_default_space_is_a_configuration_of_the_learner(seed: int) -> None:
    space = parse_space(default_space())
    options = space.options(space.draw(np.random.default_rng(seed)))
    assert 1000 <= options["n_hidden"] <= 11000 and isinstance(options["n_hidden"], int)
    RunConfig("digits", options=options)  # refuses what it does not know


def test_draws_cover_the_bounds_and_the_logarithmic_middle() -> None:
    space = parse_space(default_space())
    points = [space.draw(np.random.default_rng(i)) for i in range(2000)]
    rates = np.array([p["gen.true.layer__learning_rate"] for p in points if p["rule"] == "gen" and p["gen.unit_norm"]])
    assert rates.min() >= 0.001 and rates.max() <= 1.0
    assert abs(np.mean(rates < math.sqrt(0.001)) - 0.5) < 0.07  # the middle of the logarithmic scale
    assert {p["rule"] for p in points} == {"gen", "oja", "mse", "inel"}


def test_mask_takes_away_what_deephyper_fills_in() -> None:
    space = parse_space(SMALL)
    filled = {
        "rule": "mse",
        "n_hidden": 12,
        "layer__decay_on": "no",
        "layer__decay": 1e-6,
        "gen.rule__b1_on": "yes",
        "gen.rule__b1": 1e-4,
    }
    assert active(space.mask(filled | {"gen.rule__b2": -2.0})) == {"rule", "n_hidden", "layer__decay_on"}


def test_options_of_a_switch_that_is_off_and_of_a_rule_that_is_absent() -> None:
    space = parse_space(SMALL)
    values = {
        "n_hidden": 12,
        "layer__decay_on": "no",
        "layer__decay": 1e-6,
        "gen.rule__b1_on": "no",
        "gen.rule__b1": 1e-4,
        "gen.rule__b2": -1.0,
    }
    gen = space.options(space.mask(values | {"rule": "gen"}))
    assert gen == {"rule": "gen", "n_hidden": 12, "layer__decay": 0.0, "rule__b1": 0.0, "rule__b2": -1.0}
    mse = space.options(space.mask(values | {"rule": "mse"}))
    assert mse == {"rule": "mse", "n_hidden": 12, "layer__decay": 0.0}


def test_with_ties_an_option_to_the_switch_of_another() -> None:
    clamp = "[{0}layer__clamp]\nlow = 1.0\nhigh = 2.0\noff = 'off'\n[{0}layer__clamp_kind]\nvalues = ['positive']\n"
    clamp += "with = 'layer__clamp'"
    for prefix in ("", "mse."):
        space = parse_space("[rule]\nvalues = ['mse', 'gen']\n" + clamp.format(prefix))
        values = {"rule": "mse", f"{prefix}layer__clamp": 1.5, f"{prefix}layer__clamp_kind": "positive"}
        on = space.mask(values | {f"{prefix}layer__clamp_on": "yes"})
        assert space.options(on) == {"rule": "mse", "layer__clamp": 1.5, "layer__clamp_kind": "positive"}
        off = space.mask(values | {f"{prefix}layer__clamp_on": "no"})
        assert active(off) == {"rule", f"{prefix}layer__clamp_on"}
        assert space.options(off) == {"rule": "mse", "layer__clamp": "off"}
    other = space.mask(values | {"rule": "gen", "mse.layer__clamp_on": "yes"})
    assert active(other) == {"rule"} and space.options(other) == {"rule": "gen"}


def test_the_space_of_one_rule_has_what_can_be_active_under_it() -> None:
    mse = parse_space(default_space()).only("mse")
    assert mse["rule"].values == ("mse",)
    shared = {
        "rule",
        "n_hidden",
        "features__density",
        "features__inhibitory",
        "features__threshold",
        "layer__decay_on",
        "layer__decay",
    }
    shared |= {"layer__initial_weight_on", "layer__initial_weight"}
    own = (
        "unit_norm",
        "true.layer__learning_rate",
        "false.layer__learning_rate",
        "layer__clamp_on",
        "layer__clamp",
        "layer__clamp_kind",
        "layer__output",
    )
    assert set(mse.names) == shared | {f"mse.{name}" for name in own}


def test_parameters_of_a_rule_that_is_not_searched_are_left_out() -> None:
    assert "oja.rule__b1" not in parse_space(SMALL).names


def test_written_values_read_back_as_they_were() -> None:
    space = parse_space(default_space())
    for i in range(50):
        point = space.draw(np.random.default_rng(i))
        again = {p.name: p.parse(str(point[p.name])) for p in space.parameters}
        assert repr(again) == repr(point)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[rule]\nvalues = ['gen']\n[n_hiden]\nlow = 1\nhigh = 2", "did you mean 'n_hidden'"),
        ("[rule]\nvalues = ['hebb']", "unknown rule 'hebb'"),
        ("[n_hidden]\nlow = 1\nhigh = 2", r"no \[rule\]"),
        ("[rule]\nvalues = ['gen']\n[features__density]\nlow = 0.5\nhigh = 0.1", "low below high"),
        ("[rule]\nvalues = ['gen']\n[features__density]\nlow = 0.0\nhigh = 0.1\nlog = true", "positive"),
        ("[rule]\nvalues = ['gen']\n[features__density]\nlow = 0.1\nhigh = 0.2\nlogg = true", "did you mean 'log'"),
        ("[rule]\nvalues = ['gen']\n[gen.b3]\nlow = 0.1\nhigh = 0.2", "unknown option"),
        (
            "[rule]\nvalues = ['mse']\n[mse.layer__clamp_kind]\nvalues = ['positive']\nwith = 'layer__clamp'",
            "in a table above it",
        ),
        ("[rule", "not TOML"),
        ("rule = 3", r"no \[rule\]"),
        ("[layer]\nvalues = ['plastic']\n[plastic.rule]\nvalues = ['hebb']", "unknown rule 'hebb'"),
        ("[layer]\nvalues = ['plastic']\n[plastic.layer__bit]\nlow = 1\nhigh = 2", "did you mean 'layer__bits'"),
        ("[layer]\nvalues = ['plastic']\n[plastic]\nfeatures__window = 3", "expected a table"),
    ],
)
def test_a_space_that_makes_no_sense_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_space(text)


def test_a_single_value_fixes_an_option() -> None:
    space: Space = parse_space("[rule]\nvalues = ['gen']\n[n_hidden]\nvalues = [2000]")
    assert space.options(space.draw(np.random.default_rng(0))) == {"rule": "gen", "n_hidden": 2000}


# What the shipped spaces hold


def holds(space: Space, options: Mapping[str, Any]) -> bool:
    """Whether some point of the space stands for these options."""

    def fits(parameter: Parameter, value: Any) -> bool:
        return value in parameter.values if parameter.values else parameter.low <= value <= parameter.high

    point: dict[str, Any] = {}
    for parameter in space.parameters:
        parent = parameter.parent
        if parent is not None and point[parent[0]] != parent[1]:
            point[parameter.name] = math.nan
        elif parameter.option is None:  # a switch: off where the option has the value of being off
            switched = next(p for p in space.parameters if p.parent == (parameter.name, "yes") and p.off is not None)
            point[parameter.name] = "no" if options[str(switched.option)] == switched.off else "yes"
        elif fits(parameter, options[parameter.option]):
            point[parameter.name] = options[parameter.option]
        else:
            return False
    return all(repr(space.options(space.mask(point))[name]) == repr(value) for name, value in options.items())


TABLES = ("single_configurations", "class_configurations")
PAPER = [
    on_length_1(name, str(row.keys["dataset"]), str(row.keys["rule"]))
    for name in TABLES
    for row in paper_table(name).rows
]


@pytest.mark.parametrize("unit_norm", [True, False])
@pytest.mark.parametrize("options", PAPER, ids=lambda options: "-".join(map(str, list(options.values())[:3])))
def test_every_configuration_of_the_paper_lies_in_the_space(options: dict[str, Any], unit_norm: bool) -> None:
    space = parse_space(default_space())
    rate = options["layer__learning_rate"] * (
        1.0 if unit_norm else 1e-4
    )  # of samples that are not scaled, much smaller
    for start in (0.0, 0.05):
        more = {
            "unit_norm": unit_norm,
            "layer__learning_rate": rate,
            "layer__decay": 0.0,
            "layer__initial_weight": start,
            "layer__output": "clip",
        }
        assert holds(space, options | more)
    beyond = {
        "layer__output": "relu",
        "layer__decay": 0.0,
        "layer__initial_weight": 0.0,
        "unit_norm": True,
        "features__inhibitory": 0.95,
    }
    assert not holds(space, options | beyond)


def test_the_space_of_bytes_covers_layers_features_windows_shifts_and_bits() -> None:
    space = parse_space(default_space("bytes"))
    points = [space.options(space.draw(np.random.default_rng(i))) for i in range(400)]
    assert {(p["layer"], p["features"]) for p in points} == {
        *((layer, features) for layer in ("second-order", "plastic") for features in ("windows", "sparse")),
        ("second-order", "patches"),
    }
    assert {p["layer__bits"] for p in points if "layer__bits" in p} == {2, 3, 4, 8, 16, 24, 32}
    assert all(("features__window" in p) == (p["features"] == "windows") for p in points)
    assert all(("features__shifts" in p) == (p["features"] in ("windows", "patches")) for p in points)
    assert all(("rule" in p) == (p["layer"] == "plastic") for p in points)
    assert {p["memory_budget"] for p in points} == {"20KB"}
    dial = {
        "layer": "second-order",
        "features": "windows",
        "layer__bits": 16,
        "features__window": 6,
        "features__shifts": 5,
        "features__density": 16,
    }
    dial |= {
        "features__signs": "oriented",
        "features__pooling": "sum",
        "features__root": True,
        "layer__readout": "discriminant",
        "layer__shrinkage": 0.001,
    }
    assert holds(space, dial | {"memory_budget": "20KB"})  # what the dial takes for MNIST


@pytest.mark.parametrize("seed", range(12))
def test_every_point_of_the_space_of_bytes_learns(seed: int) -> None:
    space = parse_space(with_budget(default_space("bytes"), "30KB"))
    options = space.options(space.draw(np.random.default_rng(seed)))
    assert evaluate(make_objective("digits", max_per_task=20, chance_after=1.0), options).status == "done"


@pytest.mark.parametrize("name", SPACES)
def test_a_budget_takes_the_place_of_the_one_that_is_there(name: str) -> None:
    before, after = parse_space(default_space(name)), parse_space(with_budget(default_space(name), "80KB"))
    assert after["memory_budget"].values == ("80KB",)
    assert set(after.names) == set(before.names) | {"memory_budget"}
    with pytest.raises(ConfigError, match="memory_budget is 'lots'"):
        with_budget(default_space(name), "lots")


def test_the_space_of_one_layer_is_that_layer_alone() -> None:
    plastic = parse_space(default_space("bytes")).only("plastic")
    assert plastic.root.values == ("plastic",)
    assert {name.partition(".")[0] for name in plastic.names} == {"layer", "memory_budget", "plastic"}


def test_a_space_that_does_not_exist_is_named() -> None:
    with pytest.raises(ConfigError, match="did you mean 'rules'"):
        default_space("rule")
