"""What `"auto"` means: the kind of features and of layer, and the settings that go with them.

Where nothing but a memory budget and a shape are given, the budget is spent by the table below, which held-out training
samples of MNIST, Fashion-MNIST and CIFAR-10 were asked for (docs/memory.md): windows before a second-order layer, with
as many units as fit, and fewer bits for an entry of the co-activity where there are few bytes. Whatever is given
explicitly stays as it is. Images in other numbers than bytes become bytes, each by its own range.

Float samples without a shape are rows of a table: a few numbers, each on a scale of its own. Where features and
threshold are left open they are scaled on the fly, and where the rule is left open too, ramps go before a second-order
layer (docs/defaults.md has what was compared). As soon as the threshold is set, the projection is the user's, as it is
for bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kenyon.errors import ConfigError
from kenyon.features import Layout, inputs_beside, layout_of
from kenyon.model.scale import Scaler
from kenyon.model.units import Units

DEFAULT_UNITS = 11_000
SECOND_ORDER_UNITS = 1_000
"""Units where nobody says how many: the co-activity of units grows with their square."""

RAMPS, RAMPS_FOR_EACH = 200, 6
"""Ramps of a table at least, and for each of its inputs; SECOND_ORDER_UNITS at most."""

TABLE_UNITS = 2_000
TABLE_THRESHOLD = 1.0
"""Before a rule: few inputs are told apart by units that see half of them, of both signs."""

SERIES_UNIT = 0.25
"""What a deviation of a series becomes, for windows that expect numbers from 0 to 1."""

THRESHOLD = 2.3
WINDOW_THRESHOLD = 1.6

BITS_OF_BUDGET = ((40_000, 16), (250_000, 24))
"""(most bytes, bits of an entry): the first row that holds the budget; above the last, 32, and the sums are exact."""

WHOLE_BITS, WHOLE_BUDGET_BITS = 8, 4
"""Bits of a rule's weights in whole numbers; with a memory budget more units are worth more than more bits."""

GREY, COLOUR = (6 / 28, 5 / 28, "oriented"), (4 / 32, 6 / 32, "random")
"""Windows of images before a second-order layer: window and shifts as a share of the shorter side, signs."""

LOCAL = (10 / 28, 2 / 28, "random")
"""Windows of images before a plastic layer, whose units compete by their best response."""

SERIES = (1 / 8, 1 / 8, "random")
"""Windows of series, as a share of their length."""


def resolved(values: Mapping[str, Any], default_rule: bool, untouched: bool) -> dict[str, Any]:
    """Every option that depends on the kind of features and of layer.

    Args:
        values: the options, checked, some of them `"auto"`; `n_inputs`, `floats` and `in_bytes` besides, the last two
            of which say what the samples are.
        default_rule: whether the rule was left at its default.
        untouched: whether everything that has to do with a rule was.
    """
    shape = values["shape"]
    features = values["features"]
    table = values["floats"] and shape is None and features == "auto" and values["threshold"] == "auto"
    if features == "auto":
        features = "windows" if shape is not None else "ramps" if table and _for_ramps(values, untouched) else "sparse"
    if features == "windows" and shape is None:
        raise ConfigError("features is 'windows' and shape is None: expected the shape of a sample, such as (28, 28)")
    layer = values["layer"]
    if layer == "auto":
        free = default_rule and features == "windows" and not values["hidden_layers"]
        free = free and values["memory_budget"] is not None and values["bits"] in ("auto", 16, 24, 32)
        layer = "second-order" if free or features == "ramps" else "plastic"
    second = layer == "second-order"
    if values["readout"] == "bayes" and layer != "counting":
        raise ConfigError(f"readout is 'bayes' and layer is {layer!r}: expected layer='counting' with it")
    if features in ("dense", "ramps") and not second:
        raise ConfigError(f"features is {features!r} and layer is {layer!r}: expected layer='second-order' with it")
    if features in ("dense", "ramps") and values["arithmetic"] == "integer":
        raise ConfigError(f"features is {features!r} and arithmetic is 'integer': expected sparse, windows or identity")
    bits = values["bits"]
    if bits == "auto":
        free = second or layer == "plastic"
        bits = _bits(values["memory_budget"], values["arithmetic"], second, features) if free else 32
    own_range = features == "windows" and values["scale"] == "auto" and "t" not in _layout(values).axes
    values = {**values, "in_bytes": values["in_bytes"] or own_range}
    integer = values["arithmetic"] == "integer" or (values["arithmetic"] == "auto" and _suits(values, second, bits))
    if layer == "plastic" and bits < 32:
        layer = "few-bit"
    if integer and values["memory"] is not None:
        raise ConfigError(f"memory is {values['memory']!r} and arithmetic is 'integer': expected None with it")
    if integer and values["scale"] is True:
        raise ConfigError("scale is True and arithmetic is 'integer': expected False, since scaled inputs are floats")
    if integer and layer == "plastic":
        raise ConfigError(f"bits is {bits} and arithmetic is 'integer': expected bits=8, 4, 3 or 2 with it")
    more: dict[str, Any] = {"features": features, "layer": layer, "bits": bits, "table": table, "floats": table}
    more["own_range"] = own_range
    more["usual_units"] = usual_units(values["n_inputs"], features, second, table)
    more["arithmetic"] = "integer" if integer else "float"
    # activity in bytes: also that before a layer that adds it up exactly, or in few bits, with floats besides
    whole = layer in ("second-order", "counting") and features == "windows"
    more["whole"] = integer or whole or (second and features == "dense" and bits < 32)
    if values["unit_norm"] == "auto":
        more["unit_norm"] = not second
    if values["root"] == "auto":
        more["root"] = False
    if values["inhibitory"] == "auto":
        more["inhibitory"] = 0.5 if features in ("windows", "ramps") or table else 0.0
    if values["threshold"] == "auto":
        usual = TABLE_THRESHOLD if table else WINDOW_THRESHOLD if features == "windows" else THRESHOLD
        more["threshold"] = None if second else usual
    if values["prior"] == "auto":
        more["prior"] = "counts" if features == "ramps" else "equal"
    more |= _windows(values, second) if features == "windows" else {}
    if values["scale"] == "auto":
        series = features == "windows" and values["floats"] and "t" in more["axes"]
        more["scale"] = table or features == "ramps" or series
        more["floats"] = table or series  # what a model's file must say, for the same defaults
    if values["memory"] is not None and layer not in ("second-order", "counting"):
        raise ConfigError(f"memory is {values['memory']} and layer is {layer!r}: expected 'second-order' or 'counting'")
    if values["missing"] == "absent" and not {**values, **more}["scale"]:
        raise ConfigError("missing is 'absent' and inputs are not scaled: expected scale=True with it")
    return more


