"""What `"auto"` means: the kind of features and of layer, and the settings that go with them.

Where nothing but a memory budget and a shape are given, the budget is spent by the table below, which held-out training
samples of MNIST, Fashion-MNIST and CIFAR-10 were asked for (docs/memory.md): windows before a second-order layer, with
as many units as fit, and fewer bits for an entry of the co-activity where there are few bytes. Whatever is given
explicitly stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kenyon.errors import ConfigError
from kenyon.features import Layout, layout_of

THRESHOLD = 2.3
WINDOW_THRESHOLD = 1.6

BITS_OF_BUDGET = ((40_000, 16), (250_000, 24))
"""(most bytes, bits of an entry): the first row that holds the budget; above the last, 32, and the sums are exact."""

GREY, COLOUR = (6 / 28, 5 / 28, "oriented"), (4 / 32, 6 / 32, "random")
"""Windows of images before a second-order layer: window and shifts as a share of the shorter side, signs."""

LOCAL = (10 / 28, 2 / 28, "random")
"""Windows of images before a plastic layer, whose units compete by their best response."""

SERIES = (1 / 8, 1 / 8, "random")
"""Windows of series, as a share of their length."""


def resolved(values: Mapping[str, Any], default_rule: bool) -> dict[str, Any]:
    """Every option that depends on the kind of features and of layer.

    Args:
        values: the options, checked, some of them `"auto"`; `n_inputs` besides.
        default_rule: whether the rule was left at its default.
    """
    shape = values["shape"]
    features = values["features"]
    if features == "auto":
        features = "sparse" if shape is None else "windows"
    if features == "windows" and shape is None:
        raise ConfigError("features is 'windows' and shape is None: expected the shape of a sample, such as (28, 28)")
    layer = values["layer"]
    if layer == "auto":
        free = default_rule and features == "windows" and not values["hidden_layers"]
        free = free and values["memory_budget"] is not None and values["bits"] in ("auto", 16, 24, 32)
        layer = "second-order" if free else "plastic"
    second = layer == "second-order"
    if features == "dense" and not second:
        raise ConfigError(f"features is 'dense' and layer is {layer!r}: expected layer='second-order' with it")
    bits = values["bits"]
    if bits == "auto":
        bits = _bits(values["memory_budget"]) if second and features == "windows" else 32
    if layer == "plastic" and bits < 32:
        layer = "few-bit"
    more: dict[str, Any] = {"features": features, "layer": layer, "bits": bits}
    # whole numbers all the way: the activity before a layer that adds it up exactly, or in few bits
    whole = layer in ("second-order", "counting") and features == "windows"
    more["whole"] = whole or (second and features == "dense" and bits < 32)
    if values["unit_norm"] == "auto":
        more["unit_norm"] = not second
    if values["root"] == "auto":
        more["root"] = False
    if values["inhibitory"] == "auto":
        more["inhibitory"] = 0.5 if features == "windows" else 0.0
    if values["threshold"] == "auto":
        more["threshold"] = None if second else WINDOW_THRESHOLD if features == "windows" else THRESHOLD
    return more | (_windows(values, second) if features == "windows" else {})


def window_inputs(values: Mapping[str, Any]) -> int:
    """How many inputs a window holds, all channels included."""
    layout = _layout(values)
    height, width = layout.window(values["window"])
    return layout.channels * min(height, layout.height) * min(width, layout.width)


def _bits(budget: int | None) -> int:
    return next((bits for most, bits in BITS_OF_BUDGET if budget is not None and budget <= most), 32)


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
