"""A memory budget that bends: where a class does not fit, units are dropped until it does.

    m = max { u : bytes(u units, C classes) <= budget }      when class C comes

Units are drawn one after the other, so the first m of n are those of a model with m units, and the rows and columns of
its sums are exactly what that model would have learned. m depends on the classes alone, and units are dropped when the
sample that brings a class is learned, so the stream may be cut in any way. Sums in few bits are cut in the same way;
they were thinned for the units that there were, and differ from those of a smaller model in that.

Layers whose weights depend on all units at once, and units given explicitly, stay as they are: such a class is refused.
"""

from __future__ import annotations

import json
import warnings
from bisect import bisect_right
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kenyon.errors import BudgetWarning
from kenyon.features import Active, Ramps, inputs_beside, make_active
from kenyon.layers import SecondOrder, SecondOrderLayer, State, axis_sizes
from kenyon.model.options import OPTIONS
from kenyon.model.spec import FEWEST_UNITS, Spec, units_within

if TYPE_CHECKING:
    from kenyon.model.engine import Engine


def bends(spec: Spec, params: Mapping[str, Any]) -> bool:
    """Whether units may be dropped: a budget chose their number, and the first of them are those of a smaller model."""
    explicit = params["n_hidden"] != "auto" or getattr(params["features"], "units", "auto") != "auto"
    summed = isinstance(spec.layer, SecondOrder) and not spec.unit_norm
    return spec.memory_budget is not None and not explicit and summed and spec.features.nested


def fewest_units(spec: Spec, n_classes: int) -> int:
    """The least number of units that are left: inputs that stand beside ramps stay there."""
    beside = 2 * inputs_beside(spec.n_inputs, spec.n_units) if isinstance(spec.features, Ramps) else 0
    return max(FEWEST_UNITS, n_classes, beside)


def most_units(spec: Spec, n_classes: int, budget: int, bytes_with: Callable[[int], int]) -> int | None:
    """The most units that fit, at most those that there are; None where too few do.

    Args:
        n_classes: the classes to fit.
        bytes_with: bytes of the whole state with a number of units and that many classes.
    """
    lowest, highest = fewest_units(spec, n_classes), spec.n_units
    if lowest > highest or bytes_with(lowest) > budget:
        return None
    return units_within(lowest, highest, budget, bytes_with)


def first_units(state: State, n_units: int) -> State:
    """A copy of a state with its first units alone."""
    sizes = state.sizes | {name: axis_sizes(n_units, 0)[name] for name in ("units", "pairs")}
    small = State(state.declared, sizes)
    for name, view in small.views().items():
        view[...] = state.views()[name][tuple(slice(n) for n in view.shape)]
    return small


def first_layer(layer: SecondOrderLayer, spec: Spec, seed: int) -> SecondOrderLayer:
    """A layer of its own with as many units as the spec has, which learned what this one did."""
    small = spec.layer.build(spec.n_units, seed, spec.setting(seed))
    assert isinstance(small, SecondOrderLayer)
    small.restore((first_units(layer.state, spec.n_units), layer.n_classes))
    return small


def first_active(active: Active, n_units: int) -> Active:
    """The activity of the first units of each sample of a block, in arrays of its own."""
    units, values, counts = active
    there = (units < n_units) & (np.arange(units.shape[1]) < counts[:, np.newaxis])
    order = np.argsort(~there, axis=1, kind="stable")
    small = make_active(n_units, len(counts), dtype=values.dtype.type)
    width = min(small[0].shape[1], units.shape[1])
    for new, old in zip(small[:2], (units, values), strict=True):
        new[:, :width] = np.take_along_axis(old, order[:, :width], axis=1)
    small[2][:] = there.sum(axis=1)
    return small


class Plan(NamedTuple):
    """What the classes and the samples of a call need.

    Attributes:
        bends: units that are left from a sample on, by its number.
        grows: units that there are from a sample on, by its number, more than before.
        n_units: units that are left in the end.
        metadata_bytes: bytes of the state that are not arrays, in the end.
    """

    bends: Mapping[int, int]
    grows: Mapping[int, int]
    n_units: int
    metadata_bytes: int


def plan(
    engine: Engine,
    budget: int | str | None,
    arrivals: Sequence[int],
    labels: Sequence[Hashable],
    metadata_bytes: int,
    wanted: Mapping[int, int] | None = None,
) -> Plan:
    """Which units are added and dropped before which samples, so that all classes fit; warns once of those dropped.

    Where too few units would be left none are dropped, and the caller refuses the classes.

    Args:
        budget: of the classifier.
        arrivals: the first sample of each new class, ascending.
        labels: of the new classes.
        metadata_bytes: bytes of the state that are not arrays, with all of them.
        wanted: units that there should be from a sample on, by its number.
    """
    spec, units, wanted = engine.spec, engine.spec.n_units, wanted or {}
    added, dropped = dict[int, int](), dict[int, int]()
    most_bytes = OPTIONS["memory_budget"].check(budget)
    if most_bytes is None:
        return Plan({}, wanted, max([units, *wanted.values()]), metadata_bytes)
    texts = [len(json.dumps(label, default=repr)) for label in labels]
    sizes = [text + len(str(engine.n_classes + n)) + 2 for n, text in enumerate(texts)]
    described, n_new = metadata_bytes - len(str(units)) - sum(sizes), 0
    may_bend = bends(spec, engine.params)
    for sample in sorted({*arrivals, *wanted}):
        held = partial(_bytes, engine, n_new, described)
        if wanted.get(sample, 0) > units:
            most = most_units(spec.with_units(wanted[sample]), engine.n_classes + n_new, most_bytes, held)
            if most is not None and most > units:
                added[sample] = units = most
        coming = bisect_right(arrivals, sample)
        described += sum(sizes[n_new:coming])
        n_new = coming
        held = partial(_bytes, engine, n_new, described)
        if not may_bend or held(units) <= most_bytes:
            continue
        most = most_units(spec.with_units(units), engine.n_classes + n_new, most_bytes, held)
        if most is None:
            return Plan({}, {}, spec.n_units, metadata_bytes)
        dropped[sample] = units = most
    if dropped:
        _warn_once(engine, units, labels)
    return Plan(dropped, added, units, described + len(str(units)))


def _bytes(engine: Engine, n_new: int, described: int, n_units: int) -> int:
    """Bytes of the state with more classes and another number of units."""
    return engine.state_bytes_with(n_new, n_units) + described + len(str(n_units))


def _warn_once(engine: Engine, after: int, labels: Sequence[Hashable]) -> None:
    if engine.has_bent:
        return
    warnings.warn(
        f"the memory budget does not hold {engine.spec.n_units} units and the class(es) "
        f"{', '.join(map(repr, labels[:3]))}{', ...' if len(labels) > 3 else ''}: the model continues with {after} "
        "units, and with fewer for further classes. Raise memory_budget to keep more.",
        BudgetWarning,
        stacklevel=7,
    )
    engine.has_bent = True
