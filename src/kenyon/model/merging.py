"""One model from several, and samples taken out of a model again.

Counts and sums add up. So two models with the same parameters and seed, each of which learned a part of a stream, merge
into the model that would have learned the first part and then the second: classes are united in that order, and what
each unit and each pair of units has seen is added. Where the sums are exact, that is true to the bit, whatever the
parts, their order and the tree of merges; and what was added can be taken away again.

The functions below change the engine of a core. The caller keeps a journal that undoes them (`KenyonClassifier`).
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import MergeError, MergeWarning
from kenyon.features import SparseRows
from kenyon.layers import State
from kenyon.model import bending, model_file
from kenyon.model.compatible import check_mergeable
from kenyon.model.engine import Engine
from kenyon.model.fitted import Core
from kenyon.model.labels import NO_LABEL, Batch, Labels
from kenyon.model.model_check import MOST_COUNTED
from kenyon.model.scale import Scaler
from kenyon.model.spec import check_budget
from kenyon.model.units import Units

MOVING = "each model scaled its inputs by moments that it learned itself"


def copied(core: Core) -> Core:
    """A core that shares nothing that learning changes."""
    engine = copy.copy(core.engine)
    engine.layers, engine.clock = [copy.deepcopy(layer) for layer in engine.layers], engine.clock.copy()
    engine.scaler, engine.calibration = copy.deepcopy(engine.scaler), copy.deepcopy(engine.calibration)
    return Core(engine, core.heads, core.inputs)


def moments_differ(cores: Sequence[Core]) -> bool:
    """Whether the inputs of some models were scaled by other moments than those of the first."""
    first, *others = (core.engine.scaler for core in cores)
    return first is not None and any(other is not None and not first.is_like(other) for other in others)


def warn_inexact(engine: Engine, moved: bool) -> None:
    """Warn where the merged model is not the one of a single pass to the bit."""
    why = [engine.layers[-1].unlike_one_pass(), MOVING if moved else None]
    if reasons := "; ".join(reason for reason in why if reason is not None):
        warnings.warn(
            f"the merged model is close to the one of a single pass, not equal to the bit: {reasons}",
            MergeWarning,
            stacklevel=4,
        )


class Addition(NamedTuple):
    """What adding one model to another takes; made, and checked, before anything is changed.

    Attributes:
        union: the labels of both.
        n_units: units that are left.
        needed: bytes of the arrays afterwards.
    """

    union: Union
    n_units: int
    needed: int


def addition(core: Core, other: Core, budget: int | str | None) -> Addition:
    """Check that a model can be added to another, within its memory budget."""
    check_mergeable(core, other)
    union, engine = unite(core.heads, other.heads, core.engine.n_classes), core.engine
    described = model_file.metadata_bytes(engine, core.inputs, union.heads)
    plan = bending.plan(engine, budget, [0] * len(union.new), union.new, described)
    n_units = min(plan.n_units, other.engine.spec.n_units)
    needed = engine.state_bytes_with(len(union.new), n_units)
    if union.new:
        check_budget(budget, needed + plan.metadata_bytes, union.new)
    return Addition(union, n_units, needed)


def add(core: Core, other: Core, what: Addition, budget: int | str | None) -> Core:
    """Add what another model has learned to the engine of the first."""
    engine, theirs, union = core.engine, other.engine, what.union
    if what.n_units < engine.spec.n_units:
        engine.drop_units(what.n_units)
    if what.n_units < theirs.spec.n_units:
        theirs = theirs.with_units(what.n_units)
    for _ in union.new:
        for layer in engine.layers:
            layer.add_class()
    if engine.calibration is not None and theirs.calibration is not None:
        engine.calibration.grown(engine.n_classes)
        engine.calibration.merge(theirs.calibration, union.neurons)
    engine.layers[-1].merge(merge_units(engine, theirs), union.neurons)
    if (over := int((engine.clock.astype(object) + theirs.clock.astype(object)).max())) > MOST_COUNTED:
        raise MergeError(f"the counters of the two models add up to {over}: expected at most {MOST_COUNTED}")
    engine.clock[:] = engine.clock + theirs.clock
    merged = Core(engine, union.heads, core.inputs)
    if engine.state_bytes > what.needed:
        check_budget(budget, model_file.state_bytes(merged), ())
    return merged


def merge_units(engine: Engine, other: Engine) -> State:
    """Take what another engine knows of the inputs' units, and give the state of its last layer in the new ones."""
    own, theirs, last = engine.scaler, other.scaler, other.layers[-1]
    if own is None or theirs is None:
        return last.state
    if isinstance(own, Units) and isinstance(theirs, Units):
        if own.is_like(theirs):
            return last.state
        change, other_change = own.merge(theirs)
        twin = copy.copy(other)
        twin.layers, twin.calibration = [copy.copy(last)], None  # the other's own stay as they are
        engine.rescale(change)
        twin.rescale(other_change)
        return twin.layers[-1].state
    if isinstance(own, Scaler) and isinstance(theirs, Scaler) and not own.is_like(theirs):
        own.merge(theirs)
    return last.state


