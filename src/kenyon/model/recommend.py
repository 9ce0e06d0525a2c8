"""What `"auto"` means: one function from what is known of the samples and what is given to a `Spec`.

Where nothing but a memory budget and a shape are given, the budget is spent by the table below, which held-out training
samples of MNIST, Fashion-MNIST and CIFAR-10 were asked for (docs/results/bytes.md): windows before a second-order
layer, with as many units as fit, and fewer bits for an entry of the co-activity where there are few bytes. Whatever is
given explicitly stays as it is. Images in other numbers than bytes become bytes, each by its own range.

Float samples without a shape are rows of a table: a few numbers, each on a scale of its own. Where the features are
left open they are scaled on the fly, and where the rule is left open too, ramps go before a second-order layer
(docs/results/tables.md has what was compared).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from kenyon.errors import ConfigError, MemoryBudgetError, unknown
from kenyon.features import (
    Case,
    Dense,
    FeaturesPart,
    Identity,
    Patches,
    Ramps,
    Sparse,
    Windows,
    features_part,
    inputs_beside,
    layout_of,
)
from kenyon.layers import Counting, Diagonal, LayerPart, LocalError, Plastic, SecondOrder, hidden_part, layer_part
from kenyon.model.options import OPTIONS
from kenyon.model.recordings import front_options
from kenyon.model.spec import FEWEST_UNITS, Spec, units_within
from kenyon.rules import Rule, get_rule
from kenyon.utils.options import is_default

__all__ = ["recommend"]

MOST_INPUTS = 1 << 24
"""Widest sample: more than any camera has pixels, and what a model file may ask for."""

MOST_UNITS = 65_536
"""A memory budget is not spent beyond this many units: they would cost time and gain next to nothing."""

DESCRIPTION_BYTES, LABEL_BYTES = 384, 32
"""Bytes that a memory budget sets aside for the model's description, and for the name of each class expected."""

DEFAULT_UNITS = 11_000
SECOND_ORDER_UNITS = 1_000
"""Units where their number is left open: the co-activity of units grows with their square."""

RAMPS, RAMPS_FOR_EACH = 200, 6
"""Ramps of a table at least, and for each of its inputs; SECOND_ORDER_UNITS at most."""

MANY_INPUTS, WIDE = 256, SECOND_ORDER_UNITS
"""Tables with more inputs than the first have SECOND_ORDER_UNITS in all, inputs included where they are units; with
more than the second they have a diagonal layer on the inputs themselves."""

TABLE_UNITS = 2_000
LEAST_SIDE = 8
"""Colour images at least this wide and high have patches."""


def recommend(
    n_features: int,
    *,
    shape: Any = None,
    dtype: DTypeLike = np.uint8,
    memory_budget: int | str | None = None,
    n_classes: int = 10,
    **options: Any,
) -> Spec:
    """What `KenyonClassifier` makes of these options for samples of this width and type.

    Args:
        n_features: width of a sample.
        shape: shape of a sample, such as (28, 28).
        dtype: type of the samples: bytes, or any other number.
        memory_budget: most bytes of state.
        n_classes: how many classes the budget is divided among.
        options: other options of `KenyonClassifier`, which stay as they are.

    Returns:
        A `Spec`, which prints as the code that makes the model.

    Example:
        >>> recommend(784, shape=(28, 28), memory_budget="20KB").features.signs
        'oriented'
        >>> recommend(4, dtype=float)
        KenyonClassifier(features=Ramps(units=204), layer=SecondOrder(bits=32, arithmetic='float', prior='counts'), \
scale=True, unit_norm=False)
    """
    for name in options:
        if name not in OPTIONS:
            raise unknown("option", name, OPTIONS)
    given = {"shape": shape, "memory_budget": memory_budget, "expected_classes": n_classes, **options}
    params = {name: given.get(name, entry.default) for name, entry in OPTIONS.items()}
    return settle(params, n_features, 0, np.dtype(dtype) != np.uint8)


