"""A model as one safetensors file: its state as tensors, everything else as JSON, and a checksum.

Layout, version 1. Tensors: the arrays that each layer declares (`kenyon.layers`) as `NAME.0` .. `NAME.L`, the output
layer last (a plastic layer has `weights`, inputs x neurons in float32, and `sums` in float64 where its rule has a
window), and `counters` (int64: time, updates). Metadata: `kenyon.version`, `kenyon.model` (JSON: parameters,
seed, width, labels of each head) and `kenyon.sha256` over the model's JSON and every tensor. No code is stored or run.

Nothing that a file says is believed before it is checked (`model_check.py`), and only then is a model built.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Hashable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_safetensors

from kenyon.errors import ConfigError, KenyonError, ModelFileError, unknown
from kenyon.features.front import Motion, Spectra
from kenyon.model.build import build_engine
from kenyon.model.engine import Engine
from kenyon.model.fitted import Core
from kenyon.model.inputs import Inputs
from kenyon.model.labels import Labels, label_kind
from kenyon.model.model_check import (
    NOT_KEPT,
    PLAIN,
    check_arrays,
    check_drawn,
    check_params,
    checked_contents,
    is_plain,
    saved_settings,
    sized_by,
)
from kenyon.rules import Rule, make_rule
from kenyon.utils import modulation
from kenyon.utils.options import OPTIONS
from kenyon.utils.outside import looking
from kenyon.utils.system import replace_file

VERSION = 1

WORKING = "working."
"""Begins the names of arrays that only checkpoints have, before the layer's number."""


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
    replace_file(Path(path), _in_order(to_safetensors(tensors, metadata)))


def _in_order(content: bytes) -> bytes:
    """A safetensors file with its metadata in the order of their names, which the writer leaves to chance: models in
    the same state are the same bytes."""
    size = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:size])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    ordered = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    return content[:8] + ordered.ljust(size - 8) + content[size:] if len(ordered) <= size - 8 else content


def load(path: str | os.PathLike[str], overrides: Mapping[str, Any]) -> tuple[dict[str, Any], Core]:
    """The parameters and the state of a saved model."""
    try:
        model, tensors = _read(path)
        trusted = "density" in overrides
        return from_arrays(model, tensors, overrides, None if trusted else Path(path).stat().st_size)
    except KenyonError as error:
        raise ModelFileError(f"{path}: {error}") from error
    except (OSError, MemoryError) as error:
        raise ModelFileError(f"{path}: cannot be read ({error or 'there is no memory for it'})") from error


def to_arrays(core: Core, working: bool = False) -> tuple[str, dict[str, NDArray]]:
    """The state as JSON and named arrays, copied; with what a checkpoint keeps beside it where `working`."""
    engine = core.engine
    for task, labels in core.heads.items():
        _check_plain("task", task)
        for label in labels.neurons:
            _check_plain("label", label)
    tensors: dict[str, NDArray] = {"counters": engine.clock.copy()}
    if engine.scaler is not None:
        tensors |= engine.scaler.kept()
    if engine.calibration is not None:
        tensors |= engine.calibration.kept()
    for number, layer in enumerate(engine.layers):
        tensors |= {f"{name}.{number}": view.copy() for name, view in layer.state.views().items()}
        if working:
            tensors |= {f"{WORKING}{number}.{name}": array for name, array in layer.working_arrays().items()}
    return _model_json(engine.params, engine.seed, core.inputs, core.heads, _units(engine)), tensors


def _units(engine: Engine) -> int | None:
    """The number of units, where no array says it."""
    first = engine.layers[0]
    return first.n_inputs if sized_by(first.state.declared) is None else None


def from_arrays(
    model_json: str, tensors: Mapping[str, NDArray], overrides: Mapping[str, Any], file_bytes: int | None = None
) -> tuple[dict[str, Any], Core]:
    """The inverse of `to_arrays`: the classifier's parameters, `overrides` in place of those saved, and its core.

    Args:
        file_bytes: size of the file that they come from, which bounds what it may ask for; None for one's own.
    """
    beside = {name: array for name, array in tensors.items() if name.startswith(WORKING)}
    tensors = {name: array for name, array in tensors.items() if name not in beside}
    try:
        model = json.loads(model_json)
        inputs, seed, heads, n_classes = checked_contents(model, tensors)
        check_params(model["params"], overrides)
        params = _params_from_config(model["params"], overrides)
        settings = saved_settings(params, overrides, inputs, model.get("units"), tensors)
        check_arrays(settings, n_classes, tensors)
        if file_bytes is not None:
            check_drawn(settings, n_classes, file_bytes)
        engine = build_engine(settings, inputs.n_features_in_, seed, params)
        engine.clock[:] = tensors["counters"]
        if engine.scaler is not None:
            engine.scaler.restore(tensors)
        if engine.calibration is not None:
            engine.calibration.restore(tensors, n_classes)
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


