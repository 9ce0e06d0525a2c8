"""A model as one safetensors file: its state as tensors, everything else as JSON, and a checksum.

Layout, version 1. Tensors: the arrays that each layer declares (`kenyon.layers`) as `NAME.0` .. `NAME.L`, the output
layer last (a plastic layer has `weights`, inputs x neurons in float32, and `sums` in float64 where its rule has a
window), and `counters` (int64: time, updates). Metadata: `kenyon.version`, `kenyon.model` (JSON: parameters,
seed, width, labels of each head) and `kenyon.sha256` over the model's JSON and every tensor. No code is stored or run.

Nothing that a file says is believed before it is checked: types exactly, sizes against the arrays that are really
there, and only then is a model built.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_safetensors

from kenyon import modulation
from kenyon._build import Settings, build_engine, declarations, settle
from kenyon._core import Core
from kenyon._engine import Engine
from kenyon._inputs import Inputs
from kenyon.errors import ConfigError, KenyonError, ModelFileError, unknown
from kenyon.labels import Labels, label_kind
from kenyon.layers import Declared
from kenyon.options import OPTIONS
from kenyon.rules import Rule, make_rule
from kenyon.system import replace_file

VERSION = 1

NOT_KEPT = ("n_jobs", "random_state")
"""Threads belong to the machine, not to the model; the seed is kept as it was drawn."""

WORKING = "working."
"""Begins the names of arrays that only checkpoints have, before the layer's number."""

MOST_INPUTS = 1 << 24
MOST_CONNECTIONS = 1 << 28
"""A file may not ask for wider samples, or for a projection with more connections, than any real model has."""


def metadata_bytes(engine: Engine, inputs: Inputs, heads: Mapping[Hashable, Labels]) -> int:
    """Bytes of the state that are not arrays."""
    return len(_model_json(engine.params, engine.seed, inputs, heads, _units(engine)))


def empty_bytes(params: Mapping[str, Any], seed: int, inputs: Inputs) -> int:
    """The same before anything was learned."""
    return len(_model_json(params, seed, inputs, {}))


def save(core: Core, path: str | os.PathLike[str]) -> None:
    """Write the file, all of it or none."""
    model, tensors = to_arrays(core)
    metadata = {"kenyon.version": str(VERSION), "kenyon.model": model, "kenyon.sha256": digest(model, tensors)}
    replace_file(Path(path), to_safetensors(tensors, metadata))


def load(path: str | os.PathLike[str], overrides: Mapping[str, Any]) -> tuple[dict[str, Any], Core]:
    """The parameters and the state of a saved model."""
    model, tensors = _read(path)
    try:
        return from_arrays(model, tensors, overrides)
    except KenyonError as error:
        raise ModelFileError(f"{path}: {error}") from error


def to_arrays(core: Core, working: bool = False) -> tuple[str, dict[str, NDArray]]:
    """The state as JSON and named arrays, copied; with what a checkpoint keeps beside it where `working`."""
    engine = core.engine
    for task, labels in core.heads.items():
        _check_plain("task", task)
        for label in labels.neurons:
            _check_plain("label", label)
    tensors: dict[str, NDArray] = {"counters": engine.clock.copy()}
    for number, layer in enumerate(engine.layers):
        tensors |= {f"{name}.{number}": view.copy() for name, view in layer.state.views().items()}
        if working:
            tensors |= {f"{WORKING}{number}.{name}": array for name, array in layer.working_arrays().items()}
    return _model_json(engine.params, engine.seed, core.inputs, core.heads, _units(engine)), tensors


def _units(engine: Engine) -> int | None:
    """The number of units, where no array says it."""
    first = engine.layers[0]
    return first.n_inputs if _sized_by(first.state.declared) is None else None


