"""From hyperparameters to an engine: every value is checked here, before anything is made."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from kenyon._engine import Engine
from kenyon.errors import ConfigError, MemoryBudgetError
from kenyon.features import Features, Identity, SparseProjection
from kenyon.layers import PlasticLayer, axis_sizes, bytes_of, declared_by
from kenyon.modulation import InverseTime, Moving, check_moving, clamp_bounds, local_of
from kenyon.options import OPTIONS, is_whole
from kenyon.rules import Rule, get_rule

DEFAULT_UNITS = 11_000
MOST_UNITS = 65_536
"""A memory budget is not spent beyond this many units: they would cost time and gain next to nothing."""

MOST_CONNECTIONS = 32
"""Inputs of a unit where the density is left open: more of them cost time and gain little."""

LABEL_ROOM = 32
"""Bytes set aside for the name of a class that is expected."""


@dataclass(frozen=True)
class Settings:
    """Hyperparameters with every `"auto"` and every share resolved."""

    rule: Rule
    rate: Moving
    clamp: float | None
    clamp_kind: str
    hidden: list[int]
    features: str
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
    value = {name: entry.check(params[name]) for name, entry in OPTIONS.items()}
    rule = get_rule(value["rule"])
    rate = _rate(value["learning_rate"], value["decay"], rule)
    clamp = rule.plasticity.clamp if value["clamp"] == "auto" else value["clamp"]
    clamp_bounds(clamp, value["clamp_kind"])
    expected = max(value["expected_classes"], n_classes)
    sparse, budget = value["features"] == "sparse", value["memory_budget"]
    declared = declared_by(rule, local_of(rate))

    def room_for(n_units: int) -> int:
        widths = [n_units, *value["hidden_layers"], expected]
        arrays = sum(bytes_of(declared, axis_sizes(a, b)) for a, b in pairwise(widths))
        return arrays + 16 + metadata_bytes + LABEL_ROOM * expected

    n_units = _units(value["n_hidden"], budget, room_for) if sparse else n_inputs
    if budget is not None and room_for(n_units) > budget:
        raise MemoryBudgetError(
            f"{n_units} units and {expected} classes would take {room_for(n_units):,} bytes: the memory budget is "
            f"{budget:,}. Lower n_hidden or expected_classes, or raise memory_budget."
        )
    return Settings(
        rule=rule,
        rate=rate,
        clamp=clamp,
        clamp_kind=value["clamp_kind"],
        hidden=value["hidden_layers"],
        features=value["features"],
        n_units=n_units,
        n_connections=_connections(value["density"], n_inputs) if sparse else 0,
        inhibitory=value["inhibitory"],
        threshold=value["threshold"],
        unit_norm=value["unit_norm"],
        n_threads=_threads(value["n_jobs"]),
    )


def build_engine(settings: Settings, n_inputs: int, seed: int, params: Mapping[str, Any]) -> Engine:
    """An engine that has learned nothing.

    Args:
        settings: what `params` were settled to.
        params: the classifier's parameters, kept for the model's file.
    """
    features: Features = Identity(n_inputs, unit_norm=settings.unit_norm)
    if settings.features == "sparse":
        features = SparseProjection(
            n_inputs,
            settings.n_units,
            settings.n_connections,
            inhibitory=settings.inhibitory,
            threshold=settings.threshold,
            unit_norm=settings.unit_norm,
            seed=seed,
        )
    rule, bounds, local = settings.rule, clamp_bounds(settings.clamp, settings.clamp_kind), local_of(settings.rate)
    inputs = [features.n_outputs, *settings.hidden]
    layers = [
        PlasticLayer(n_units, rule, bounds, width, seed + number + 1, local)
        for number, (n_units, width) in enumerate(zip(inputs, [*settings.hidden, 0], strict=True))
    ]
    moving = [settings.rate, 0.0 if rule.window is None else rule.window, *rule.plasticity.parameters.values()]
    return Engine(features, layers, moving, n_inputs, settings.unit_norm, seed, settings.n_threads, params)


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


def _units(n_hidden: Any, budget: int | None, room_for: Callable[[int], int]) -> int:
    if n_hidden != "auto":
        return n_hidden
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
    if density == "auto":
        return max(1, min(MOST_CONNECTIONS, n_inputs // 4))
    if isinstance(density, int):
        if density > n_inputs:
            raise ConfigError(f"density is {density}: expected a count of inputs from 1 to {n_inputs}")
        return density
    return max(1, round(density * n_inputs))


def _threads(n_jobs: int | None) -> int:
    """Threads of an `n_jobs`: None is one, -1 all processors, -2 all but one, and so on."""
    if n_jobs is None:
        return 1
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)


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
    """Refuse new classes that would not fit."""
    most = OPTIONS["memory_budget"].check(budget)
    if most is not None and needed > most:
        raise MemoryBudgetError(
            f"{len(new)} more class(es), {', '.join(map(repr, new[:5]))}, would make the state {needed:,} bytes: "
            f"expected at most {most:,}, the memory budget. Raise memory_budget or expected_classes."
        )
