"""Kenyon's options for each row: the paper's configurations, and those chosen here on held-out samples."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from kenyon.paper.tables import paper_table

OUTPUT = "clip"
"""The output under which most of the paper's cells come out (`python benchmarks/readings.py`, docs/reproduce.md)."""

READING = (
    "The paper gives no legend for its hyperparameters. Read here: N_H^F hidden units, beta_1^F share of inputs of "
    "each, beta_2^F share of them that is inhibitory, beta_3^F threshold in standard deviations, gamma^M learning "
    "rate, beta_2^M INEL's window. beta_3^M and alpha^M are not used: docs/reproduce.md says what they do in other "
    "readings. Activity has the length that the paper's equation gives it, pixels are from 0 to 1, rate and window are "
    "the published ones, and the output is W^T x_e over the mean of |x_e|^2, clipped to [0, 1]. Nothing is fitted."
)
READ_AS = "The paper's configurations are read as the note of Table 1 says."
"""The other tables say this in place of `READING`."""

ONE_HEAD = (
    "In INEL's task-incremental cells all tasks share one head, the label being the place in the task (kenyon run "
    "--scenario domain-incremental). MSE's have a head for every task. docs/reproduce.md has both rules both ways."
)


def published(
    table: str, dataset: str, rule: str, on: str | None = None, length: float | None = None
) -> dict[str, Any]:
    """The options of a row of the paper's Table 1 (`single_configurations`) or 7 (`class_configurations`), as printed.

    Args:
        table, dataset, rule: the row.
        on: the data set that it is run on; None for the one that it was found on.
        length: of the activity, where a part of the configuration is left out.
    """
    number, where = _numbers(table, dataset, rule), on or dataset
    window = number["beta_2^M"] if rule == "inel" else None
    length = length or lengths(table, dataset, rule)[where]
    return as_printed(_plain(number, rule), window, length, UNIT.get(where, 255.0))


def undivided(table: str, dataset: str, rule: str) -> dict[str, Any]:
    """The same row with x_o = W^T x_e, which the published learning rates do not suit."""
    number = _numbers(table, dataset, rule)
    window = number["beta_2^M"] if rule == "inel" else None
    return as_printed(_plain(number, rule), window, 1.0, UNIT.get(dataset, 255.0))


def on_length_1(table: str, dataset: str, rule: str, on: str | None = None) -> dict[str, Any]:
    """The same row on activity that is scaled to length 1, sample by sample: its weights are `length` times smaller."""
    number = _numbers(table, dataset, rule)
    options = _plain(number, rule) | {"layer__output": OUTPUT}
    if rule == "inel":
        options["rule__beta"] = round(number["beta_2^M"] * lengths(table, dataset, rule)[on or dataset], 6)
    return options


def _numbers(table: str, dataset: str, rule: str) -> dict[str, float]:
    paper = paper_table(table)
    values = zip(paper.columns, paper.row(dataset=dataset, rule=rule).values, strict=True)
    return {column: numbers[0] for column, numbers in values if numbers is not None}


def _plain(number: Mapping[str, float], rule: str) -> dict[str, Any]:
    """What no reading changes."""
    return {
        "rule": rule,
        "n_hidden": int(number["N_H^F"]),
        "features": "sparse",
        "features__density": number["beta_1^F"],
        "features__inhibitory": number["beta_2^F"],
        "features__threshold": number["beta_3^F"],
        "layer": "plastic",
        "layer__learning_rate": number["gamma^M"],
        "layer__clamp": "off",
    }


UNIT = {"cifar10": 1.0, "cifar100": 1.0}
"""What the activity is counted in: images have pixels from 0 to 255 here and from 0 to 1 in the paper; a backbone's
features are as they are."""


def as_printed(options: Mapping[str, Any], window: float | None, length: float, unit: float) -> dict[str, Any]:
    """Options for the activity of the paper's equation, its own rate and window.

    x_o = g(W^T x_e / length^2), with length^2 the mean of |x_e|^2. Learned here is V = W / (unit length^2) on activity
    that is `unit` times the paper's, which is the same: V's rate is the published one over (unit length)^2, its window
    the published one times unit length^2.

    Args:
        options: the configuration on activity of length 1, with the published rate.
        window: INEL's published window.
        length: of the paper's activity.
        unit: of our inputs.
    """
    rate = float(f"{options['layer__learning_rate'] / (unit * length) ** 2:.6g}")
    printed = {**options, "unit_norm": False, "layer__learning_rate": rate, "layer__output": OUTPUT}
    if window is not None:
        printed["rule__beta"] = float(f"{window * unit * length**2:.6g}")
    return printed


def lengths(table: str, dataset: str, rule: str) -> dict[str, float]:
    """The length of the activity of a row of the paper, by the data set that it is run on."""
    return _toml("lengths.toml")[f"{table}/{dataset}/{rule}"]


def single(dataset: str, rule: str, on: str | None = None, length: float | None = None) -> dict[str, Any]:
    """The paper's configuration found on a data set as a single task."""
    return published("single_configurations", dataset, rule, on, length)


def optimised(dataset: str, on: str | None = None) -> dict[str, Any]:
    """The paper's configuration found class-incrementally."""
    return published("class_configurations", dataset, "inel", on)


@cache
def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))


def chosen(dataset: str, scenario: str) -> dict[str, Any] | None:
    """The options chosen here for a stream; None where there are none."""
    from kenyon.model.presets import load_preset

    preset = _toml("configurations.toml").get(f"{dataset}/{scenario}")
    return None if preset is None else dict(load_preset(preset).options)


# Footnotes of cells below the paper's number, or far above it.
AS_PRINTED = "As printed, nothing fitted; docs/reproduce.md says what else was tried."
FORGETS = (
    "Found on shuffled samples, it keeps the last task alone in a class-incremental stream, in the paper as here: one "
    "task of five is 20 %, one of ten 10 %."
)
FEATURES = (
    "Features of another network: EfficientNet-Lite0's of images of 128 pixels in place of wide-ResNet50's at a size "
    "that the paper does not state. What of the difference is theirs cannot be told without the paper's weights."
)


def why(scenario: str, carried: bool, colour: bool) -> tuple[str, str]:
    """The footnotes of a cell below the paper's number and of one far above it.

    Args:
        scenario: of the stream.
        carried: whether the configuration was found as a single task.
        colour: whether features of a backbone are learned.
    """
    below = FORGETS if carried and scenario == "class-incremental" else AS_PRINTED
    return below, f"{AS_PRINTED} {FEATURES}" if colour else AS_PRINTED