def make_scaler(settings: Mapping[str, Any]) -> Scaler | Units:
    """What scales the inputs: each by itself, or a series by its channels.

    Sums of ramps can be re-expressed in other units where the inputs stand beside them."""
    ramps = settings["features"] == "ramps" and settings["memory"] is None
    if ramps and inputs_beside(settings["n_inputs"], settings["n_hidden"]):
        return Units(settings["n_inputs"])
    if settings["features"] != "windows":
        return Scaler(np.arange(settings["n_inputs"]), memory=settings["memory"])
    layout = _layout(settings)
    channels = layout.places() // (layout.height * layout.width)
    return Scaler(channels.astype(np.int64), SERIES_UNIT, settings["memory"])


def _for_ramps(values: Mapping[str, Any], untouched: bool) -> bool:
    """Whether the layer is left open, or is the one that ramps go with."""
    if values["layer"] == "auto":
        return untouched and not values["hidden_layers"] and values["bits"] in ("auto", 32)
    return values["layer"] == "second-order"


def usual_units(n_inputs: int, features: str, second: bool, table: bool) -> int:
    """Units where neither the user nor a memory budget says how many."""
    if features != "ramps":
        return SECOND_ORDER_UNITS if second else TABLE_UNITS if table else DEFAULT_UNITS
    ramps = min(max(RAMPS, RAMPS_FOR_EACH * n_inputs), SECOND_ORDER_UNITS)
    return inputs_beside(n_inputs, n_inputs + ramps) + ramps


def window_inputs(values: Mapping[str, Any]) -> int:
    """How many inputs a window holds, all channels included."""
    layout = _layout(values)
    height, width = layout.window(values["window"])
    return layout.channels * min(height, layout.height) * min(width, layout.width)


def _bits(budget: int | None, arithmetic: str, second: bool, features: str) -> int:
    """Bits where they are left open: those of the budget, and few enough for whole numbers where they are wanted."""
    if arithmetic == "integer" and not second:
        return WHOLE_BITS if budget is None else WHOLE_BUDGET_BITS
    if not second or (features != "windows" and arithmetic != "integer"):
        return 32
    bits = next((bits for most, bits in BITS_OF_BUDGET if budget is not None and budget <= most), 32)
    return min(bits, BITS_OF_BUDGET[-1][1]) if arithmetic == "integer" else bits


def _suits(values: Mapping[str, Any], second: bool, bits: int) -> bool:
    """Whether whole numbers are chosen: a budget chose few bits, samples are bytes, and the readout can be solved."""
    chosen = second and bits < 32 and values["bits"] == "auto" and values["memory_budget"] is not None
    plain = values["readout"] == "discriminant" and values["shrinkage"] != "auto" and values["prior"] != "counts"
    return chosen and values["in_bytes"] and plain and values["scale"] is not True and values["memory"] is None


def _layout(values: Mapping[str, Any]) -> Layout:
    axes = None if values["axes"] == "auto" else values["axes"]
    return layout_of(values["shape"], axes, 0, values["n_inputs"])


def _windows(values: Mapping[str, Any], second: bool) -> dict[str, Any]:
    """Window, shifts and how a unit answers, for this shape."""
    layout = _layout(values)
    series = "t" in layout.axes
    window, shifts, signs = SERIES if series else LOCAL if not second else COLOUR if layout.channels > 1 else GREY
    side = layout.width if series else min(layout.height, layout.width)
    chosen: dict[str, Any] = {
        "window": max(min(2, side), round(side * window)),
        "shifts": max(1 if side > 2 else 0, round(side * shifts)),
        "pooling": "sum" if second else "max",
        "signs": signs,
    }
    given = {name: values[name] for name in chosen if values[name] != "auto"}
    both = {**chosen, **given, "axes": layout.axes}
    root = second and both["pooling"] == "sum" if values["root"] == "auto" else values["root"]
    return {**both, "root": root}
