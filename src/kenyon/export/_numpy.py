"""Plain arrays, and a predictor that needs NumPy alone.

`model.npz` holds the projection as a matrix of -1, 0 and 1 (inputs x units) or the windows' inputs, the moments that
inputs are scaled by, the weights of every layer, the labels in the order of the last layer's columns, and how the parts
are put together; `predict.py` reads it. Scores agree with the classifier's to the rounding of float32.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kenyon.classifier import KenyonClassifier
from kenyon.errors import ConfigError
from kenyon.features import Features, IdentityUnits, RampUnits, SparseProjection, WindowUnits
from kenyon.layers import LocalErrorLayer, PlasticLayer, SecondOrderLayer
from kenyon.model.scale import Scaler
from kenyon.model.units import Units
from kenyon.regressor import KenyonRegressor

PREDICT = '''"""Predict with a model that Kenyon exported: `python predict.py samples.npy` prints predictions."""

import sys
from pathlib import Path

import numpy as np

MODEL = np.load(Path(__file__).with_name("model.npz"), allow_pickle=False)


def features(samples):
    """x_e of each sample, (samples, units)."""
    samples = np.asarray(samples)
    if samples.dtype != np.uint8 and "own_range" in MODEL:
        samples = as_bytes(samples.astype(np.float32).astype(np.float64))
    x = samples.astype(np.float64)
    if "means" in MODEL:
        known = MODEL["deviations"] > 0
        x = np.where(known & ~np.isnan(x), (x - MODEL["means"]) / np.where(known, MODEL["deviations"], 1), 0)
        size = np.minimum(np.abs(x), MODEL["farthest"])
        far = 2 * np.sqrt(MODEL["knee"] * size) - MODEL["knee"]
        x = MODEL["unit"] * np.sign(x) * np.where(size > MODEL["knee"], far, size)
    if "shifts" in MODEL:
        return through_windows(x, samples.dtype == np.uint8)
    if "ramps" in MODEL:
        ramps = np.maximum(x @ MODEL["ramps"] - MODEL["ramp_offsets"], 0)
        return np.concatenate([x[:, : MODEL["n_beside"]], ramps], axis=1)
    if "projection" in MODEL:
        x = x @ MODEL["projection"]
        if MODEL["thresholded"]:
            x = x - (x.mean(axis=1, keepdims=True) + MODEL["threshold"] * x.std(axis=1, keepdims=True))
        x = np.maximum(x, 0)
    return unit(x)


def as_bytes(x):
    """Images in other numbers, each by its own range; black is zero where it is near."""
    low, high = x.min(axis=1, keepdims=True), x.max(axis=1, keepdims=True)
    low = np.where((low >= 0) & (2 * low <= high), 0, low)
    return np.rint((x - low) * 255 / np.where(high > low, high - low, 1)).astype(np.uint8)


def through_windows(x, whole):
    """The same where units look through windows; `whole` if the samples are bytes."""
    image = np.zeros((len(x), MODEL["n_places"]))
    image[:, MODEL["places"]] = x
    responses = np.full((len(x), len(MODEL["inputs"])), -np.inf if MODEL["best"] else 0.0)
    for shift in MODEL["shifts"]:
        here = sum(sign * image[:, places + shift] for sign, places in zip(MODEL["signs"], MODEL["inputs"].T))
        responses = np.maximum(responses, here) if MODEL["best"] else responses + np.maximum(here, 0)
    one = 1 if whole else 255
    if MODEL["root"]:
        responses = np.sqrt(np.maximum(responses, 0) * one * 0.5 ** MODEL["root_shift"])
        responses = np.floor(responses) if whole else responses
    bar = 0.0
    if MODEL["thresholded"]:
        bar = responses.mean(axis=1, keepdims=True) + MODEL["threshold"] * responses.std(axis=1, keepdims=True)
        bar = np.floor(bar) if whole and MODEL["in_bytes"] else bar
    active = np.maximum(responses - bar, 0)
    if MODEL["in_bytes"]:
        return np.floor(np.minimum(active * (1 if MODEL["root"] else one * 0.5 ** MODEL["shift"]), 255))
    return unit(active)


def unit(x):
    """Rows of length 1, where the model wants them."""
    length = np.linalg.norm(x, axis=1, keepdims=True)
    return x / np.where(length, length, 1) if MODEL["unit_norm"] else x


def scores(samples):
    """x_o of each class, in the order of `labels`."""
    x = features(samples)
    for number in range(MODEL["n_layers"] - 1):
        x = unit(np.maximum(x @ MODEL[f"weights_{number}"], 0))
    return np.clip(x @ MODEL[f"weights_{MODEL['n_layers'] - 1}"] + MODEL["offsets"], *MODEL["bounds"])


def predict(samples):
    """The label with the highest score; the targets where the model learned numbers."""
    found = scores(samples)
    if "labels" in MODEL:
        return MODEL["labels"][found.argmax(axis=1)]
    return found[:, 0] if MODEL["flat"] else found


if __name__ == "__main__":
    print(*predict(np.load(sys.argv[1], allow_pickle=False)), sep="\\n")
'''


def write(model: KenyonClassifier | KenyonRegressor, out: Path) -> list[Path]:
    """Write `model.npz` and `predict.py`."""
    arrays = _regression(model) if isinstance(model, KenyonRegressor) else _classes(model)
    np.savez_compressed(out / "model.npz", **arrays)  # type: ignore[arg-type]
    (out / "predict.py").write_text(PREDICT, encoding="utf-8")
    return [out / "model.npz", out / "predict.py"]


def _regression(regressor: KenyonRegressor) -> dict[str, NDArray]:
    sums = regressor.sums()
    line, flat = sums.line(), regressor.predict(np.zeros((1, sums.n_inputs))).ndim == 1
    last = {"weights_0": line.slopes, "offsets": line.offset, "bounds": np.stack(sums.bounds())}
    sizes = {"n_layers": np.array(1), "unit_norm": np.array(False), "flat": np.array(flat)}
    scaled = {} if sums.units is None else _scaled(sums.units)
    return {**last, **sizes, **scaled, **_drawn(sums.features)}


def _drawn(features: Features) -> dict[str, NDArray]:
    """What features were drawn."""
    if isinstance(features, RampUnits):
        return _ramps(features)
    if isinstance(features, WindowUnits):
        return _windows(features)
    if isinstance(features, SparseProjection):
        sparse = {"projection": features.matrix(), "thresholded": np.array(features.threshold is not None)}
        return {**sparse, "threshold": np.array(features.threshold or 0.0)}
    return {}


def _classes(classifier: KenyonClassifier) -> dict[str, NDArray]:
    if classifier.tasks_ != [None]:
        raise ConfigError(f"the model has the tasks {classifier.tasks_!r}: expected one head without a task")
    features, layers = classifier.parts()
    if not isinstance(features, (SparseProjection, IdentityUnits, RampUnits, WindowUnits)):
        kind = type(features).__name__
        raise ConfigError(
            f"the features are {kind}: expected 'sparse', 'windows', 'ramps' or 'identity' for this export"
        )
    if not all(isinstance(layer, (LocalErrorLayer, PlasticLayer, SecondOrderLayer)) for layer in layers):
        raise ConfigError("the layer keeps more than weights: expected 'plastic' or 'second-order' for this export")
    arrays: dict[str, NDArray] = {f"weights_{number}": np.array(layer.weights) for number, layer in enumerate(layers)}
    neurons = classifier.neurons()
    last = f"weights_{len(layers) - 1}"
    order = [neurons[label] for label in classifier.classes_.tolist()]
    arrays[last] = arrays[last][:, order]
    output = layers[-1]
    arrays["offsets"] = output.offsets[order] if isinstance(output, SecondOrderLayer) else np.zeros(len(order))
    arrays["bounds"] = np.array(output.outputs if isinstance(output, PlasticLayer) else (-np.inf, np.inf))
    if (scaler := classifier.scaler()) is not None:
        arrays |= _scaled(scaler)
    arrays |= _drawn(features)
    arrays |= {"labels": classifier.classes_, "n_layers": np.array(len(layers))}
    second = isinstance(output, SecondOrderLayer)
    arrays["unit_norm"] = np.array(classifier.unit_norm is True or (classifier.unit_norm == "auto" and not second))
    return arrays


def _scaled(scaler: Scaler | Units) -> dict[str, NDArray]:
    """How inputs are scaled."""
    units = {"means": scaler.centres, "deviations": scaler.deviations, "farthest": scaler.farthest}
    arrays = {name: values[scaler.groups] for name, values in units.items()}
    return arrays | {"knee": np.array(scaler.knee), "unit": np.array(scaler.unit)}


def _ramps(features: RampUnits) -> dict[str, NDArray]:
    matrix, offsets = features.matrix()
    return {"ramps": matrix, "ramp_offsets": offsets, "n_beside": np.array(features.n_beside)}


def _windows(features: WindowUnits) -> dict[str, NDArray]:
    """The inputs of each unit with their signs, the shifts as offsets, and what is made of the responses."""
    plan, layout = features.plan(), features.layout
    rows, columns = np.arange(plan["rows"]) * plan["stride"], np.arange(plan["columns"])
    signs = np.where(np.arange(features.inputs.shape[1]) < plan["excitatory"], 1, -1)
    arrays = {"inputs": features.inputs, "places": layout.places(), "n_places": np.array(layout.n_places)}
    arrays |= {"shifts": np.add.outer(rows, columns).ravel(), "signs": signs}
    arrays |= {"threshold": np.array(features.threshold or 0.0), "in_bytes": np.array(features.in_bytes)}
    arrays |= {"own_range": np.array(True)} if features.own_range else {}
    names = ("best", "root", "root_shift", "shift", "thresholded")
    return arrays | {name: np.array(plan[name]) for name in names}
