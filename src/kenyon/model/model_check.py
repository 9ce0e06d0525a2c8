"""What a model file says, checked before anything is built.

Nothing is believed: types exactly, every size against the arrays that are really there, and what is not in the file
but drawn from its seed against the file's own size. A file can name code (`module:Class`); it is never imported for it.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import ModelFileError, unknown
from kenyon.layers import Declared
from kenyon.model.auto import make_scaler, window_inputs
from kenyon.model.build import MOST_INPUTS, Settings, calibrates, declarations, settle
from kenyon.model.calibration import Calibration
from kenyon.model.inputs import Inputs
from kenyon.model.labels import Labels, label_kind
from kenyon.utils.options import OPTIONS
from kenyon.utils.outside import is_imported, is_outside

NOT_KEPT = ("n_jobs", "random_state")
"""Threads belong to the machine, not to the model; the seed is kept as it was drawn."""

KEYS = {"params", "seed", "n_inputs", "feature_names", "heads"}
HEAD = {"task", "labels", "neurons"}
PLAIN = ("number", "string", "boolean")
"""Kinds of labels and tasks that a file holds."""

MOST_COUNTED = 1 << 62
"""Samples and updates that a file may say were counted: learning never passes what 64 bits hold."""

DRAWN, PER_BYTE = 1 << 27, 1 << 10
"""Bytes that a model may take beside its arrays: so many, or so many for each byte of its file."""


def checked_contents(model: Any, tensors: Mapping[str, NDArray]) -> tuple[Inputs, int, dict[Hashable, Labels], int]:
    """Width, seed, labels and number of classes of a model whose parts fit together."""
    _want("the parts of a model", type(model) is dict and model.keys() - {"units", "floats"} == KEYS)
    _want("floats to be true where it is there", model.get("floats", True) is True)
    n_inputs, seed, names, heads = model["n_inputs"], model["seed"], model["feature_names"], model["heads"]
    _want("a table of parameters", type(model["params"]) is dict)
    _want(f"a width from 1 to {MOST_INPUTS}", type(n_inputs) is int and 1 <= n_inputs <= MOST_INPUTS)
    _want("a seed from 0 to 2**32 - 1", type(seed) is int and 0 <= seed < 1 << 32)
    named = type(names) is list and len(names) == n_inputs and all(type(name) is str for name in names)
    _want("a name for each feature", names is None or named)
    counters = tensors.get("counters", np.empty(0))
    _want("two counters", counters.dtype == np.int64 and counters.shape == (2,))
    _want("counters from 0 to 2**62", bool(((counters >= 0) & (counters <= MOST_COUNTED)).all()))
    labels, n_classes = _checked_heads(heads)
    inputs = Inputs()
    inputs.n_features_in_, inputs.floats = n_inputs, "floats" in model
    if names is not None:
        inputs.feature_names_in_ = np.array(names, object)
    return inputs, seed, labels, n_classes


def _checked_heads(heads: Any) -> tuple[dict[Hashable, Labels], int]:
    tables = type(heads) is list and all(type(head) is dict and head.keys() == HEAD for head in heads)
    _want("the heads of a model, one at least", tables and bool(heads))
    lists = all(type(head["labels"]) is list and type(head["neurons"]) is list for head in heads)
    _want("lists of labels and neurons", lists)
    neurons = [neuron for head in heads for neuron in head["neurons"]]
    own = all(type(neuron) is int for neuron in neurons) and sorted(neurons) == list(range(len(neurons)))
    _want(f"each label its own neuron, below {len(neurons)}", own)
    labels = [label for head in heads for label in head["labels"]]
    _want("labels of one kind", {type(label) for label in labels} in ({int}, {str}, {bool}))
    for head in heads:
        many = len(head["neurons"])
        _want("as many different labels as neurons in each head", len(set(head["labels"])) == many > 0)
        _want("as many labels as neurons in each head", len(head["labels"]) == many)
        _want("tasks that are numbers, strings or none", is_plain(head["task"]))
    _want("each task once", len({head["task"] for head in heads}) == len(heads))
    return {head["task"]: Labels(zip(head["labels"], head["neurons"], strict=True)) for head in heads}, len(neurons)


def is_plain(task: Hashable) -> bool:
    """Whether a file can hold a task: None, a finite number, a string or a boolean."""
    return task is None or (label_kind(task) in PLAIN and not (isinstance(task, float) and not isfinite(task)))


def check_params(params: Mapping[str, Any], given: Collection[str]) -> None:
    """Refuse parameters that no file of ours holds, and names of code that nobody has imported.

    Args:
        params: as the file has them.
        given: names of those that the caller has given instead.
    """
    for name in params:
        if name not in OPTIONS:
            raise unknown("parameter", name, OPTIONS)
        _want(f"no {name}, which a file does not keep", name not in NOT_KEPT)
    for name, entry in OPTIONS.items():
        there = entry.added or name in NOT_KEPT or name in params or name in given
        _want(f"the parameter {name}", there)
    for what in {"rule", "layer"} & params.keys() - set(given):
        for value in _texts(params[what]):  # a rule may have parameters, and a window has a rule inside
            if is_outside(value) and not is_imported(value):
                raise ModelFileError(
                    f"the model names the {what} {value!r}, which is code: "
                    f"import it first, or pass {what}=... when loading"
                )


def _texts(value: Any) -> Iterator[str]:
    """Every text in a value of JSON."""
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(item)


def saved_settings(
    params: Mapping[str, Any], given: Collection[str], inputs: Inputs, n_units: Any, tensors: Mapping[str, NDArray]
) -> Settings:
    """The settings of a saved model, whose size was settled when it was first made.

    Args:
        params: every parameter of the classifier.
        given: names of those that the caller has given, whatever the file says.
        inputs: width and kind of the samples.
        n_units: the number of units as the file has it, where no array says it.
    """
    n_inputs = inputs.n_features_in_
    # an arithmetic that was left open when the model was made is that of floats
    settings = settle(params, n_inputs, 0, 0, n_units=1, floats=inputs.floats, in_bytes=False)
    _want("floats only where defaults depend on them", inputs.floats == settings["floats"] or bool(given))
    if settings["features"] == "identity":
        _want("as many units as inputs", n_units in (None, n_inputs))
        return settings
    name = sized_by(declarations(settings, 1)[0][0])
    if name is not None:
        _want("no number of units beside the arrays", n_units is None)
        first = tensors.get(f"{name}.0", np.empty(0))
        n_units = first.shape[0] if first.ndim else 0
    _want("a whole number of units, at least 1", type(n_units) is int and n_units >= 1)
    told = params["n_hidden"]
    if "n_hidden" not in given and told not in ("auto", n_units):
        raise ModelFileError(f"n_hidden is {told!r} and the model has {n_units} units: expected as many")
    return {**settings, "n_hidden": n_units}


def sized_by(declared: tuple[Declared, ...]) -> str | None:
    """The array whose length is the number of units; None where all of them are packed."""
    return next((one.name for one in declared if one.shape[0] == "units" and not one.bits), None)


def check_arrays(settings: Settings, n_classes: int, tensors: Mapping[str, NDArray]) -> None:
    """Refuse arrays that are not as the layers declare them."""
    wanted = {"counters"} | (make_scaler(settings).kept().keys() if settings["scale"] else set())
    wanted |= Calibration(1).kept().keys() if calibrates(settings) else set()
    for number, (declared, sizes) in enumerate(declarations(settings, n_classes)):
        for one in declared:
            name, shape = f"{one.name}.{number}", one.stored_shape(sizes)
            wanted.add(name)
            if name not in tensors or tensors[name].shape != shape or not one.holds(tensors[name]):
                seen = f"{tensors[name].dtype} {tensors[name].shape}" if name in tensors else "missing"
                raise ModelFileError(f"{name} is {seen}: expected {np.dtype(one.dtype)} {shape}")
    if extra := sorted(set(tensors) - wanted):
        raise ModelFileError(f"the model holds {extra[0]!r}: expected only {', '.join(sorted(wanted))}")


def check_drawn(settings: Settings, n_classes: int, file_bytes: int) -> None:
    """Refuse a model that would take beyond reason of memory beside its arrays: its projection, and a code per class.

    A caller who gives the density to `load` vouches for it.
    """
    n_units, n_inputs = settings["n_hidden"], settings["n_inputs"]
    each = {"identity": 0, "dense": n_inputs}.get(settings["features"], settings["n_connections"])
    if settings["features"] == "windows" and settings["signs"] == "oriented":
        each = window_inputs(settings)  # which are sorted for each unit
    needed, most = 4 * (n_units * each + n_inputs + n_classes**2), max(DRAWN, PER_BYTE * file_bytes)
    if needed > most:
        raise ModelFileError(
            f"{n_units} units of {each} of {n_inputs} inputs and {n_classes} classes would take {needed:,} bytes: "
            f"expected at most {most:,} for a file of {file_bytes:,}. Pass density=... to load it all the same"
        )


def _want(what: str, true: bool) -> None:
    if not true:
        raise ModelFileError(f"the model does not fit together: expected {what}")
