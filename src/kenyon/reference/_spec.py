"""What the options of a classifier stand for: no arithmetic, so it is the product's own."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.model.bending import bends, most_units
from kenyon.model.estimator import seed_of
from kenyon.model.growing import grows, wanted_units
from kenyon.model.inputs import Inputs
from kenyon.model.labels import Labels
from kenyon.model.model_file import described_bytes
from kenyon.model.options import OPTIONS
from kenyon.model.recommend import settle
from kenyon.model.spec import Spec


def settled(params: Mapping[str, Any], X: NDArray, n_classes: int) -> tuple[Spec, int]:
    """What the model is composed of, and the seed.

    Args:
        params: of the classifier.
        X: the first samples.
        n_classes: classes that they bring.
    """
    given, kind = _all(params), (X.shape[1], X.dtype != np.uint8)
    spec = settle(given, kind[0], 0, kind[1])
    spec = spec if bends(spec, given) else settle(given, kind[0], n_classes, kind[1])
    return spec, seed_of(given["random_state"])


Neurons = Mapping[tuple[Hashable, Hashable], int]


def bent(params: Mapping[str, Any], spec: Spec, seed: int, neurons: Neurons) -> Spec:
    """The same model with as many units as the memory budget holds with these classes."""
    given = _all(params)
    if not bends(spec, given):
        return spec
    held, budget = _held(given, spec, seed, neurons), spec.memory_budget or 0
    if held(spec.n_units) <= budget:
        return spec
    most = most_units(spec, len(neurons), budget, held)
    assert most is not None
    return spec.with_units(most)


def grown(params: Mapping[str, Any], spec: Spec, seed: int, neurons: Neurons, time: int) -> Spec:
    """The same model with more units, if it is time for them, as many as the memory budget holds."""
    given = _all(params)
    if not time or time & (time - 1) or not grows(spec, given) or wanted_units(spec, time) <= spec.n_units:
        return spec
    larger = spec.with_units(wanted_units(spec, time))
    if spec.memory_budget is None:
        return larger
    most = most_units(larger, len(neurons), spec.memory_budget, _held(given, spec, seed, neurons))
    return spec.with_units(max(most or 0, spec.n_units))


def _held(given: Mapping[str, Any], spec: Spec, seed: int, neurons: Neurons) -> Callable[[int], int]:
    """Bytes of the state with a number of units and these classes."""
    inputs = Inputs()
    inputs.n_features_in_, inputs.floats = spec.n_inputs, spec.scale is True
    heads = {task: Labels((label, n) for (own, label), n in neurons.items() if own == task) for task, _ in neurons}

    def held(n_units: int) -> int:
        described = described_bytes(given, seed, inputs, heads, n_units)
        return spec.with_units(n_units).array_bytes(len(neurons)) + described

    return held


def _all(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: entry.default for name, entry in OPTIONS.items()} | dict(params)