def settle(
    params: Mapping[str, Any],
    n_inputs: int,
    n_classes: int,
    floats: bool,
    description_bytes: int = 0,
    n_units: int | None = None,
) -> Spec:
    """Check every option, choose what is left open, and work out the sizes.

    Args:
        params: the classifier's parameters.
        n_inputs: width of a sample.
        n_classes: classes that are known to come.
        floats: whether the samples are numbers other than bytes.
        description_bytes: bytes of the state that are not arrays, where they are more than is set aside.
        n_units: the number of units, where it was settled before; None to work it out.
    """
    if n_inputs > MOST_INPUTS:
        raise ConfigError(f"a sample has {n_inputs:,} features: expected at most {MOST_INPUTS:,}")
    value = {name: entry.check(params[name]) for name, entry in OPTIONS.items()}
    if value["front"] is not None:
        value |= front_options(value, n_inputs)
    spec = _chosen(value, n_inputs, floats)
    expected, budget = max(value["expected_classes"], n_classes), spec.memory_budget
    aside = max(description_bytes, DESCRIPTION_BYTES) + LABEL_BYTES * expected
    if isinstance(spec.layer, Diagonal) and value["layer"] == "auto":
        few = budget is not None and spec.array_bytes(value["expected_classes"]) + aside > budget
        if few if n_units is None else n_units != n_inputs:
            spec = _chosen({**value, "layer": SecondOrder()}, n_inputs, floats)

    def bytes_with(units: int) -> int:
        return spec.with_units(units).array_bytes(expected) + aside

    if not hasattr(spec.features, "units"):
        bytes_with = lambda units: spec.array_bytes(expected) + aside  # noqa: E731
    elif n_units is not None:
        return spec.with_units(n_units)
    elif spec.features.units == "auto":
        usual = _usual_units(spec, _is_table(value, floats))
        spec = spec.with_units(usual if budget is None else _units_within(budget, bytes_with, spec, expected, usual))
    if budget is not None and n_units is None and bytes_with(spec.n_units) > budget:
        raise MemoryBudgetError(
            f"{spec.n_units} units and {expected} classes would take {bytes_with(spec.n_units):,} bytes: "
            f"the memory budget is {budget:,}. Lower n_hidden or expected_classes, or raise memory_budget."
        )
    return spec


def _is_table(value: Mapping[str, Any], floats: bool) -> bool:
    """Whether samples are rows of a table, for which the features are left open."""
    return floats and value["shape"] is None and value["features"] == "auto"


def _chosen(value: Mapping[str, Any], n_inputs: int, floats: bool) -> Spec:
    """The parts and how samples are taken, with nothing left open but the number of units."""
    table = _is_table(value, floats)
    features, layer, hidden = _parts(value, table, n_inputs)
    shape = _shape(value, features)
    second = isinstance(layer, SecondOrder)
    if isinstance(features, (Dense, Patches, Ramps)) and not second:
        raise ConfigError(
            f"features is {features.name!r} and layer is {layer.name!r}: expected layer='second-order' with it"
        )
    axes = None if value["axes"] == "auto" else value["axes"]
    layout = (
        None if shape is None or not isinstance(features, (Patches, Windows)) else layout_of(shape, axes, 0, n_inputs)
    )
    series = layout is not None and "t" in layout.axes
    scale = value["scale"]
    if scale == "auto":
        scaled = (table and not isinstance(layer, Diagonal)) or isinstance(features, Ramps) or (series and floats)
        scale = True if scaled else "range" if layout is not None and not series else False
    if scale == "range" and (layout is None or series):
        raise ConfigError("scale is 'range' and samples are not images: expected features='windows' with their shape")
    if isinstance(features, Patches) and scale is True:
        raise ConfigError("scale is True and features is 'patches': expected 'range' or 'auto' with images")
    case = Case(
        n_inputs=n_inputs,
        shape=shape,
        layout=layout,
        table=table,
        second_order=second,
        memory_budget=value["memory_budget"],
        features=features.name,
        scaled=scale is True,
        in_bytes=not floats or scale == "range",
    )
    features, layer = features.settled(case), layer.settled(case)
    integer = getattr(layer, "arithmetic", "float") == "integer"
    if isinstance(features, (Dense, Ramps)) and integer:
        raise ConfigError(
            f"features is {features.name!r} and arithmetic is 'integer': expected sparse, windows or identity"
        )
    if integer and scale is True:
        raise ConfigError("scale is True and arithmetic is 'integer': expected False, since scaled inputs are floats")
    if value["missing"] == "absent" and scale is not True:
        raise ConfigError("missing is 'absent' and inputs are not scaled: expected scale=True with it")
    if hidden is not None:
        _check_hidden(hidden, layer)
    return Spec(
        n_inputs=n_inputs,
        features=features,
        layer=layer,
        hidden=hidden,
        shape=shape,
        axes="auto" if layout is None else layout.axes,
        scale=scale,
        missing=value["missing"],
        unit_norm=_norm_by_default(layer) if value["unit_norm"] == "auto" else value["unit_norm"],
        memory_budget=value["memory_budget"],
        front=value["front"],
    )


def _norm_by_default(layer: LayerPart) -> bool:
    """Whether samples are scaled to length 1 where that is left open."""
    return not isinstance(layer, (Diagonal, SecondOrder))


