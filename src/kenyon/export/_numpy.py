"""Plain arrays, and a predictor that needs NumPy alone.

`model.npz` holds the projection as a matrix of -1, 0 and 1 (inputs x units), the weights of every layer, the labels
in the order of the last layer's columns, and how the parts are put together; `predict.py` reads it. Scores agree
with the classifier's to the rounding of float32.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import ConfigError
from kenyon.features import Identity, SparseProjection
from kenyon.layers import PlasticLayer
from kenyon.learner import KenyonClassifier

PREDICT = '''"""Predict with a model that Kenyon exported: `python predict.py samples.npy` prints one label per line."""

import sys
from pathlib import Path

import numpy as np

MODEL = np.load(Path(__file__).with_name("model.npz"), allow_pickle=False)


def features(samples):
    """x_e of each sample, (samples, units)."""
    x = np.asarray(samples, np.float64)
    if "projection" in MODEL:
        x = x @ MODEL["projection"]
        if MODEL["thresholded"]:
            x = x - (x.mean(axis=1, keepdims=True) + MODEL["threshold"] * x.std(axis=1, keepdims=True))
        x = np.maximum(x, 0)
    return unit(x)


def unit(x):
    """Rows of length 1, where the model wants them."""
    length = np.linalg.norm(x, axis=1, keepdims=True)
    return x / np.where(length, length, 1) if MODEL["unit_norm"] else x


def scores(samples):
    """x_o of each class, in the order of `labels`."""
    x = features(samples)
    for number in range(MODEL["n_layers"] - 1):
        x = unit(np.maximum(x @ MODEL[f"weights_{number}"], 0))
    return x @ MODEL[f"weights_{MODEL['n_layers'] - 1}"]


def predict(samples):
    """The label with the highest score."""
    return MODEL["labels"][scores(samples).argmax(axis=1)]


if __name__ == "__main__":
    print(*predict(np.load(sys.argv[1], allow_pickle=False)), sep="\\n")
'''


def write(classifier: KenyonClassifier, out: Path) -> list[Path]:
    """Write `model.npz` and `predict.py`."""
    if classifier.tasks_ != [None]:
        raise ConfigError(f"the model has the tasks {classifier.tasks_!r}: expected one head without a task")
    features, layers = classifier.parts()
    if not isinstance(features, (SparseProjection, Identity)):
        kind = type(features).__name__
        raise ConfigError(f"the features are {kind}: expected 'sparse' or 'identity' for this export")
    if not all(isinstance(layer, PlasticLayer) for layer in layers):
        raise ConfigError("the layer keeps more than weights: expected layer='plastic' for this export")
    arrays: dict[str, NDArray] = {f"weights_{number}": np.array(layer.weights) for number, layer in enumerate(layers)}
    neurons = classifier.neurons()
    last = f"weights_{len(layers) - 1}"
    arrays[last] = arrays[last][:, [neurons[label] for label in classifier.classes_.tolist()]]
    if isinstance(features, SparseProjection):
        arrays |= {"projection": features.matrix(), "thresholded": np.array(features.threshold is not None)}
        arrays["threshold"] = np.array(features.threshold or 0.0)
    arrays |= {"labels": classifier.classes_, "n_layers": np.array(len(layers))}
    arrays["unit_norm"] = np.array(classifier.unit_norm is not False)
    np.savez_compressed(out / "model.npz", **arrays)  # type: ignore[arg-type]
    (out / "predict.py").write_text(PREDICT, encoding="utf-8")
    return [out / "model.npz", out / "predict.py"]
