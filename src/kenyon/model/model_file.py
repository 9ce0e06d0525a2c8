"""A model as one safetensors file: its state as tensors, everything else as JSON, and a checksum.

Layout, format 1. Tensors: the arrays that each layer declares (`kenyon.layers`) as `NAME.0` .. `NAME.L`, the output
layer last (a plastic layer has `weights`, inputs x neurons in float32, and `sums` in float64 where its rule has a
window), and `counters` (int64: time, updates). Metadata: `kenyon.format`, `kenyon.model` (JSON: the parameters that are
not at their defaults, parts nested; seed, width, units, labels of each head) and `kenyon.sha256` over the model's JSON
and every tensor. No code is stored or run.

Nothing that a file says is believed before it is checked (`model_check.py`), and only then is a model built.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_safetensors

from kenyon.errors import ConfigError, KenyonError, ModelFileError, unknown
from kenyon.model.engine import Engine
from kenyon.model.fitted import Core
from kenyon.model.inputs import Inputs
from kenyon.model.labels import PLAIN, Labels, is_plain, label_kind
from kenyon.model.model_check import (
    NOT_KEPT,
    check_arrays,
    check_drawn,
    check_params,
    checked_contents,
    saved_spec,
)
from kenyon.model.options import OPTIONS
from kenyon.model.plain import KINDS, with_nested, with_options
from kenyon.utils import modulation
from kenyon.utils.options import SEPARATOR, Part, changed_options, is_default, part_named
from kenyon.utils.outside import looking
from kenyon.utils.system import replacing

FORMAT = 1
"""Raised when the layout changes; every later version reads files from this one on."""

WORKING = "working."
"""Begins the names of arrays that only checkpoints have, before the layer's number."""


def metadata_bytes(engine: Engine, inputs: Inputs, heads: Mapping[Hashable, Labels]) -> int:
    """Bytes of the state that are not arrays."""
    return described_bytes(engine.params, engine.seed, inputs, heads, engine.features.n_outputs)


def described_bytes(
    params: Mapping[str, Any], seed: int, inputs: Inputs, heads: Mapping[Hashable, Labels], n_units: int
) -> int:
    """The same of a model that was not built."""
    return len(_model_json(params, seed, inputs, heads, n_units))


def state_bytes(core: Core) -> int:
    """Bytes of the whole state of a model."""
    return core.engine.state_bytes + metadata_bytes(core.engine, core.inputs, core.heads)


def empty_bytes(params: Mapping[str, Any], seed: int, inputs: Inputs) -> int:
    """The same before anything was learned."""
    return len(_model_json(params, seed, inputs, {}, 0))


def save(core: Core, path: str | os.PathLike[str]) -> None:
    """Write the file, all of it or none."""
    model, tensors = to_arrays(core)
    metadata = {"kenyon.format": str(FORMAT), "kenyon.model": model, "kenyon.sha256": digest(model, tensors)}
    content = to_safetensors(tensors, metadata)
    del tensors  # a large model is held three times otherwise
    header = _in_order(content)
    with replacing(Path(path)) as temporary, temporary.open("wb") as file:
        file.write(header)
        file.write(memoryview(content)[len(header) :])


def _in_order(content: bytes) -> bytes:
    """The head of a safetensors file with its metadata in the order of their names, which the writer leaves to chance:
    models in the same state are the same bytes."""
    size = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:size])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    ordered = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    return content[:8] + ordered.ljust(size - 8) if len(ordered) <= size - 8 else content[:size]


def load(path: str | os.PathLike[str], overrides: Mapping[str, Any]) -> tuple[dict[str, Any], Core]:
    """The parameters and the state of a saved model."""
    try:
        model, tensors = _read(path)
        trusted = "features" in overrides
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
    return _model_json(engine.params, engine.seed, core.inputs, core.heads, engine.features.n_outputs), tensors


