"""A model as one safetensors file: weights as tensors, everything else as JSON, and a checksum.

Layout, version 1. Tensors: `weights.0` .. `weights.L` (float32, inputs x neurons, the output layer
last), `sums.0` .. `sums.L` (float64, only where the rule has a window), `counters` (int64: time,
updates). Metadata: `kenyon.version`, `kenyon.model` (JSON: parameters, seed, width, labels of each
head) and `kenyon.sha256` over the model's JSON and every tensor. No code is stored or run.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_safetensors

from kenyon import modulation
from kenyon._build import build_engine, settle
from kenyon._engine import Engine
from kenyon.errors import ConfigError, KenyonError, ModelFileError
from kenyon.labels import Labels, label_kind
from kenyon.rules import INEL, Rule, make_rule

if TYPE_CHECKING:
    from kenyon.learner import KenyonClassifier

VERSION = 1


def metadata_bytes(classifier: KenyonClassifier, seed: int, n_inputs: int, heads: dict[Hashable, Labels]) -> int:
    """Bytes of the state that are not arrays."""
    return len(_model_json(classifier, seed, n_inputs, heads, strict=False))


def save(classifier: KenyonClassifier, path: str | os.PathLike[str]) -> None:
    """Write the file beside its final place, then move it there."""
    model, tensors = to_arrays(classifier)
    metadata = {"kenyon.version": str(VERSION), "kenyon.model": model, "kenyon.sha256": _digest(model, tensors)}
    path = Path(path)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        try:
            file.write(to_safetensors(tensors, metadata))
            file.flush()
            os.fsync(file.fileno())
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def load(cls: type[KenyonClassifier], path: str | os.PathLike[str], overrides: dict[str, Any]) -> KenyonClassifier:
    """A classifier that goes on where the saved one stopped."""
    model, tensors = _read(path)
    try:
        return from_arrays(cls, model, tensors, overrides)
    except KenyonError as error:
        raise ModelFileError(f"{path}: {error}") from error


NOT_KEPT = ("n_jobs", "random_state")
"""Threads belong to the machine, not to the model; the seed is kept as it was drawn."""


def to_arrays(classifier: KenyonClassifier) -> tuple[str, dict[str, NDArray]]:
    """The state as JSON and named arrays, copied."""
    engine = classifier._engine
    model = _model_json(classifier, engine.seed, engine.n_inputs, classifier._heads, strict=True)
    tensors: dict[str, NDArray] = {"counters": np.array([engine.time, engine.updates], np.int64)}
    for number, layer in enumerate(engine.layers):
        tensors[f"weights.{number}"] = layer.weights.copy()
        if layer.windowed:
            tensors[f"sums.{number}"] = layer.sums[: layer.n_neurons].copy()
    return model, tensors


def from_arrays(
    cls: type[KenyonClassifier], model_json: str, tensors: dict[str, NDArray], overrides: dict[str, Any]
) -> KenyonClassifier:
    """The inverse of `to_arrays`; `overrides` replace parameters."""
    try:
        model = json.loads(model_json)
        _check_contents(model, tensors)
        classifier = cls(**_params_from_config(model["params"], overrides))
        engine = _engine_of(classifier, model["n_inputs"], model["seed"], tensors["weights.0"].shape[0])
        heads = {head["task"]: Labels(zip(head["labels"], head["neurons"], strict=True)) for head in model["heads"]}
        engine.time, engine.updates = tensors["counters"].tolist()
        n_classes = tensors[f"weights.{len(engine.layers) - 1}"].shape[1]
        for number, layer in enumerate(engine.layers):
            weights = tensors[f"weights.{number}"]
            width = layer.n_hidden or n_classes
            if weights.shape != (layer.n_inputs, width) or (layer.windowed and tensors[f"sums.{number}"].size != width):
                raise ModelFileError(f"weights.{number} is {weights.shape}: expected {(layer.n_inputs, width)}")
            sums = tensors[f"sums.{number}"] if layer.windowed else np.zeros(weights.shape[1])
            layer.load(weights, sums, n_classes)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        if isinstance(error, KenyonError):
            raise
        raise ModelFileError(f"the model is not complete ({type(error).__name__}: {error})") from error
    classifier._engine, classifier._heads = engine, heads
    classifier.n_features_in_ = model["n_inputs"]
    if model["feature_names"] is not None:
        classifier.feature_names_in_ = np.array(model["feature_names"], object)
    return classifier


def _check_contents(model: dict[str, Any], tensors: dict[str, NDArray]) -> None:
    """Refuse a model whose parts do not fit together."""
    n_inputs, seed, names = model["n_inputs"], model["seed"], model["feature_names"]
    n_classes = tensors[f"weights.{sum(name.startswith('weights.') for name in tensors) - 1}"].shape[1]
    neurons = [neuron for head in model["heads"] for neuron in head["neurons"]]
    kinds = [{label_kind(label) for label in head["labels"]} for head in model["heads"]]
    arrays = [array for name, array in tensors.items() if name != "counters"]
    wanted = {
        "a width of at least 1": isinstance(n_inputs, int) and n_inputs >= 1,
        "a seed from 0 to 2**32 - 1": isinstance(seed, int) and 0 <= seed < 1 << 32,
        "a name for each feature": names is None or len(names) == n_inputs,
        "two counters": tensors["counters"].dtype == np.int64 and tensors["counters"].shape == (2,),
        "counters from 0": (tensors["counters"] >= 0).all(),
        "weights in float32, sums in float64": all(
            array.dtype == (np.float32 if name.startswith("weights.") else np.float64)
            for name, array in tensors.items()
            if name != "counters"
        ),
        "finite weights": all(np.isfinite(array).all() for array in arrays),
        f"each label its own neuron, below {n_classes}": (
            len(set(neurons)) == len(neurons) and all(neuron in range(n_classes) for neuron in neurons)
        ),
        "labels of one kind": all(len(kind) == 1 and kind <= {"number", "string", "boolean"} for kind in kinds),
    }
    for what, true in wanted.items():
        if not true:
            raise ModelFileError(f"the model does not fit together: expected {what}")


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
    model = metadata.get("kenyon.model", "")
    if _digest(model, tensors) != metadata.get("kenyon.sha256"):
        raise ModelFileError(f"{path}: the checksum does not match, the file is damaged")
    return model, tensors


def _digest(model: str, tensors: dict[str, NDArray]) -> str:
    digest = hashlib.sha256(model.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"|{name}|{tensor.dtype.str}|{tensor.shape}|".encode())
        digest.update(np.ascontiguousarray(tensor).tobytes())
    return digest.hexdigest()


def _model_json(
    classifier: KenyonClassifier, seed: int, n_inputs: int, heads: dict[Hashable, Labels], strict: bool
) -> str:
    engine = getattr(classifier, "_engine", None)
    params = classifier.get_params(deep=False) if engine is None else engine.params  # in force since the first sample
    names = getattr(classifier, "feature_names_in_", None)
    model: dict[str, Any] = {
        "params": {name: _to_config(value) for name, value in params.items() if name not in NOT_KEPT},
        "seed": seed,
        "n_inputs": n_inputs,
        "feature_names": None if names is None else list(names),
        "heads": [
            {"task": task, "labels": list(labels.neurons), "neurons": list(labels.neurons.values())}
            for task, labels in heads.items()
        ],
    }
    if strict:
        for head in model["heads"]:
            _check_plain("task", head["task"])
            for label in head["labels"]:
                _check_plain("label", label)
    return json.dumps(model, separators=(",", ":"), default=repr)


def _check_plain(what: str, value: Hashable) -> None:
    if value is not None and label_kind(value) not in ("number", "string", "boolean"):
        raise ConfigError(
            f"the {what} {value!r} is a {label_kind(value)}: a file holds numbers, strings and booleans only"
        )


def _to_config(value: Any) -> Any:
    """A parameter as plain JSON values."""
    if isinstance(value, INEL):
        return {"rule": "inel", "beta": _to_config(value.beta), "inside": _to_config(value.rule)}
    if isinstance(value, Rule):
        return {"rule": value.name, **{key: _to_config(item) for key, item in value.parameters.items()}}
    if callable(value):
        return modulation.to_config(value)
    if isinstance(value, np.generic):
        return value.item()
    return list(value) if isinstance(value, (tuple, list, np.ndarray)) else value


def _engine_of(classifier: KenyonClassifier, n_inputs: int, seed: int, n_units: int) -> Engine:
    """The engine of a saved model, whose size was settled when it was first made."""
    params = classifier.get_params(deep=False)
    sized = {**params, "memory_budget": None, **({"n_hidden": n_units} if classifier.features == "sparse" else {})}
    return build_engine(settle(sized, n_inputs, 0, 0), n_inputs, seed, params)


def _params_from_config(params: dict[str, Any], overrides: dict[str, Any]) -> dict[str, Any]:
    restored = {
        name: _rule_from_config(value) if name == "rule" else modulation.from_config(value, name)
        for name, value in params.items()
        if name not in overrides
    }
    return {**restored, **overrides}


def _rule_from_config(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    parameters = {key: item for key, item in value.items() if key != "rule"}
    if "inside" in parameters:
        return INEL(modulation.from_config(parameters["beta"], "inel.beta"), _rule_from_config(parameters["inside"]))
    name = value["rule"]
    return make_rule(name, {key: modulation.from_config(item, f"{name}.{key}") for key, item in parameters.items()})
