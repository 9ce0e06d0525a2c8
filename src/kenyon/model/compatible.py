"""Whether two models may be merged: the same parameters, seed and samples, or an error that says what differs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from kenyon.errors import MergeError
from kenyon.model.bending import bends
from kenyon.model.fitted import Core
from kenyon.model.growing import grows
from kenyon.model.labels import label_kind
from kenyon.model.plain import nested_options
from kenyon.model.spec import Spec
from kenyon.utils.options import Part

MOST_SHOWN = 200
"""Characters of a value in an error; fitted filters are longer."""


def check_mergeable(first: Core, second: Core) -> None:
    """Refuse incompatible models, naming everything in which they differ."""
    here, there = first.engine, second.engine
    other = there.spec
    same_kind = type(here.spec.features) is type(other.features)
    pairs = ((here.spec, here.params), (other, there.params))
    if same_kind and all(bends(*pair) or grows(*pair) for pair in pairs):
        other = other.with_units(here.spec.n_units)  # the wider one is cut
    differences = [
        *_parts(here.spec, other),
        *_named("seed", here.seed, there.seed),
        *_named("samples have a width of", here.n_inputs, there.n_inputs),
        *_named("features are called", _names(first), _names(second)),
        *_named("labels are of the kind", _kind(first), _kind(second)),
    ]
    if differences:
        raise MergeError(
            f"the models differ: {'; '.join(differences)}. Models are merged that learned with the same parameters and "
            "seed. Nothing was changed."
        )
    if moving := _moving(here.spec):
        raise MergeError(
            f"{moving} moves with time, and two models have no time in common: expected a number. Nothing was changed."
        )


def _parts(here: Spec, there: Spec) -> list[str]:
    """In what two specs differ, options of parts by their nested names."""
    own, other = (dict(_flat(spec)) for spec in (here, there))
    return [text for name in own | other for text in _named(name, own.get(name), other.get(name))]


def _flat(spec: Spec) -> Iterator[tuple[str, Any]]:
    for field in fields(spec):
        value = getattr(spec, field.name)
        if isinstance(value, Part):
            yield field.name, type(value).__name__
            yield from nested_options(value, field.name)
        elif field.name != "n_inputs":
            yield field.name, value


def _named(name: str, own: Any, other: Any) -> list[str]:
    if own == other:
        return []
    first, second = (text if len(text := repr(value)) <= MOST_SHOWN else f"{text[:20]}...'" for value in (own, other))
    return [f"{name} {first} in the first and {second} in the second"]


def _names(core: Core) -> list[str] | None:
    return None if core.inputs.names is None else list(core.inputs.names)


def _kind(core: Core) -> str:
    return next(label_kind(label) for head in core.heads.values() for label in head.neurons)


def _moving(spec: Spec) -> str | None:
    """The parameter that moves with time, if there is one."""
    if not any(callable(value) for value in spec.layer.moving):
        return None
    numbers = dict(nested_options(spec.layer, "layer"))
    return next((name for name, value in numbers.items() if callable(value)), "layer__learning_rate")
