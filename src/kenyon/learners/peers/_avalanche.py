"""Strategies of Avalanche under the protocol of the loop.

Avalanche trains on one experience after the other. The samples of a task are collected as they come and trained on, in
one pass of small batches, when the task ends; predictions within a task are those of the model before. Avalanche
shuffles them, as it does by default: unshuffled, it would also go through the buffer in the order in which that was
filled. The network is ours, with the same first weights, so that a strategy and our baseline of the method differ in
the method alone.
"""

from __future__ import annotations

import random
import types
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.data.protocol import StreamInfo
from kenyon.errors import require
from kenyon.learners.peers._peer import BLOCK, TorchPeer, arguments_of, class_named


class AvalancheLearner(TorchPeer):
    """A strategy of `avalanche.training.supervised`.

    Args:
        info: the stream.
        seed: of the network's first weights, and of what the strategy draws.
        strategy: the name of a class there: `Naive`, `Replay`, `DER`, `EWC`, `SynapticIntelligence`, `LwF`, `AGEM`,
            `ICaRL`.
        arguments: more arguments of it, as JSON: `{"mem_size": 500}`.
        lr: learning rate of SGD.
        batch_size: samples learned together.
        hidden: units of the hidden layers.

    Example:
        >>> from kenyon.learners import learner_options
        >>> learner_options("kenyon.learners.peers:AvalancheLearner")["strategy"]
        'Naive'
    """

    def __init__(
        self,
        info: StreamInfo,
        seed: int,
        strategy: str = "Naive",
        arguments: str = "{}",
        lr: float = 0.1,
        batch_size: int = 10,
        hidden: Sequence[int] = (400, 400),
    ) -> None:
        super().__init__(info, seed, batch_size, hidden, "AvalancheLearner")
        torch = self._torch
        supervised = require("avalanche.training.supervised", "peers", "AvalancheLearner")
        self._benchmarks = require("avalanche.benchmarks", "peers", "AvalancheLearner")
        self._datasets = require("avalanche.benchmarks.utils", "peers", "AvalancheLearner")
        given = {"optimizer": torch.optim.SGD(self._net.parameters(), lr=lr), **arguments_of(arguments)}
        if strategy == "ICaRL":
            given |= {"feature_extractor": self._net.body, "classifier": self._net.head, "buffer_transform": None}
        else:
            given |= {"model": self._net, "criterion": torch.nn.CrossEntropyLoss()}
        self._strategy: Any = class_named([supervised], strategy, "strategy")(
            train_mb_size=batch_size, train_epochs=1, eval_mb_size=BLOCK, evaluator=None, **given
        )
        self._kept: list[tuple[NDArray, NDArray[np.int64]]] = []

    def learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> None:
        known = y >= 0
        self._kept.append((np.array(X[known]), y[known].copy()))

    def test_then_learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> NDArray[np.int64]:
        predicted = self.predict(X)
        self.learn(X, y)
        return predicted

    def _scores(self, x: Any) -> Any:
        return self._strategy.model.eval()(x)

    def end_task(self, last: bool) -> None:
        """Train on what was collected."""
        torch, info = self._torch, self._info
        X = np.concatenate([part for part, _ in self._kept])
        y = np.concatenate([part for _, part in self._kept])
        self._kept = []
        if not len(y):
            return
        make = self._datasets._make_taskaware_tensor_classification_dataset  # as its own strategies do
        dataset = make(self._tensor(X), torch.from_numpy(y), task_labels=0)
        experience = self._benchmarks.benchmark_from_datasets(train=[dataset]).train_stream[0]
        experience.benchmark = types.SimpleNamespace(
            n_classes_per_exp=[len(task) for task in info.tasks],
            classes_order=[label for task in info.tasks for label in task],
        )
        experience.classes_in_this_experience = sorted(set(y.tolist()))
        self._strategy.model.train()
        before = random.getstate()  # some strategies draw from Python's generator
        with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            torch.manual_seed(self._seed + self._steps)
            random.seed(self._seed + self._steps)
            self._strategy.train(experience, shuffle=True, num_workers=0)
        random.setstate(before)
        self._steps += -(-len(y) // self.batch_size)