# ---- the container


def _read(path: str | os.PathLike[str]) -> tuple[str, dict[str, NDArray]]:
    """The checked contents of a file."""
    if not Path(path).is_file():
        raise ModelFileError("no such file")
    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
            version = metadata.get("kenyon.version")
            if version is None:
                raise ModelFileError("a safetensors file, but not one that Kenyon wrote")
            if version != str(VERSION):
                raise ModelFileError(f"format version {version!r}, expected {VERSION}: update Kenyon to read it")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  not a dict
    except SafetensorError as error:
        raise ModelFileError(f"not a complete safetensors file ({error})") from error
    except (TypeError, KeyError, AttributeError) as error:  # element types that NumPy has no name for
        raise ModelFileError(f"holds a tensor that is not part of a model ({error})") from error
    model = metadata.get("kenyon.model", "")
    if digest(model, tensors) != metadata.get("kenyon.sha256"):
        raise ModelFileError("the checksum does not match, the file is damaged")
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
    if inputs.floats:
        model["floats"] = True
    if n_units is not None:
        model["units"] = n_units
    return json.dumps(model, separators=(",", ":"), default=repr)


def _is_kept(name: str, value: Any) -> bool:
    """Options that came after the first version of the format are left out at their defaults, as in older files."""
    entry = OPTIONS[name]
    return name not in NOT_KEPT and not (entry.added and type(value) is type(entry.default) and value == entry.default)


def _check_plain(what: str, value: Hashable) -> None:
    if value is not None and label_kind(value) in PLAIN and not is_plain(value):
        raise ConfigError(f"the {what} is {value!r}: a file holds finite numbers only")
    if value is not None and label_kind(value) not in PLAIN:
        raise ConfigError(
            f"the {what} {value!r} is a {label_kind(value)}: a file holds numbers, strings and booleans only"
        )


def _to_config(value: Any) -> Any:
    """A parameter as plain JSON values."""
    if isinstance(value, Rule):
        inside = value.plasticity
        own = {"rule": inside.name, **{key: _to_config(item) for key, item in inside.parameters.items()}}
        return own if value is inside else {"rule": value.name, "beta": _to_config(value.window), "inside": own}
    if isinstance(value, (Spectra, Motion)):
        return {"front": type(value).__name__, **asdict(value)}
    if callable(value):
        return modulation.to_config(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return [[label, weight] for label, weight in value.items()]
    return list(value) if isinstance(value, (tuple, list, np.ndarray)) else value


def _params_from_config(params: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    restored = {
        name: _rule_from_config(value)
        if name == "rule"
        else value
        if name == "front"
        else modulation.from_config(value, name)
        for name, value in params.items()
        if name not in overrides
    }
    if isinstance(pairs := restored.get("class_weight"), list):
        restored["class_weight"] = dict(pairs)
    if params.get("hidden_layers"):  # files of before there was a choice
        restored.setdefault("hidden_signal", "codes")
    if isinstance(front := restored.get("front"), dict):
        restored["front"] = _front_from_config(front)
    given = {**restored, **overrides}
    for name in given:
        if name not in OPTIONS:
            raise unknown("parameter", name, OPTIONS)
    return {name: given.get(name, OPTIONS[name].default) for name in sorted(OPTIONS)}


def _front_from_config(value: Mapping[str, Any]) -> Any:
    kinds = {"Spectra": Spectra, "Motion": Motion}
    if value.get("front") not in kinds:
        raise unknown("front", value.get("front"), kinds)
    return kinds[value["front"]](**{name: item for name, item in value.items() if name != "front"})


def _rule_from_config(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    parameters = {key: item for key, item in value.items() if key != "rule"}
    if "inside" in parameters:
        parameters["rule"] = _rule_from_config(parameters.pop("inside"))
    name = value["rule"]
    with looking():
        return make_rule(name, {key: modulation.from_config(item, f"{name}.{key}") for key, item in parameters.items()})
