"""Classes that are renamed, joined or forgotten: functions from a core to the next, which change its engine."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import ConfigError, InputError
from kenyon.model.fitted import Core
from kenyon.model.labels import Labels, head_of, label_kind
from kenyon.model.merging import renumbered


def renamed(core: Core, old: Hashable, new: Hashable, task: Hashable) -> Core:
    """A core whose class `old` is called `new`."""
    labels = head_of(core.heads, task)
    _check_known(labels, old)
    if new in labels.neurons:
        raise InputError(f"{new!r} is a class already: expected a new name, or join({[old, new]!r}, {new!r})")
    _check_kind(labels, new)
    pairs = [(new if label == old else label, neuron) for label, neuron in labels.neurons.items()]
    return core._replace(heads={**core.heads, task: Labels(pairs)})


def joined(core: Core, chosen: Sequence[Hashable], into: Hashable, task: Hashable) -> Core:
    """A core in which some classes are one."""
    known = head_of(core.heads, task)
    if not chosen:
        raise InputError("join was given no label: expected at least one")
    for label in chosen:
        _check_known(known, label)
    _check_kind(known, into)
    if into in known.neurons and into not in chosen:
        raise InputError(f"{into!r} is a class of its own: expected a new name, or {into!r} among the labels")
    neurons = np.array([known.neurons[label] for label in chosen])
    left = np.setdiff1d(np.arange(core.engine.n_classes), neurons[1:])
    core.engine.layers[-1].join(neurons, left)
    if core.engine.calibration is not None:
        core.engine.calibration.join(neurons, left)
    first, *others = chosen
    kept = ((label, neuron) for label, neuron in known.neurons.items() if label not in others)
    head = Labels((into if label == first else label, neuron) for label, neuron in kept)
    return core._replace(heads=renumbered({**core.heads, task: head}, left))


def without(core: Core, label: Hashable, task: Hashable) -> Core:
    """A core without one of its classes."""
    known = head_of(core.heads, task)
    _check_known(known, label)
    if core.engine.n_classes == 1:
        raise InputError(f"{label!r} is the only class: expected another to be left")
    if len(core.engine.layers) > 1:
        raise ConfigError("the model has hidden layers, whose codes stand for all classes: expected none")
    left = np.setdiff1d(np.arange(core.engine.n_classes), [known.neurons[label]])
    core.engine.layers[-1].forget(left)
    if core.engine.calibration is not None:
        core.engine.calibration.only(left)
    return core._replace(heads=renumbered(core.heads, left))


def reject_below(labels: NDArray, familiar: NDArray[np.float64], share: Any) -> NDArray:
    """Labels as objects, None where a sample is less familiar than the share.

    Example:
        >>> reject_below(np.array([3, 4]), np.array([0.5, 0.001]), 0.01).tolist()
        [3, None]
    """
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share < 1:
        raise InputError(f"reject is {share!r}: expected the share of known samples to reject, from 0 to below 1")
    known = labels.astype(object)
    known[familiar < share] = None
    return known


def _check_known(labels: Labels, label: Hashable) -> None:
    if label not in labels.neurons or label_kind(label) != labels.kind:
        raise InputError(f"{label!r} is not a class: expected one of {list(labels.neurons)[:10]}")


def _check_kind(labels: Labels, label: Hashable) -> None:
    if label is None or label_kind(label) != labels.kind:
        raise InputError(f"{label!r} is a {label_kind(label)}: expected a {labels.kind}, as the other labels")