def from_arrays(
    model_json: str, tensors: Mapping[str, NDArray], overrides: Mapping[str, Any], file_bytes: int | None = None
) -> tuple[dict[str, Any], Core]:
    """The inverse of `to_arrays`: the classifier's parameters, `overrides` in place of those saved, and its core.

    Args:
        file_bytes: size of the file that they come from, which bounds what it may ask for; None where it is trusted.
    """
    beside = {name: array for name, array in tensors.items() if name.startswith(WORKING)}
    tensors = {name: array for name, array in tensors.items() if name not in beside}
    try:
        model = json.loads(model_json)
        inputs, seed, heads, n_classes = checked_contents(model, tensors)
        check_params(model["params"], overrides)
        params = _params_from_json(model["params"], overrides)
        spec = saved_spec(params, overrides, inputs, model["units"])
        check_arrays(spec, n_classes, tensors)
        if file_bytes is not None:
            check_drawn(spec, n_classes, file_bytes)
        engine = spec.build(seed, params)
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
        if engine.calibration is not None:
            engine.calibration.applied(engine.layers[-1])
        if beside:
            raise ModelFileError(f"the model holds {min(beside)!r}: expected no such layer")
    except KenyonError:
        raise
    except (KeyError, TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
        raise ModelFileError(f"the model is not complete ({type(error).__name__}: {error})") from error
    except (RecursionError, MemoryError) as error:
        raise ModelFileError(f"the model is nested too deeply or too large ({type(error).__name__})") from error
    return params, Core(engine, heads, inputs)


def digest(model: str, tensors: Mapping[str, NDArray]) -> str:
    """SHA-256 over the model's JSON and every tensor with its name, type and shape."""
    total = hashlib.sha256(model.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        total.update(f"|{name}|{tensor.dtype.str}|{tensor.shape}|".encode())
        total.update(np.ascontiguousarray(tensor).data)
    return total.hexdigest()


# ---- the container


def _read(path: str | os.PathLike[str]) -> tuple[str, dict[str, NDArray]]:
    """The checked contents of a file."""
    if not Path(path).is_file():
        raise ModelFileError("no such file")
    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
            version = metadata.get("kenyon.format")
            if version is None:
                raise ModelFileError("a safetensors file, but not one that Kenyon wrote")
            if version != str(FORMAT):
                raise ModelFileError(f"format {version!r}, expected {FORMAT}: update Kenyon to read it")
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
    n_units: int,
) -> str:
    model: dict[str, Any] = {
        "params": {name: to_json(value) for name, value in params.items() if _is_kept(name, value)},
        "seed": seed,
        "n_inputs": inputs.n_features_in_,
        "units": n_units,
        "feature_names": None if inputs.names is None else list(inputs.names),
        "heads": [
            {"task": task, "labels": list(labels.neurons), "neurons": list(labels.neurons.values())}
            for task, labels in heads.items()
        ],
    }
    if inputs.floats:
        model["floats"] = True
    return json.dumps(model, separators=(",", ":"), default=repr)


def _is_kept(name: str, value: Any) -> bool:
    """Whether a file holds a parameter: not at its default, and not of the machine."""
    return name not in NOT_KEPT and not is_default(OPTIONS[name], value)


def _check_plain(what: str, value: Hashable) -> None:
    if value is not None and label_kind(value) in PLAIN and not is_plain(value):
        raise ConfigError(f"the {what} is {value!r}: a file holds finite numbers only")
    if value is not None and label_kind(value) not in PLAIN:
        raise ConfigError(
            f"the {what} {value!r} is a {label_kind(value)}: a file holds numbers, strings and booleans only"
        )


def _params_from_json(params: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    nested = {name: value for name, value in overrides.items() if SEPARATOR in name}
    for name in nested:  # what is given need not be in the file: a function of time
        *parts, option = name.split(SEPARATOR)
        table: Any = params
        for part in parts:
            table = table.get(part) if isinstance(table, dict) else None
        if isinstance(table, dict):
            table.pop(option, None)
    restored = {name: from_json(value, name) for name, value in params.items() if name not in overrides}
    if isinstance(pairs := restored.get("class_weight"), (list, tuple)):
        restored["class_weight"] = dict(pairs)
    given = {**restored, **{name: value for name, value in overrides.items() if name not in nested}}
    given = with_nested(given, nested)
    for name in given:
        if name not in OPTIONS:
            raise unknown("parameter", name, OPTIONS)
    return {name: given.get(name, OPTIONS[name].default) for name in sorted(OPTIONS)}


def to_json(value: Any) -> Any:
    """A parameter as plain JSON values: a part by its name and the options that are not at their defaults."""
    if isinstance(value, Part):
        name = value.name or f"{type(value).__module__}:{type(value).__qualname__}"
        return {"part": name, **{key: to_json(item) for key, item in changed_options(value).items()}}
    if callable(value):
        return modulation.to_config(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return [[label, weight] for label, weight in value.items()]
    return [to_json(item) for item in value] if isinstance(value, (tuple, list, np.ndarray)) else value


def from_json(value: Any, name: str) -> Any:
    """The inverse of `to_json`; code that a name points to is not imported for it.

    Args:
        value: of JSON.
        name: of the option; the last part of a nested name says what kind of part it is.
    """
    if isinstance(value, list):
        return tuple(value)
    if not isinstance(value, dict) or "part" not in value:
        return modulation.from_config(value, name)
    kind = name.rpartition(SEPARATOR)[2]
    if kind not in KINDS:
        raise ConfigError(f"{name} is a part in the file: expected a plain value")
    with looking():
        part = part_named(value["part"], *KINDS[kind], name)
    return with_options(part, {key: from_json(item, f"{name}{SEPARATOR}{key}") for key, item in _options(value)}, name)


def _options(value: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    return ((key, item) for key, item in value.items() if key != "part")
