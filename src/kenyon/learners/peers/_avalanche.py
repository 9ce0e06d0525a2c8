"""Strategies of Avalanche under the protocol of the loop.

Avalanche trains on one experience after the other. The samples of a task are collected as they come and trained on, in
that order, in one pass of small batches, when the task ends; predictions within a task are those of the model before.
The network is ours (`build_network`), so that a strategy and our baseline of the method differ in the method alone.
"""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.data.protocol import StreamInfo
from kenyon.errors import ConfigError, InputError, require

BLOCK = 500


class AvalancheLearner:
    """A strategy of `avalanche.training.supervised`.

    Args:
        info: the stream.
        seed: of the network's first weights.
        strategy: the name of a class there: `Naive`, `Replay`, `DER`, `EWC`, `SynapticIntelligence`, `LwF`, `AGEM`.
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
        if info.task_heads:
            raise ConfigError("AvalancheLearner has no heads for tasks: expected a scenario without a given task")
        self._torch = torch = require("torch", "baselines", "AvalancheLearner")
        # Its torchvision asks for compiled operators when it is imported, which nothing here uses.
        sys.modules.setdefault("torchvision._meta_registrations", types.ModuleType("torchvision._meta_registrations"))
        supervised = require("avalanche.training.supervised", "peers", "AvalancheLearner")
        self._benchmarks = require("avalanche.benchmarks", "peers", "AvalancheLearner")
        self._datasets = require("avalanche.benchmarks.utils", "peers", "AvalancheLearner")
        from kenyon.learners.baselines import build_network

        cls = getattr(supervised, strategy, None)
        if not isinstance(cls, type):
            raise ConfigError(f"strategy is {strategy!r}: expected a class of avalanche.training.supervised")
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self._net = build_network("mlp", info, torch.Generator().manual_seed(seed), hidden=hidden, width=64)
        self.batch_size, self._info, self._seed = batch_size, info, seed
        self._strategy: Any = cls(
            model=self._net,
            optimizer=torch.optim.SGD(self._net.parameters(), lr=lr),
            criterion=torch.nn.CrossEntropyLoss(),
            train_mb_size=batch_size,
            train_epochs=1,
            eval_mb_size=BLOCK,
            evaluator=None,
            **json.loads(arguments),
        )
        self._kept: list[tuple[NDArray, NDArray[np.int64]]] = []
        self._steps = 0

    def learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> None:
        known = y >= 0
        self._kept.append((np.array(X[known]), y[known].copy()))

    def test_then_learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> NDArray[np.int64]:
        predicted = self.predict(X)
        self.learn(X, y)
        return predicted

    def predict(self, X: NDArray, task: int | None = None) -> NDArray[np.int64]:
        torch = self._torch
        self._net.eval()
        with torch.no_grad():
            blocks = [self._net(self._tensor(X[k : k + BLOCK])).argmax(1).numpy() for k in range(0, len(X), BLOCK)]
        self._net.train()
        return np.concatenate([np.empty(0, np.int64), *blocks]).astype(np.int64)

    def end_task(self, last: bool) -> None:
        """Train on what was collected."""
        torch = self._torch
        X = np.concatenate([part for part, _ in self._kept])
        y = np.concatenate([part for _, part in self._kept])
        self._kept = []
        if not len(y):
            return
        tensors = torch.utils.data.TensorDataset(self._tensor(X), torch.from_numpy(y))
        tensors.targets = y.tolist()
        dataset = self._datasets.as_classification_dataset(tensors)
        experience = self._benchmarks.benchmark_from_datasets(train=[dataset]).train_stream[0]
        experience.classes_in_this_experience = sorted(set(y.tolist()))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self._seed)
            self._strategy.train(experience, shuffle=False, num_workers=0)
        self._steps += -(-len(y) // self.batch_size)

    def state(self) -> dict[str, NDArray]:
        weights = {f"net.{name}": value.numpy().copy() for name, value in self._net.state_dict().items()}
        return weights | {"steps": np.array(self._steps)}

    def restore(self, state: dict[str, NDArray]) -> None:
        raise InputError("a strategy of Avalanche cannot go on from a checkpoint: expected a run that starts over")

    @property
    def state_bytes(self) -> int:
        """Bytes of the network; what the strategy keeps besides is not known."""
        return sum(value.nbytes for value in self.state().values())

    @property
    def synaptic_updates(self) -> int:
        return self._steps * sum(weights.numel() for weights in self._net.parameters())

    def _tensor(self, X: NDArray) -> Any:
        low, high = self._info.value_range
        return self._torch.from_numpy((np.asarray(X, np.float32) - np.float32(low)) / np.float32(high - low))