def from_arrays(
    model_json: str, tensors: Mapping[str, NDArray], overrides: Mapping[str, Any]
) -> tuple[dict[str, Any], Core]:
    """The inverse of `to_arrays`: the classifier's parameters, `overrides` in place of those saved, and its core."""
    beside = {name: array for name, array in tensors.items() if name.startswith(WORKING)}
    tensors = {name: array for name, array in tensors.items() if name not in beside}
    try:
        model = json.loads(model_json)
        inputs, seed, heads, n_classes = _checked_contents(model, tensors)
        params = _params_from_config(model["params"], overrides)
        settings = _settings(params, inputs.n_features_in_, model.get("units"), tensors)
        _check_arrays(settings, n_classes, tensors)
        engine = build_engine(settings, inputs.n_features_in_, seed, params)
        engine.clock[:] = tensors["counters"]
        for number, layer in enumerate(engine.layers):
            layer.load(tensors, f".{number}", n_classes)
            start = f"{WORKING}{number}."
            own = [name for name in beside if name.startswith(start)]
            layer.load_working({name.removeprefix(start): beside.pop(name) for name in own})
        if beside:
            raise ModelFileError(f"the model holds {min(beside)!r}: expected no such layer")
    except KenyonError:
        raise
    except (KeyError, TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
        raise ModelFileError(f"the model is not complete ({type(error).__name__}: {error})") from error
    except (RecursionError, MemoryError) as error:
        raise ModelFileError(f"the model is nested or sized beyond reason ({type(error).__name__})") from error
    return params, Core(engine, heads, inputs)


def digest(model: str, tensors: Mapping[str, NDArray]) -> str:
    """SHA-256 over the model's JSON and every tensor with its name, type and shape."""
    total = hashlib.sha256(model.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        total.update(f"|{name}|{tensor.dtype.str}|{tensor.shape}|".encode())
        total.update(np.ascontiguousarray(tensor).tobytes())
    return total.hexdigest()


# ---- checks before anything is built


def _checked_contents(model: Any, tensors: Mapping[str, NDArray]) -> tuple[Inputs, int, dict[Hashable, Labels], int]:
    """Width, seed, labels and number of classes of a model whose parts fit together."""
    n_inputs, seed, names, counters = model["n_inputs"], model["seed"], model["feature_names"], tensors["counters"]
    neurons = [neuron for head in model["heads"] for neuron in head["neurons"]]
    n_classes = len(neurons)
    kinds = [{label_kind(label) for label in head["labels"]} for head in model["heads"]]
    tasks = [head["task"] for head in model["heads"]]
    plain_names = names is None or (len(names) == n_inputs and all(type(name) is str for name in names))
    wanted = {
        f"a width from 1 to {MOST_INPUTS}": type(n_inputs) is int and 1 <= n_inputs <= MOST_INPUTS,
        "a seed from 0 to 2**32 - 1": type(seed) is int and 0 <= seed < 1 << 32,
        "a name for each feature": plain_names,
        "two counters": counters.dtype == np.int64 and counters.shape == (2,),
        "counters from 0": (counters >= 0).all(),
        f"each label its own neuron, below {n_classes}": (
            all(type(neuron) is int and 0 <= neuron < n_classes for neuron in neurons)
            and len(set(neurons)) == len(neurons)
        ),
        "as many labels as neurons in each head": all(
            len(head["labels"]) == len(head["neurons"]) for head in model["heads"]
        ),
        "labels of one kind": all(len(kind) == 1 and kind <= {"number", "string", "boolean"} for kind in kinds),
        "tasks that are numbers, strings or none": all(
            task is None or label_kind(task) in ("number", "string", "boolean") for task in tasks
        ),
    }
    for what, true in wanted.items():
        if not true:
            raise ModelFileError(f"the model does not fit together: expected {what}")
    inputs = Inputs()
    inputs.n_features_in_ = n_inputs
    if names is not None:
        inputs.feature_names_in_ = np.array(names, object)
    heads = {head["task"]: Labels(zip(head["labels"], head["neurons"], strict=True)) for head in model["heads"]}
    return inputs, seed, heads, n_classes


def _settings(params: Mapping[str, Any], n_inputs: int, n_units: Any, tensors: Mapping[str, NDArray]) -> Settings:
    """The settings of a saved model, whose size was settled when it was first made."""
    settings = settle(params, n_inputs, 0, 0, n_units=1)
    if settings["features"] == "identity":
        return settings
    name = _sized_by(declarations(settings, 1)[0][0])
    if name is not None:
        n_units = tensors[f"{name}.0"].shape[0]
    if type(n_units) is not int or not 1 <= n_units <= MOST_CONNECTIONS:
        raise ModelFileError(f"the model has {n_units!r} units: expected a whole number, at least 1")
    return {**settings, "n_hidden": n_units}


def _sized_by(declared: tuple[Declared, ...]) -> str | None:
    """The array whose length is the number of units; None where all of them are packed."""
    return next((one.name for one in declared if one.shape[0] == "units" and not one.bits), None)


def _check_arrays(settings: Settings, n_classes: int, tensors: Mapping[str, NDArray]) -> None:
    """Refuse arrays that are not as the layers declare them, and a projection beyond reason."""
    n_units, n_connections = settings["n_hidden"], settings["n_connections"]
    if n_units * n_connections > MOST_CONNECTIONS:
        raise ModelFileError(f"{n_units} units of {n_connections} inputs: expected at most {MOST_CONNECTIONS} in all")
    wanted = {"counters"}
    for number, (declared, sizes) in enumerate(declarations(settings, n_classes)):
        for one in declared:
            name, shape = f"{one.name}.{number}", one.stored_shape(sizes)
            wanted.add(name)
            if name not in tensors or tensors[name].shape != shape or not one.holds(tensors[name]):
                seen = f"{tensors[name].dtype} {tensors[name].shape}" if name in tensors else "missing"
                raise ModelFileError(f"{name} is {seen}: expected {np.dtype(one.dtype)} {shape}")
    if extra := sorted(set(tensors) - wanted):
        raise ModelFileError(f"the model holds {extra[0]!r}: expected only {', '.join(sorted(wanted))}")


def _read(path: str | os.PathLike[str]) -> tuple[str, dict[str, NDArray]]:
    """The checked contents of a file."""
    if not Path(path).is_file():
        raise ModelFileError(f"{path}: no such file")
    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
            version = metadata.get("kenyon.version")
            if version is None:
                raise ModelFileError(f"{path}: a safetensors file, but not one that Kenyon wrote")
            if version != str(VERSION):
                raise ModelFileError(
                    f"{path}: format version {version!r}, expected {VERSION}: update Kenyon to read it"
                )
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  not a dict
    except SafetensorError as error:
        raise ModelFileError(f"{path}: not a complete safetensors file ({error})") from error
    except (TypeError, KeyError, AttributeError) as error:  # element types that NumPy has no name for
        raise ModelFileError(f"{path}: holds a tensor that is not part of a model ({error})") from error
    except (OSError, MemoryError) as error:
        raise ModelFileError(f"{path}: cannot be read ({error})") from error
    model = metadata.get("kenyon.model", "")
    if digest(model, tensors) != metadata.get("kenyon.sha256"):
        raise ModelFileError(f"{path}: the checksum does not match, the file is damaged")
    return model, tensors


# ---- parameters as JSON and back


def _model_json(
    params: Mapping[str, Any],
    seed: int,
    inputs: Inputs,
    heads: Mapping[Hashable, Labels],
    n_units: int | None = None,
) -> str:
    model: dict[str, Any] = {
        "params": {name: _to_config(value) for name, value in params.items() if _is_kept(name, value)},
        "seed": seed,
        "n_inputs": inputs.n_features_in_,
        "feature_names": None if inputs.names is None else list(inputs.names),
        "heads": [
            {"task": task, "labels": list(labels.neurons), "neurons": list(labels.neurons.values())}
            for task, labels in heads.items()
        ],
    }
    if n_units is not None:
        model["units"] = n_units
    return json.dumps(model, separators=(",", ":"), default=repr)


def _is_kept(name: str, value: Any) -> bool:
    """Options that came after the first version of the format are left out at their defaults, as in older files."""
    entry = OPTIONS[name]
    return name not in NOT_KEPT and not (entry.added and type(value) is type(entry.default) and value == entry.default)


def _check_plain(what: str, value: Hashable) -> None:
    if value is not None and label_kind(value) not in ("number", "string", "boolean"):
        raise ConfigError(
            f"the {what} {value!r} is a {label_kind(value)}: a file holds numbers, strings and booleans only"
        )


def _to_config(value: Any) -> Any:
    """A parameter as plain JSON values."""
    if isinstance(value, Rule):
        inside = value.plasticity
        own = {"rule": inside.name, **{key: _to_config(item) for key, item in inside.parameters.items()}}
        return own if value is inside else {"rule": value.name, "beta": _to_config(value.window), "inside": own}
    if callable(value):
        return modulation.to_config(value)
    if isinstance(value, np.generic):
        return value.item()
    return list(value) if isinstance(value, (tuple, list, np.ndarray)) else value


def _params_from_config(params: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    restored = {
        name: _rule_from_config(value) if name == "rule" else modulation.from_config(value, name)
        for name, value in params.items()
        if name not in overrides
    }
    given = {**restored, **overrides}
    for name in given:
        if name not in OPTIONS:
            raise unknown("parameter", name, OPTIONS)
    return {name: given.get(name, OPTIONS[name].default) for name in sorted(OPTIONS)}


def _rule_from_config(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    parameters = {key: item for key, item in value.items() if key != "rule"}
    if "inside" in parameters:
        parameters["rule"] = _rule_from_config(parameters.pop("inside"))
    name = value["rule"]
    return make_rule(name, {key: modulation.from_config(item, f"{name}.{key}") for key, item in parameters.items()})
