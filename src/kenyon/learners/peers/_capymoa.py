"""Classifiers of CapyMOA (MOA, in Java) under the protocol of the loop, one instance at a time."""

from __future__ import annotations

import inspect
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.data.protocol import StreamInfo
from kenyon.errors import ConfigError, InputError, require


class CapyMOALearner:
    """A classifier of `capymoa.classifier`.

    Its state stays in Java: a run that is stopped starts over, and `state_bytes` is 0.

    Args:
        info: the stream.
        seed: handed on as `random_seed`, where the classifier has one.
        classifier: the name of a class of `capymoa.classifier`.
        arguments: more arguments of it, as JSON: `{"k": 5}`.

    Example:
        >>> from kenyon.learners.peers import CapyMOALearner
        >>> CapyMOALearner.batch_size
        1
    """

    batch_size = 1

    def __init__(self, info: StreamInfo, seed: int, classifier: str = "NaiveBayes", arguments: str = "{}") -> None:
        if info.task_heads:
            raise ConfigError("CapyMOALearner has no heads for tasks: expected a scenario without a given task")
        classifiers = require("capymoa.classifier", "peers", "CapyMOALearner")
        stream = require("capymoa.stream", "peers", "CapyMOALearner")
        self._instances = require("capymoa.core", "peers", "CapyMOALearner")
        cls = getattr(classifiers, classifier, None)
        if not isinstance(cls, type):
            raise ConfigError(f"classifier is {classifier!r}: expected the name of a class of capymoa.classifier")
        names = [f"x{number}" for number in range(info.n_features)]
        self._schema = stream.Schema.from_custom(
            features=[*names, "y"],
            target="y",
            categories={"y": [str(label) for label in range(info.n_classes)]},
            name="kenyon",
        )
        given: dict[str, Any] = json.loads(arguments)
        if "random_seed" in inspect.signature(cls).parameters:
            given.setdefault("random_seed", seed)
        self._model = cls(self._schema, **given)
        self._info, self._seen = info, 0

    def learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> None:
        for x, label in zip(self._scaled(X), y.tolist(), strict=True):
            if label >= 0:
                self._model.train(self._instances.LabeledInstance.from_array(self._schema, x, label))
                self._seen += 1

    def test_then_learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> NDArray[np.int64]:
        predicted = np.empty(len(y), np.int64)
        for k in range(len(y)):
            predicted[k] = self.predict(X[k : k + 1])[0]
            self.learn(X[k : k + 1], y[k : k + 1])
        return predicted

    def predict(self, X: NDArray, task: int | None = None) -> NDArray[np.int64]:
        if not self._seen:
            return np.full(len(X), -1, np.int64)
        answers = [self._model.predict(self._instances.Instance.from_array(self._schema, x)) for x in self._scaled(X)]
        return np.array([-1 if answer is None else answer for answer in answers], np.int64)

    def end_task(self, last: bool) -> None:
        """Ignored: MOA has no tasks."""

    def state(self) -> dict[str, NDArray]:
        return {"seen": np.array(self._seen)}

    def restore(self, state: dict[str, NDArray]) -> None:
        raise InputError("a classifier of CapyMOA cannot go on from a checkpoint: expected a run that starts over")

    @property
    def state_bytes(self) -> int:
        return 0

    @property
    def synaptic_updates(self) -> int:
        return 0

    def _scaled(self, X: NDArray) -> NDArray[np.float64]:
        low, high = self._info.value_range
        return (np.asarray(X, np.float64) - low) / (high - low)
