"""What a model file says, checked before anything is built.

Nothing is believed: types exactly, every size against the arrays that are really there, and what is not in the file
but drawn from its seed against the file's own size. A file can name code (`module:Class`); it is never imported for it.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import ModelFileError, unknown
from kenyon.model.calibration import Calibration
from kenyon.model.inputs import Inputs
from kenyon.model.labels import Labels, is_plain
from kenyon.model.options import OPTIONS
from kenyon.model.plain import KINDS
from kenyon.model.recommend import MOST_INPUTS, settle
from kenyon.model.spec import Spec
from kenyon.utils.options import is_outside
from kenyon.utils.outside import is_imported

NOT_KEPT = ("n_jobs", "random_state")
"""Threads belong to the machine, not to the model; the seed is kept as it was drawn."""

KEYS = {"params", "seed", "n_inputs", "units", "feature_names", "heads"}
HEAD = {"task", "labels", "neurons"}

MOST_COUNTED = 1 << 62
"""Samples and updates that a file may say were counted: learning never passes what 64 bits hold."""

DRAWN, PER_BYTE = 1 << 27, 1 << 10
"""Bytes that a model may take beside its arrays: this many, or this many for each byte of its file."""


def checked_contents(model: Any, tensors: Mapping[str, NDArray]) -> tuple[Inputs, int, dict[Hashable, Labels], int]:
    """Width, seed, labels and number of classes of a model whose parts fit together."""
    _want("the parts of a model", type(model) is dict and model.keys() - {"floats"} == KEYS)
    _want("floats to be true, if present", model.get("floats", True) is True)
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


def check_params(params: Mapping[str, Any], given: Collection[str]) -> None:
    """Refuse parameters that a model file does not hold, and names of code that was not imported.

    Args:
        params: as the file has them.
        given: names of those that the caller has given instead.
    """
    for name in params:
        if name not in OPTIONS:
            raise unknown("parameter", name, OPTIONS)
        _want(f"no {name}, which a file does not keep", name not in NOT_KEPT)
    for what in KINDS.keys() & params.keys() - set(given):
        for value in _texts(params[what]):  # a part may have parts inside
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


def saved_spec(params: Mapping[str, Any], given: Collection[str], inputs: Inputs, n_units: Any) -> Spec:
    """What a saved model is composed of; its size was settled when it was first made.

    Args:
        params: every parameter of the classifier.
        given: names of those that the caller has given, whatever the file says.
        inputs: width and kind of the samples.
        n_units: the number of units as the file has it.
    """
    _want("an integer number of units, at least 1", type(n_units) is int and 1 <= n_units < 1 << 31)
    spec = settle(params, inputs.n_features_in_, 0, inputs.floats, n_units=n_units)
    given_units = params["n_hidden"] if params["n_hidden"] != "auto" else getattr(params["features"], "units", "auto")
    if given_units not in ("auto", n_units) and not {"n_hidden", "features"} & set(given):
        raise ModelFileError(f"n_hidden is {given_units!r} and the model has {n_units} units: expected as many")
    _want(f"{spec.n_units} units", spec.n_units == n_units)
    return spec


def check_arrays(spec: Spec, n_classes: int, tensors: Mapping[str, NDArray]) -> None:
    """Refuse arrays that are not as the layers declare them."""
    scaler = spec.scaler()
    wanted = {"counters"} | (set() if scaler is None else scaler.kept().keys())
    wanted |= Calibration(1, 1).kept().keys() if spec.calibrates else set()
    for number, (declared, sizes) in enumerate(spec.declared(n_classes)):
        for one in declared:
            name, shape = f"{one.name}.{number}", one.stored_shape(sizes)
            wanted.add(name)
            if name not in tensors or tensors[name].shape != shape or not one.holds(tensors[name]):
                seen = f"{tensors[name].dtype} {tensors[name].shape}" if name in tensors else "missing"
                raise ModelFileError(f"{name} is {seen}: expected {np.dtype(one.dtype)} {shape}")
    if extra := sorted(set(tensors) - wanted):
        raise ModelFileError(f"the model holds {extra[0]!r}: expected only {', '.join(sorted(wanted))}")


def check_drawn(spec: Spec, n_classes: int, file_bytes: int) -> None:
    """Refuse a model that would take an unreasonable amount of memory beside its arrays: what is drawn from its seed.

    A caller who gives the features to `load` vouches for them.
    """
    drawn = spec.features.table_bytes(spec.setting())
    needed, most = drawn + 4 * (spec.n_inputs + n_classes * sum(spec.widths)), max(DRAWN, PER_BYTE * file_bytes)
    if needed > most:
        raise ModelFileError(
            f"{spec.features!r} of {spec.n_inputs} inputs and {n_classes} classes would take {needed:,} bytes: "
            f"expected at most {most:,} for a file of {file_bytes:,}. Pass features=... to load it all the same"
        )


def _want(what: str, true: bool) -> None:
    if not true:
        raise ModelFileError(f"the model does not fit together: expected {what}")
