"""From hyperparameters to an engine: every value is checked here, before anything is made."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from kenyon._engine import Engine
from kenyon._size import parse_size
from kenyon.errors import ConfigError, MemoryBudgetError, unknown
from kenyon.features import Features, Identity, SparseProjection
from kenyon.modulation import Moving, check_moving, clamp_bounds
from kenyon.rules import Rule, get_rule

DEFAULT_UNITS = 11_000
MOST_UNITS = 65_536
"""A memory budget is not spent beyond this many units: they would cost time and gain next to nothing."""

MOST_RATE = 100.0
"""No rule is stable at a higher rate, and one step from bounded activity stays within float32."""

MOST_CONNECTIONS = 32
"""Inputs of a unit where the density is left open: more of them cost time and gain little."""

LABEL_ROOM = 32
"""Bytes set aside for the name of a class that is expected."""

FEATURES = ("sparse", "identity")


@dataclass(frozen=True)
class Settings:
    """Hyperparameters with every `"auto"` and every share resolved."""

    rule: Rule
    rate: Moving
    clamp: float | None
    clamp_kind: str
    hidden: list[int]
    sparse: bool
    n_units: int
    n_connections: int
    inhibitory: float
    threshold: float | None
    unit_norm: bool
    n_threads: int


def settle(params: Mapping[str, Any], n_inputs: int, n_classes: int, metadata_bytes: int) -> Settings:
    """Check every hyperparameter and work out the sizes.

    Args:
        params: the classifier's parameters.
        n_inputs: width of a sample.
        n_classes: classes that are known to come.
        metadata_bytes: bytes of the state that are not arrays, for the memory budget.
    """
    rule = get_rule(params["rule"])
    rate = rule.plasticity.learning_rate if _is_auto(params["learning_rate"]) else params["learning_rate"]
    check_moving("learning_rate", rate, 0.0, MOST_RATE)
    clamp = rule.plasticity.clamp if _is_auto(params["clamp"]) else params["clamp"]
    clamp_bounds(clamp, params["clamp_kind"])
    hidden = _whole_numbers("hidden_layers", params["hidden_layers"])
    expected = max(_whole_number("expected_classes", params["expected_classes"]), n_classes)
    budget = None if params["memory_budget"] is None else parse_size(params["memory_budget"])
    if params["features"] not in FEATURES:
        raise unknown("features", params["features"], FEATURES)
    sparse = params["features"] == "sparse"

    def room_for(n_units: int) -> int:
        widths = [n_units, *hidden, expected]
        weights = sum(4 * a * b for a, b in pairwise(widths))
        sums = 8 * sum(widths[1:]) if rule.window is not None else 0
        return weights + sums + 16 + metadata_bytes + LABEL_ROOM * expected

    n_units = _units(params["n_hidden"], budget, room_for) if sparse else n_inputs
    if budget is not None and room_for(n_units) > budget:
        raise MemoryBudgetError(
            f"{n_units} units and {expected} classes would take {room_for(n_units):,} bytes: the memory budget is "
            f"{budget:,}. Lower n_hidden or expected_classes, or raise memory_budget."
        )
    return Settings(
        rule=rule,
        rate=rate,
        clamp=clamp,
        clamp_kind=params["clamp_kind"],
        hidden=hidden,
        sparse=sparse,
        n_units=n_units,
        n_connections=_connections(params["density"], n_inputs) if sparse else 0,
        inhibitory=_number("inhibitory", params["inhibitory"], 0.0, 1.0),
        threshold=None if params["threshold"] is None else _number("threshold", params["threshold"], -100, 100),
        unit_norm=_flag("unit_norm", params["unit_norm"]),
        n_threads=_threads(params["n_jobs"]),
    )


def build_engine(settings: Settings, n_inputs: int, seed: int, params: Mapping[str, Any]) -> Engine:
    """An engine that has learned nothing.

    Args:
        settings: what `params` were settled to.
        params: the classifier's parameters, kept for the model's file.
    """
    features: Features = Identity(n_inputs, unit_norm=settings.unit_norm)
    if settings.sparse:
        features = SparseProjection(
            n_inputs,
            settings.n_units,
            settings.n_connections,
            inhibitory=settings.inhibitory,
            threshold=settings.threshold,
            unit_norm=settings.unit_norm,
            seed=seed,
        )
    return Engine(
        features,
        n_inputs,
        settings.rule,
        settings.hidden,
        settings.rate,
        settings.clamp,
        settings.clamp_kind,
        settings.unit_norm,
        seed,
        settings.n_threads,
        params,
    )


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _units(n_hidden: Any, budget: int | None, room_for: Any) -> int:
    if not _is_auto(n_hidden):
        return _whole_number("n_hidden", n_hidden, "a whole number, at least 1, or 'auto'")
    if budget is None:
        return DEFAULT_UNITS
    fixed = room_for(0)
    each = room_for(1) - fixed
    units = (budget - fixed) // each
    if units < 1:
        raise MemoryBudgetError(
            f"the memory budget is {budget:,} bytes: expected at least {fixed + each:,}, which one unit takes"
        )
    return min(units, MOST_UNITS)


def _connections(density: Any, n_inputs: int) -> int:
    """K from a count (int), a share of the inputs (float), or `"auto"`."""
    if _is_auto(density):
        return max(1, min(MOST_CONNECTIONS, n_inputs // 4))
    if isinstance(density, (int, np.integer)) and not isinstance(density, bool):
        if not 1 <= density <= n_inputs:
            raise ConfigError(f"density is {density}: expected a count of inputs from 1 to {n_inputs}")
        return int(density)
    share = _number("density", density, 0.0, 1.0)
    if share == 0:
        raise ConfigError("density is 0.0: expected a share above 0, or a count of inputs")
    return max(1, round(share * n_inputs))


def _number(name: str, value: Any, lowest: float, highest: float) -> float:
    real = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not real or not lowest <= value <= highest:
        raise ConfigError(f"{name} is {value!r}: expected a number from {lowest:g} to {highest:g}")
    return float(value)


def _whole_number(name: str, value: Any, wanted: str = "a whole number, at least 1", lowest: int = 1) -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < lowest:
        raise ConfigError(f"{name} is {value!r}: expected {wanted}")
    return int(value)


def _whole_numbers(name: str, value: Any) -> list[int]:
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        raise ConfigError(f"{name} is {value!r}: expected a list of widths, such as (500,)")
    return [_whole_number(name, item, "widths that are whole numbers, at least 2", 2) for item in value]


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise ConfigError(f"{name} is {value!r}: expected True or False")
    return bool(value)


def _threads(n_jobs: Any) -> int:
    """Threads of an `n_jobs`: None is one, -1 all processors, -2 all but one, and so on."""
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, (int, np.integer)) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ConfigError(f"n_jobs is {n_jobs!r}: expected a number of threads, -1 for all, or None for one")
    return int(n_jobs) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))


def seed_of(random_state: Any) -> int:
    """The seed itself where it is a number, else one drawn from the generator."""
    try:
        drawn = int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise ConfigError(
            f"random_state is {random_state!r}: expected a whole number from 0 to {2**32 - 1}, a RandomState, or None"
        ) from error
    return int(random_state) if isinstance(random_state, (int, np.integer)) else drawn


def check_budget(budget: int | str | None, needed: int, new: Sequence[Hashable]) -> None:
    """Refuse new classes that would not fit."""
    if budget is not None and needed > parse_size(budget):
        raise MemoryBudgetError(
            f"{len(new)} more class(es), {', '.join(map(repr, new[:5]))}, would make the state {needed:,} bytes: "
            f"expected at most {parse_size(budget):,}, the memory budget. Raise memory_budget or expected_classes."
        )
