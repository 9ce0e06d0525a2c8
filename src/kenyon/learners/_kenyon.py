"""`KenyonClassifier` under the protocol of the loop, its options as plain values for a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from kenyon.classifier import KenyonClassifier
from kenyon.data.protocol import StreamInfo
from kenyon.model.plain import classifier_params, common_names, default_options, every_option, option_table


def _with_shape(options: Mapping[str, Any], shape: tuple[int, ...]) -> dict[str, Any]:
    """Add the shape of the samples for windows, or where a memory budget chooses the features."""
    wanted = options.get("features", "auto")
    windows = wanted in ("windows", "patches") or (
        wanted == "auto" and options.get("memory_budget", "off") not in ("off", "", None)
    )
    if windows and len(shape) > 1 and options.get("shape", "off") == "off":
        return {**options, "shape": shape}
    return dict(options)


class KenyonLearner:
    """Our own learner.

    Args:
        info: the stream.
        seed: seed of the projection.
        options: options of the classifier (`kenyon.utils.options`) as plain values, and parameters of its rule.

    Example:
        >>> KenyonLearner.default_options({"rule": "oja"})["rule__b1"]
        1.0
        >>> KenyonLearner.option_table({})["n_hidden"].default
        'auto'
    """

    batch_size = 1
    common_options = staticmethod(common_names)
    every_option = staticmethod(every_option)
    default_options = staticmethod(default_options)
    option_table = staticmethod(option_table)

    def __init__(self, info: StreamInfo, seed: int, **options: Any) -> None:
        self._info = info
        params = classifier_params(_with_shape(options, info.shape)) | {
            "expected_classes": info.n_classes,
            "unlabelled": -1,  # as streams mark samples without a label
            "random_state": seed,
        }
        self.classifier = KenyonClassifier(**params)
        self.classifier.check_params(info.n_features)

    def learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> None:
        if self._started or (y >= 0).any():
            self.classifier.partial_fit(X, y, task=task)

    def test_then_learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> NDArray[np.int64]:
        if not self._started and not (y >= 0).any():  # there is nothing to predict before the first label
            return np.full(len(y), -1, np.int64)
        return self.classifier.test_then_learn(X, y, task=task)

    def learn_recorded(
        self, X: NDArray, y: NDArray[np.int64], task: int | None, every: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        predictions, means = [], []
        for start in range(0, len(y), every):
            piece = slice(start, start + every)
            predictions.append(self.test_then_learn(X[piece], y[piece], task))
            if start + every <= len(y):
                means.append(self.weight_means())
        return np.concatenate(predictions), np.array(means, np.float32).reshape(len(means), self._info.n_classes)

    def predict(self, X: NDArray, task: int | None = None) -> NDArray[np.int64]:
        if not self._started or task not in self.classifier.tasks_:
            return np.full(len(X), -1, np.int64)
        return self.classifier.predict(X, task=task)

    def class_scores(self, X: NDArray, task: int | None = None) -> NDArray:
        """One score per sample and class, -inf for classes not known."""
        scores = np.full((len(X), self._info.n_classes), -np.inf)
        if self._started and task in self.classifier.tasks_:
            labels = sorted(cast("int", label) for label in self.classifier.neurons(task))
            own = self.classifier.decision_function(X, task=task)
            scores[:, labels] = np.stack([-own, own], axis=1) / 2 if own.ndim == 1 else own
        return scores

    @property
    def feature_operations(self) -> int:
        """Multiply-adds (or additions) of the features of one sample: a unit's inputs, at every shift of its window."""
        features = self.classifier.parts()[0] if self._started else None
        layout = getattr(features, "layout", None)
        shifts = 1 if layout is None else layout.rows * layout.columns
        inputs = getattr(features, "inputs", None)
        n_outputs = 0 if features is None else features.n_outputs
        dense = getattr(features, "_signs", None)
        return shifts * inputs.size if inputs is not None else n_outputs if dense is None else dense.size

    @property
    def what_learned(self) -> str:
        """The rule of the output layer, or the layer itself where it has none: "gen", "second-order", "counting"."""
        layer = self.classifier.spec_.layer
        return str(getattr(getattr(layer, "rule", None) or layer, "name", "")) if self._started else ""

    def end_task(self, last: bool) -> None:
        """Ignored: the learner does not use task boundaries."""

    def weight_means(self) -> NDArray[np.float32]:
        """Mean incoming weight of each class's output neuron, NaN where it has none yet."""
        means = np.full(self._info.n_classes, np.nan, np.float32)
        if self._started:
            by_neuron = self.classifier.weight_means_
            for task in self.classifier.tasks_:
                for label, neuron in self.classifier.neurons(task).items():
                    means[cast("int", label)] = by_neuron[neuron]
        return means

    def state(self) -> dict[str, NDArray]:
        return self.classifier.to_arrays(working=True) if self._started else {}

    def restore(self, state: dict[str, NDArray]) -> None:
        if state:
            self.classifier = KenyonClassifier.from_arrays(state, **self._parts)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as a file that `KenyonClassifier.load` reads."""
        self.classifier.save(path)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Go on from a file of `save`."""
        self.classifier = KenyonClassifier.load(path, **self._parts)

    @property
    def _parts(self) -> dict[str, Any]:
        """What a file does not hold, or only names: functions of time, classes from outside the package, threads."""
        return {name: getattr(self.classifier, name) for name in ("rule", "layer", "n_jobs")}

    @property
    def state_bytes(self) -> int:
        return self.classifier.state_bytes if self._started else 0

    @property
    def synaptic_updates(self) -> int:
        return self.classifier.synaptic_updates_ if self._started else 0

    @property
    def _started(self) -> bool:
        return self.classifier.__sklearn_is_fitted__()