def check_exact(core: Core) -> None:
    """Refuse models that no sample can be taken out of again."""
    if (inexact := core.engine.layers[-1].unlike_one_pass()) is not None:
        raise MergeError(f"{inexact}, so that nothing can be taken out again: expected exact sums")
    if getattr(core.engine.spec.layer, "half_life", None) is not None:
        raise MergeError("half_life has halved what samples left: expected None, so that they are still whole")
    if core.engine.scaler is not None:
        raise MergeError("inputs are scaled by moments that a sample cannot be taken out of: expected scale=False")


def learned_alone(core: Core, samples: NDArray | SparseRows, head: Labels, numbers: NDArray[np.int64]) -> Engine:
    """An engine that has learned these samples and no others."""
    twin = copy.copy(core.engine)
    twin.layers, twin.clock = [core.engine.layers[-1].emptied()], np.zeros_like(core.engine.clock)
    neurons = np.array([*head.neurons.values(), NO_LABEL])[numbers]
    twin.learn(samples, Batch(neurons, head, head, [], False), None)
    return twin


def take_out(core: Core, twin: Engine, keep_classes: bool) -> Core | None:
    """Take what another engine has learned out of a core; None where nothing is left of it."""
    engine, layer = core.engine, core.engine.layers[-1]
    before = layer.class_counts()
    layer.subtract(twin.layers[-1].state, np.arange(engine.n_classes))
    if engine.time < twin.time:
        raise MergeError(f"{twin.time} samples of {engine.time} would be taken out: expected learned ones")
    engine.clock[:] = np.maximum(engine.clock - twin.clock, 0)
    left = np.flatnonzero((before == 0) | (layer.class_counts() > 0))
    if keep_classes or len(left) == engine.n_classes:
        return core
    layer.keep(left)
    return core._replace(heads=renumbered(core.heads, left)) if len(left) else None


class Union(NamedTuple):
    """The labels of two models.

    Attributes:
        heads: of every task, the labels of the second behind those of the first.
        neurons: of the first, one for each neuron of the second.
        new: the labels that the first did not know.
    """

    heads: dict[Hashable, Labels]
    neurons: NDArray[np.int64]
    new: list[Hashable]


def unite(first: Mapping[Hashable, Labels], second: Mapping[Hashable, Labels], n_classes: int) -> Union:
    """Both models' labels, those that are new numbered on from `n_classes` in the order in which they came."""
    heads = {task: labels.copy() for task, labels in first.items()}
    theirs = [(neuron, task, label) for task, head in second.items() for label, neuron in head.neurons.items()]
    places = np.zeros(len(theirs), np.int64)
    new: list[Hashable] = []
    for neuron, task, label in sorted(theirs, key=lambda entry: entry[0]):
        own = heads.setdefault(task, Labels(kind=second[task].kind)).neurons
        if label not in own:
            own[label] = n_classes + len(new)
            new.append(label)
        places[neuron] = own[label]
    return Union(heads, places, new)


def renumbered(heads: Mapping[Hashable, Labels], left: NDArray[np.int64]) -> dict[Hashable, Labels]:
    """The labels whose neurons are left, renumbered; a task without labels is dropped."""
    place = {neuron: number for number, neuron in enumerate(left.tolist())}
    kept = {
        task: Labels((label, place[neuron]) for label, neuron in labels.neurons.items() if neuron in place)
        for task, labels in heads.items()
    }
    return {task: labels for task, labels in kept.items() if labels.neurons}
