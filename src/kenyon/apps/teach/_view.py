"""What the page has to know of a model beside its compiled learner: its description, its arrays, where units look."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.classifier import KenyonClassifier
from kenyon.errors import ConfigError
from kenyon.features import SparseProjection, WindowUnits
from kenyon.features.front import Motion, Spectra

TYPES = {"|u1": "U8", "<u2": "U16", "<i2": "I16", "<u4": "U32", "<u8": "U64", "<i8": "I64"}
"""Types of the arrays of a model that learns in integers, as model files name them."""


def tensors_of(model: KenyonClassifier) -> dict[str, str | int]:
    """The arrays of a model file: their types, and for packed weights the bytes of a class."""
    arrays = {name: array for name, array in model.to_arrays().items() if name != "model"}
    packed = {"weights.0": len(arrays["weights.0"])} if "weights.0" in arrays else {}
    return {name: TYPES[array.dtype.str] for name, array in arrays.items()} | packed


def description_of(model: KenyonClassifier) -> tuple[dict[str, Any], dict[str, Any]]:
    """The JSON of a model file without its labels: what comes before them, and what comes after."""
    described = json.loads(model.to_arrays()["model"].tobytes())
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    target = before
    for key, value in described.items():
        if key == "heads":
            target = after
        else:
            target[key] = value
    return before, after


def shape_of(model: KenyonClassifier) -> tuple[int, int]:
    """Height and width of the images that a model takes; refuses one that takes something else."""
    if model.spec_.front is not None:
        return model.spec_.front.shape
    shape, width = model.spec_.shape, model.n_features_in_
    side = round(width**0.5)
    if shape is None and side * side == width:
        shape = (side, side)
    if shape is None or len(shape) != 2:
        raise ConfigError(
            f"the model takes samples of {width} numbers of shape {shape}: expected images, such as shape=(28, 28)"
        )
    return int(shape[0]), int(shape[1])


def front_of(model: KenyonClassifier) -> dict[str, Any] | None:
    """What the page has to know of the front end: its sensor, and how many bytes of a frame are drawn."""
    front = model.spec_.front
    if front is None:
        return None
    if isinstance(front, Spectra):
        return {"kind": "sound", "rate": front.rate, "drawn": front.bands}
    if not isinstance(front, Motion):
        raise ConfigError(f"front is {front}: expected Spectra or Motion, which the page has")
    return {"kind": "motion", "inputs": front.inputs, "drawn": front.channels}


def units_of(model: KenyonClassifier) -> dict[str, Any]:
    """Where each unit looks: the inputs that excite it, then those that inhibit it, as places in a sample."""
    features = model.parts()[0]
    if isinstance(features, WindowUnits):
        layout = features.layout
        unshifted = features.inputs.astype(np.int64) + layout.rows // 2 * layout.padded[1] + layout.columns // 2
        entry = np.zeros(layout.n_places, np.int64)
        entry[layout.places()] = np.arange(model.n_features_in_)
        return _units("windows", entry[unshifted], features.plan()["excitatory"], layout.columns // 2)
    if isinstance(features, SparseProjection):
        return _units("sparse", features.inputs, features.plan()["excitatory"])
    return _units("identity", np.arange(model.n_features_in_)[:, np.newaxis], 1)


def _units(kind: str, inputs: NDArray, excitatory: int, shifts: int = 0) -> dict[str, Any]:
    return {"kind": kind, "excitatory": excitatory, "shifts": shifts, "inputs": inputs.tolist()}