def _parts(value: Mapping[str, Any], table: bool, n_inputs: int) -> tuple[FeaturesPart, LayerPart, LocalError | None]:
    """Which parts: those given, or the kinds that suit the samples, the rule and the budget."""
    hidden = None if value["hidden"] is None else hidden_part(value["hidden"])
    hidden = hidden if hidden is not None and hidden.widths else None
    rule: Rule | None = None if value["rule"] == "auto" else get_rule(value["rule"])
    layer = None if value["layer"] == "auto" else layer_part(value["layer"])
    free = layer is None and rule is None and hidden is None
    if table and free and n_inputs > WIDE and value["n_hidden"] == "auto" and value["missing"] != "absent":
        return Identity(), Diagonal(), None
    if value["features"] != "auto":
        features = features_part(value["features"])
    elif value["shape"] is not None:
        colour = free and value["memory_budget"] is not None and _is_colour(value)
        features = Patches() if colour else Windows()
    else:
        features = Ramps() if table and (free or isinstance(layer, SecondOrder)) else Sparse()
    if layer is None:
        budgeted = value["memory_budget"] is not None and (isinstance(features, Windows) or value["features"] == "auto")
        layer = SecondOrder() if free and (budgeted or isinstance(features, (Patches, Ramps))) else Plastic()
    if isinstance(layer, Plastic):
        own = None if layer.rule == "auto" else get_rule(layer.rule)
        if own is not None and rule is not None and own != rule:
            raise ConfigError(f"rule is {rule!r} and the layer's rule is {own!r}: expected one of them")
        layer = replace(layer, rule=own or rule or get_rule("gen"))
    elif rule is not None:
        raise ConfigError(f"rule is {rule!r} and layer is {layer!r}: expected layer='plastic' with a rule")
    units, n_hidden = getattr(features, "units", None), value["n_hidden"]
    if n_hidden != "auto" and units == "auto":
        features = replace(features, units=n_hidden)  # type: ignore[type-var]
    elif n_hidden not in ("auto", units):
        raise ConfigError(f"n_hidden is {n_hidden} and features is {features!r}: expected n_hidden='auto' with it")
    return features, layer, hidden


def _is_colour(value: Mapping[str, Any]) -> bool:
    """Whether samples are images of several channels, large enough for patches."""
    layout = layout_of(value["shape"], None if value["axes"] == "auto" else value["axes"], 0)
    return "h" in layout.axes and layout.channels > 1 and min(layout.height, layout.width) >= LEAST_SIDE


def _shape(value: Mapping[str, Any], features: FeaturesPart) -> tuple[int, ...] | None:
    """The shape of a sample: the classifier's, or that of the windows."""
    own: Any = getattr(features, "shape", "auto")
    if own != "auto" and value["shape"] not in (None, own):
        raise ConfigError(f"shape is {value['shape']} and that of the features is {own}: expected the same, or one")
    shape = value["shape"] if own == "auto" else own
    if isinstance(features, (Patches, Windows)) and shape is None:
        raise ConfigError(
            f"features is {features.name!r} and shape is None: expected the shape of a sample, such as (28, 28)"
        )
    return shape


def _usual_units(spec: Spec, table: bool) -> int:
    """Units where neither the user nor a memory budget says how many."""
    if not isinstance(spec.features, Ramps):
        second = isinstance(spec.layer, SecondOrder)
        return SECOND_ORDER_UNITS if second else TABLE_UNITS if table else DEFAULT_UNITS
    if spec.n_inputs > MANY_INPUTS:
        return SECOND_ORDER_UNITS
    ramps = usual_ramps(spec.n_inputs)
    return inputs_beside(spec.n_inputs, spec.n_inputs + ramps) + ramps


def usual_ramps(n_inputs: int) -> int:
    """Ramps of a table with a few samples (`growing.py` has those of many)."""
    return min(max(RAMPS, RAMPS_FOR_EACH * n_inputs), SECOND_ORDER_UNITS)


def _units_within(budget: int, bytes_with: Any, spec: Spec, expected: int, usual: int) -> int:
    """As many units as the budget holds: at least one for each class, where units are sparse."""
    fewest = FEWEST_UNITS if isinstance(spec.features, Dense) else max(FEWEST_UNITS, expected)
    if bytes_with(fewest) > budget:
        raise MemoryBudgetError(
            f"the memory budget is {budget:,} bytes: expected at least {bytes_with(fewest):,}, for {fewest} units. "
            "With fewer of them, or than there are classes, a model is of no use."
        )
    return units_within(fewest, usual if isinstance(spec.features, Ramps) else MOST_UNITS, budget, bytes_with)


def _check_hidden(hidden: LocalError, layer: LayerPart) -> None:
    """Refuse hidden layers below a rule that needs sparse activity."""
    if isinstance(layer, Plastic) and (rule := get_rule(layer.rule).plasticity).sparse:
        raise ConfigError(
            f"hidden is {hidden!r} and the rule is {rule!r}, which tells classes apart only while few units are "
            "active, and half of a hidden layer always is: expected hidden=None, or a rule such as 'mse'"
        )


OPEN = ("rule", "features", "layer", "n_hidden", "hidden", "shape", "unit_norm", "scale")
"""Options that are all at their defaults where nothing else is asked for."""


def for_sparse(params: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a model whose first samples are sparse: naive Bayes on the inputs, unless anything is given."""
    if any(not is_default(OPTIONS[name], params[name]) for name in OPEN):
        return params
    return {**params, "features": Identity(), "layer": Counting(readout="bayes", prior="counts")}
