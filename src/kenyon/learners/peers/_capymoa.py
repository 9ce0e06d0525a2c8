"""Classifiers of CapyMOA under the protocol of the loop: those of MOA, in Java, and its own for continual learning."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.data.protocol import StreamInfo
from kenyon.errors import require
from kenyon.learners.peers._peer import Peer, TorchPeer, arguments_of, class_named


class CapyMOALearner(Peer):
    """A classifier of `capymoa.classifier`, one sample at a time. Its state is not counted: `state_bytes` is 0.

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

    def __init__(self, info: StreamInfo, seed: int, classifier: str = "NaiveBayes", arguments: str = "{}") -> None:
        super().__init__(info)
        classifiers = require("capymoa.classifier", "peers", "CapyMOALearner")
        self._instances = require("capymoa.core", "peers", "CapyMOALearner")
        cls, given = class_named([classifiers], classifier, "classifier"), arguments_of(arguments)
        if "random_seed" in inspect.signature(cls).parameters:
            given.setdefault("random_seed", seed)
        self._schema = _schema(info)
        self._model, self._seen = cls(self._schema, **given), 0

    def learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> None:
        for x, label in zip(self._scaled(X, np.float64), y.tolist(), strict=True):
            if label >= 0:
                self._model.train(self._instances.LabeledInstance.from_array(self._schema, x, label))
                self._seen += 1

    def predict(self, X: NDArray, task: int | None = None) -> NDArray[np.int64]:
        if not self._seen:
            return np.full(len(X), -1, np.int64)
        rows = self._scaled(X, np.float64)
        answers = [self._model.predict(self._instances.Instance.from_array(self._schema, x)) for x in rows]
        return np.array([-1 if answer is None else answer for answer in answers], np.int64)

    def state(self) -> dict[str, NDArray]:
        return {"seen": np.array(self._seen)}


class CapyMOAStrategy(TorchPeer):
    """A strategy of `capymoa.ocl.strategy`, batch by batch, with our network and its first weights.

    Args:
        info: the stream.
        seed: of the network's first weights, and of what the strategy draws.
        strategy: the name of a class there: `ExperienceReplay`, `EWC`, `SI`, `LWF`, `NCM`, `SLDA`.
        arguments: more arguments of it, as JSON: `{"buffer_size": 500}`.
        lr: learning rate of SGD.
        batch_size: samples learned together.
        hidden: units of the hidden layers.

    Example:
        >>> from kenyon.learners import learner_options
        >>> learner_options("kenyon.learners.peers:CapyMOAStrategy")["strategy"]
        'ExperienceReplay'
    """

    def __init__(
        self,
        info: StreamInfo,
        seed: int,
        strategy: str = "ExperienceReplay",
        arguments: str = "{}",
        lr: float = 0.1,
        batch_size: int = 10,
        hidden: Sequence[int] = (400, 400),
    ) -> None:
        super().__init__(info, seed, batch_size, hidden, "CapyMOAStrategy")
        strategies = require("capymoa.ocl.strategy", "peers", "CapyMOAStrategy")
        self._events = require("capymoa.ocl.evaluation.events", "peers", "CapyMOAStrategy")
        cls, schema = class_named([strategies], strategy, "strategy"), _schema(info)
        wanted, given = inspect.signature(cls).parameters, arguments_of(arguments)
        optimiser = partial(self._torch.optim.SGD, lr=lr)
        if "learner" in wanted:  # it wraps a network that is fine-tuned
            tuned = require("capymoa.classifier", "peers", "CapyMOAStrategy").Finetune
            given["learner"] = tuned(schema, self._net, optimiser(self._net.parameters()), random_seed=seed)
            self._model = cls(**given)
        else:
            if "model" in wanted:
                given |= {"model": self._net, "optimiser": optimiser(self._net.parameters())}
            self._model = cls(schema, **given)
        self._source = require("capymoa.ocl.events", "peers", "CapyMOAStrategy").Dispatcher()
        if hasattr(self._model, "attach_with"):
            self._model.attach_with(self._source)
        self._task = 0
        self._begin()

    def _begin(self) -> None:
        self._source.notify(self._events.TrainTaskBegin(train_task=self._task, global_step=self._steps))

    def learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> None:
        known = np.flatnonzero(y >= 0)
        for start in range(0, len(known), self.batch_size):
            rows = known[start : start + self.batch_size]
            self._model.batch_train(self._tensor(X[rows]), self._torch.from_numpy(y[rows]))
            self._steps += 1

    def _scores(self, x: Any) -> Any:
        return self._model.batch_predict_proba(x)

    def end_task(self, last: bool) -> None:
        self._task += 1
        if not last:
            self._begin()


def _schema(info: StreamInfo) -> Any:
    """A stream's features and classes, as CapyMOA describes them."""
    stream = require("capymoa.stream", "peers", "CapyMOALearner")
    return stream.Schema.from_custom(
        features=[*(f"x{number}" for number in range(info.n_features)), "y"],
        target="y",
        categories={"y": [str(label) for label in range(info.n_classes)]},
        name="kenyon",
    )
