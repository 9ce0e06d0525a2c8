"""Whether two models may be merged: the same parameters, seed and samples, or an error that says what differs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kenyon.errors import MergeError
from kenyon.model.fitted import Core
from kenyon.model.labels import label_kind
from kenyon.rules import get_rule
from kenyon.utils.options import OPTIONS

FREE = ("class_weight", "epochs", "n_jobs", "random_state", "unlabelled")
"""Parameters that say nothing about the state: the seed is compared as it was drawn."""


def check_alike(first: Core, second: Core) -> None:
    """Refuse models that do not add up, naming everything in which they differ."""
    here, there = first.engine, second.engine
    differences = [
        *_parameters(here.params, there.params),
        *_named("seed", here.seed, there.seed),
        *_named("samples have a width of", here.n_inputs, there.n_inputs),
        *_named("features are called", _names(first), _names(second)),
        *_named("units", here.layers[-1].n_inputs, there.layers[-1].n_inputs),
        *_named("labels are of the kind", _kind(first), _kind(second)),
        *_named("inputs are scaled", here.scaler is not None, there.scaler is not None),
    ]
    if differences:
        raise MergeError(
            f"the models differ: {'; '.join(differences)}. Models are merged that learned with the same parameters and "
            "seed. Nothing was changed."
        )
    if moving := _moving(here.params):
        raise MergeError(
            f"{moving} moves with time, and two models have no time in common: expected a number. Nothing was changed."
        )


def _parameters(here: Mapping[str, Any], there: Mapping[str, Any]) -> list[str]:
    found = []
    for name, entry in OPTIONS.items():
        if name in FREE:
            continue
        own, other = (entry.check(params[name]) for params in (here, there))
        if name == "rule":
            own, other = get_rule(own), get_rule(other)
        found += _named(name, own, other)
    return found


def _named(name: str, own: Any, other: Any) -> list[str]:
    return [] if own == other else [f"{name} {own!r} in the first and {other!r} in the second"]


def _names(core: Core) -> list[str] | None:
    return None if core.inputs.names is None else list(core.inputs.names)


def _kind(core: Core) -> str:
    return next(label_kind(label) for head in core.heads.values() for label in head.neurons)


def _moving(params: Mapping[str, Any]) -> str | None:
    """The parameter that moves with time, if there is one."""
    rule = get_rule(params["rule"])
    numbers = {"learning_rate": params["learning_rate"], "beta": rule.window, **rule.plasticity.parameters}
    if params["decay"]:
        return "learning_rate"
    return next((name for name, value in numbers.items() if callable(value)), None)
