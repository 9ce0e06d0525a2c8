"""Sums that add up: arrays of 32 bits that become wider where an entry needs it, added and taken away again.

Equal sums are equal bytes: an array has 64 bits where its largest entry needs them, and only there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import MergeError
from kenyon.layers._state import NEURONS, Declared, State
from kenyon.rules import RULES, Rule

NARROW, WIDE = 2**32 - 1, 2**64 - 1


def with_counts(state: State, n_samples: int) -> State:
    """The state, with counts of 64 bits where this many more samples could pass 32."""
    most = int(state.arrays["class_counts"].max(initial=0)) + n_samples
    return widened(state, {"class_counts"} if most > NARROW else set())


def widened(state: State, names: Collection[str]) -> State:
    """The state with these arrays in 64 bits."""
    names = {name for name in names if state.arrays[name].dtype != np.uint64}
    if not names:
        return state
    declared = [replace(one, dtype=np.uint64) if one.name in names else one for one in state.declared]
    wide = {name: state.arrays[name].astype(np.uint64) for name in names}
    return State(declared, state.sizes, state.arrays | wide)


def wide_in(state: State, tensors: Mapping[str, NDArray], where: str) -> set[str]:
    """The arrays of a state that a file holds in 64 bits."""
    saved = {one.name: tensors.get(one.name + where) for one in state.declared if one.wide}
    return {name for name, array in saved.items() if array is not None and array.dtype == np.uint64}


def narrowest(state: State, arrays: Mapping[str, NDArray]) -> State:
    """A state of these arrays, those that may be wide in 32 bits where they fit: equal sums are equal bytes."""
    wide = [one.name for one in state.declared if one.wide]
    types = {name: np.uint32 if arrays[name].max(initial=0) <= NARROW else np.uint64 for name in wide}
    declared = [replace(one, dtype=types[one.name]) if one.wide else one for one in state.declared]
    narrow = {name: arrays[name].astype(types[name]) for name in wide}
    return State(declared, state.sizes, {**arrays, **narrow})


def spread(one: Declared, array: NDArray, neurons: NDArray[np.int64], width: int) -> NDArray:
    """An array of another state with its neurons in the places that they have here; zeros elsewhere."""
    if NEURONS not in one.shape:
        return array
    out = np.zeros((*array.shape[:-1], width), array.dtype)
    out[..., neurons] = array
    return out


def added(state: State, other: State, neurons: NDArray[np.int64]) -> State:
    """The sums of two states; neuron k of the other is neuron `neurons[k]` of the first."""
    total, more = {}, other.views()
    for one in state.declared:
        own, theirs = state.arrays[one.name], spread(one, more[one.name], neurons, state.width)
        if own.dtype.kind == "f":
            with np.errstate(over="ignore"):
                total[one.name] = own + theirs
            if not np.isfinite(total[one.name]).all():
                raise MergeError(f"{one.name} of the two models pass the largest float: expected smaller sums")
            continue
        most = WIDE if one.wide else int(np.iinfo(own.dtype).max)
        if int(own.max(initial=0)) + int(theirs.max(initial=0)) > most:
            raise MergeError(f"{one.name} of the two models pass {most}: expected sums of samples that were learned")
        total[one.name] = own + (theirs.astype(np.uint64) if one.wide else theirs)
    return narrowest(state, total)


def taken_away(state: State, other: State, neurons: NDArray[np.int64]) -> State:
    """What is left of whole sums without those of another state; refuses sums that would fall below zero."""
    left, less = {}, other.views()
    for one in state.declared:
        own, theirs = state.arrays[one.name], spread(one, less[one.name], neurons, state.width)
        if (own < theirs).any():
            raise MergeError(f"{one.name} would fall below zero: expected samples that were learned, with their labels")
        left[one.name] = own - theirs
    return narrowest(state, left)


def only(state: State, neurons: NDArray[np.int64]) -> State:
    """The state with these neurons alone, in this order."""
    sizes = state.sizes | {NEURONS: len(neurons)}
    kept = State(state.declared, sizes)
    for one in state.declared:
        array = state.arrays[one.name]
        if NEURONS in one.shape:
            kept.arrays[one.name][..., : len(neurons)] = array[..., neurons]
        else:
            kept.arrays[one.name] = array.copy()
    return narrowest(kept, kept.arrays)


def check_neurons(state: State, other: State, neurons: NDArray[np.int64]) -> None:
    """Refuse a state of other sizes or arrays, and neurons that are not a place for each of its own."""
    if other.sizes["units"] != state.sizes["units"]:
        raise MergeError(f"the other layer has {other.sizes['units']} units: expected {state.sizes['units']}")
    here, there = ({one.name: (one.bits, one.wide, one.shape) for one in each.declared} for each in (state, other))
    kinds = [{name: array.dtype.kind for name, array in each.arrays.items()} for each in (state, other)]
    if here != there or kinds[0] != kinds[1]:
        raise MergeError(
            f"the other layer keeps {_words(other)}: expected {_words(state)}, as the first; the models differ in "
            "their layer, its bits or its arithmetic"
        )
    places = neurons.tolist()
    if len(set(places)) != other.n_neurons or not set(places) <= set(range(state.n_neurons)):
        raise MergeError(f"neurons are {places}: expected {other.n_neurons} different ones below {state.n_neurons}")


def check_additive(rule: Rule) -> None:
    """Refuse layers whose weights are no sums of what each sample adds by itself."""
    able = ", ".join(sorted(name for name, kind in RULES.items() if kind.additive))
    if not rule.additive or rule.initial_weight:
        raise MergeError(
            f"rule is {rule!r}, whose change of a weight depends on the weights before it, so that two models do not "
            f"add up: expected a rule that counts ({able}) or a second-order layer"
        )


def _words(state: State) -> str:
    return ", ".join(f"{one.name} ({state.arrays[one.name].dtype})" for one in state.declared)
