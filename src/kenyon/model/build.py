"""From hyperparameters to an engine: every value is checked here, before anything is made."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from kenyon.errors import ConfigError, MemoryBudgetError
from kenyon.features import FEATURES, ramp_sizes
from kenyon.layers import LAYERS, Declared, Layer, LocalErrorLayer, axis_sizes, bytes_of, layer_class
from kenyon.model.auto import make_scaler, resolved, window_inputs
from kenyon.model.calibration import Calibration
from kenyon.model.engine import Engine
from kenyon.model.recordings import front_options
from kenyon.model.sparse import for_sparse
from kenyon.rules import Rule, get_rule
from kenyon.utils.kinds import is_whole
from kenyon.utils.modulation import InverseTime, Moving, check_moving, clamp_bounds
from kenyon.utils.options import OPTIONS

OF_RULE = ("learning_rate", "decay", "clamp", "clamp_kind", "initial_weight")
"""Options that only a rule has a use for: who sets one wants a rule."""

MOST_INPUTS = 1 << 24
"""Widest sample: more than any camera has pixels, and what a model file may ask for."""

MOST_UNITS = 65_536
"""A memory budget is not spent beyond this many units: they would cost time and gain next to nothing."""

MOST_CONNECTIONS = 32
WINDOW_CONNECTIONS = 16
"""Inputs of a unit where the density is left open: more of them cost time and gain little."""

FEWEST_UNITS = 16
"""A memory budget with room for fewer units is refused."""

LABEL_ROOM = 32
"""Bytes set aside for the name of a class that is expected."""

Settings = Mapping[str, Any]
"""Every option by name, checked, with every `"auto"` and every share resolved; `n_connections`, `n_inputs` and
`n_threads` besides."""


def settle(
    params: Mapping[str, Any],
    n_inputs: int,
    n_classes: int,
    metadata_bytes: int,
    n_units: int | None = None,
    floats: bool = False,
    in_bytes: bool = True,
) -> Settings:
    """Check every hyperparameter and work out the sizes.

    Args:
        params: the classifier's parameters.
        n_inputs: width of a sample.
        n_classes: classes that are known to come.
        metadata_bytes: bytes of the state that are not arrays, for the memory budget.
        n_units: the number of units, where it was settled before; None to work it out.
        floats: whether the first samples were numbers other than bytes.
        in_bytes: whether the samples are bytes, where the arithmetic is still to be chosen.
    """
    if n_inputs > MOST_INPUTS:
        raise ConfigError(f"a sample has {n_inputs:,} features: expected at most {MOST_INPUTS:,}")
    value = {name: entry.check(params[name]) for name, entry in OPTIONS.items()}
    value |= front_options(value, n_inputs)
    value["rule"] = rule = get_rule(value["rule"])
    open_rule = rule == get_rule(OPTIONS["rule"].default)
    untouched = open_rule and all(value[name] == OPTIONS[name].default for name in OF_RULE)
    value["learning_rate"] = _rate(value["learning_rate"], value["decay"], rule)
    if value["clamp"] == "auto":
        value["clamp"] = rule.plasticity.clamp
    clamp_bounds(value["clamp"], value["clamp_kind"])
    value["n_inputs"], value["in_bytes"] = n_inputs, in_bytes
    value["n_threads"] = _threads(value["n_jobs"])
    value["floats"] = floats
    value |= resolved(value, default_rule=open_rule, untouched=untouched)
    if value["initial_weight"] != "auto" and value["layer"] in set(LAYERS) - {"plastic"}:
        raise ConfigError(
            f"initial_weight is {value['initial_weight']!r} and the layer is {value['layer']}: expected 'auto', since "
            "only float32 synapses begin anywhere but at zero"
        )
    if value["hidden_signal"] == "auto":  # a layer from outside the package has its own hidden layers
        value["hidden_signal"] = "errors" if value["layer"] in LAYERS else "codes"
    value["n_connections"] = _connections(value)
    expected, budget = max(value["expected_classes"], n_classes), value["memory_budget"]
    if value["features"] == "identity":
        n_units = n_inputs
    elif n_units is not None:
        return {**value, "n_hidden": n_units}

    def room_for(n_units: int) -> int:
        kept = declarations({**value, "n_hidden": n_units}, expected)
        arrays = sum(bytes_of(declared, sizes) for declared, sizes in kept)
        moments = make_scaler({**value, "n_hidden": n_units}).state_bytes if value["scale"] else 0
        predicted = Calibration(n_units).state_bytes_with(expected) if calibrates(value) else 0
        return arrays + 16 + metadata_bytes + LABEL_ROOM * expected + moments + predicted

    value["n_hidden"] = _units(value, budget, room_for, _fewest(value, expected)) if n_units is None else n_units
    if budget is not None and room_for(value["n_hidden"]) > budget:
        raise MemoryBudgetError(
            f"{value['n_hidden']} units and {expected} classes would take {room_for(value['n_hidden']):,} bytes: "
            f"the memory budget is {budget:,}. Lower n_hidden or expected_classes, or raise memory_budget."
        )
    return value


def declarations(settings: Settings, n_classes: int) -> list[tuple[tuple[Declared, ...], dict[str, int]]]:
    """What each layer keeps, hidden layers first, with the sizes of its axes."""
    widths = [settings["n_hidden"], *settings["hidden_layers"], n_classes]
    sizes = [axis_sizes(units, neurons) for units, neurons in pairwise(widths)]
    return [(kind.declare(settings), own) for kind, own in zip(_kinds(settings), sizes, strict=True)]


def _kinds(settings: Settings) -> list[type[Layer]]:
    """The kind of each layer, hidden layers first."""
    output = layer_class(settings["layer"])
    by_errors = settings["hidden_signal"] == "errors" and settings["layer"] in ("plastic", "few-bit")
    return [LocalErrorLayer if by_errors else output] * len(settings["hidden_layers"]) + [output]


def build_engine(settings: Settings, n_inputs: int, seed: int, params: Mapping[str, Any]) -> Engine:
    """An engine that has learned nothing.

    Args:
        settings: what `params` were settled to.
        params: the classifier's parameters, kept for the model's file.
    """
    features = FEATURES[settings["features"]].build(seed, settings)
    rule, hidden = settings["rule"], settings["hidden_layers"]
    widths = zip(_kinds(settings), [features.n_outputs, *hidden], [*hidden, 0], strict=True)
    layers: list[Layer] = [
        kind.build(n_units, width, seed + number + 1, settings) for number, (kind, n_units, width) in enumerate(widths)
    ]
    window = 0.0 if rule.window is None else rule.window
    moving = [settings["learning_rate"], window, *rule.plasticity.parameters.values()]
    scaler = make_scaler(settings) if settings["scale"] else None
    calibration = Calibration(features.n_outputs) if calibrates(settings) else None
    fixed = (n_inputs, settings["unit_norm"], seed, settings["n_threads"], params)
    return Engine(features, layers, moving, *fixed, scaler=scaler, calibration=calibration)


def calibrates(settings: Settings) -> bool:
    """Whether samples are predicted before they are learned: tables, whose readout is solved in a moment."""
    return settings["features"] == "ramps" and settings["layer"] == "second-order"


def _rate(rate: Any, decay: float, rule: Rule) -> Moving:
    """The learning rate as it moves with time."""
    if isinstance(rate, str):
        rate = rule.plasticity.learning_rate
        check_moving("learning_rate", rate, OPTIONS["learning_rate"].low or 0.0, OPTIONS["learning_rate"].high or 0.0)
    if not decay:
        return rate
    if callable(rate):
        raise ConfigError(f"decay is {decay!r} and learning_rate is {rate!r}: expected decay with a plain number only")
    return InverseTime(float(rate), decay)


def _fewest(value: Mapping[str, Any], expected: int) -> int:
    """The fewest units that are of use: one per class, where units are sparse."""
    return FEWEST_UNITS if value["features"] == "dense" else max(FEWEST_UNITS, expected)


def _units(value: Mapping[str, Any], budget: int | None, room_for: Callable[[int], int], fewest: int) -> int:
    if value["n_hidden"] != "auto":
        return value["n_hidden"]
    if budget is None:
        return value["usual_units"]
    if room_for(fewest) > budget:
        raise MemoryBudgetError(
            f"the memory budget is {budget:,} bytes: expected at least {room_for(fewest):,}, for {fewest} units. "
            "With fewer of them, or than there are classes, a model is of no use."
        )
    lowest, highest = fewest, value["usual_units"] if value["features"] == "ramps" else MOST_UNITS
    while lowest < highest:  # the state grows with the units, whatever the layer
        middle = (lowest + highest + 1) // 2
        lowest, highest = (middle, highest) if room_for(middle) <= budget else (lowest, middle - 1)
    return lowest


def _connections(value: Mapping[str, Any]) -> int:
    """K from a count (int), a share of the inputs that a unit can reach (float), or `"auto"`."""
    density, windowed = value["density"], value["features"] == "windows"
    reach = window_inputs(value) if windowed else value["n_inputs"]
    if density == "auto" and value["features"] == "ramps":
        return ramp_sizes(reach)[-1]
    if density == "auto":
        share = 2 if value["table"] else 4
        return min(WINDOW_CONNECTIONS, reach) if windowed else max(1, min(MOST_CONNECTIONS, reach // share))
    if isinstance(density, int):
        if density > reach:
            raise ConfigError(f"density is {density}: expected a count of inputs from 1 to {reach}")
        return density
    return max(1, round(density * reach))


def _threads(n_jobs: int | None) -> int:
    """Threads of an `n_jobs`: None is one, -1 all processors, -2 all but one, and so on."""
    if n_jobs is None:
        return 1
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)


def kept_params(
    params: Mapping[str, Any], n_inputs: int, n_classes: int, floats: bool, in_bytes: bool, sparse: bool = False
) -> dict[str, Any]:
    """The parameters a new model is kept with: whole numbers, and what its hidden layers learn from, stay once chosen.

    Refuses hidden layers below a rule that needs sparse activity, which files of earlier versions may have.
    """
    kept = for_sparse(dict(params)) if sparse else dict(params)
    settled = settle(kept, n_inputs, n_classes, 0, floats=floats, in_bytes=in_bytes)
    if settled["arithmetic"] == "integer":
        kept["arithmetic"] = "integer"
    if settled["hidden_layers"] and settled["layer"] in LAYERS:
        kept["hidden_signal"] = settled["hidden_signal"]
    check_hidden(settled)
    return kept


def check_hidden(settings: Settings) -> None:
    """Refuse hidden layers below a rule that needs sparse activity."""
    rule, hidden = settings["rule"].plasticity, settings["hidden_layers"]
    if hidden and rule.sparse:
        raise ConfigError(
            f"hidden_layers is {tuple(hidden)!r} and the rule is {rule!r}, which tells classes apart only while few "
            "units are active, and half of a hidden layer always is: expected hidden_layers=(), or a rule such as 'mse'"
        )


def seed_of(random_state: Any) -> int:
    """The seed itself where it is a number, else one drawn from the generator."""
    if is_whole(random_state) and 0 <= random_state < 1 << 32:
        return int(random_state)
    if random_state is None:
        random_state = np.random.mtrand._rand  # NumPy's own, as everywhere in scikit-learn
    if not isinstance(random_state, np.random.RandomState):
        raise OPTIONS["random_state"].refuse(random_state)
    return int(random_state.randint(2**31 - 1))


def check_budget(budget: int | str | None, needed: int, new: Sequence[Hashable]) -> None:
    """Refuse new classes that would not fit, or sums that became wider where there are none."""
    most = OPTIONS["memory_budget"].check(budget)
    if most is not None and needed > most and not new:
        raise MemoryBudgetError(
            f"these samples would make the state {needed:,} bytes, since its sums have outgrown 32 bits: "
            f"expected at most {most:,}, the memory budget"
        )
    if most is not None and needed > most:
        raise MemoryBudgetError(
            f"{len(new)} more class(es), {', '.join(map(repr, new[:5]))}, would make the state {needed:,} bytes: "
            f"expected at most {most:,}, the memory budget. Raise memory_budget or expected_classes."
        )
