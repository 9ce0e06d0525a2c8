"""What the adapters share: scaled samples, arguments as JSON, and no way to continue from a checkpoint."""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.data.protocol import StreamInfo
from kenyon.errors import ConfigError, InputError, require

BLOCK = 500
"""Samples that are predicted together."""


class Peer:
    """A learner of another package. Its state stays there: a run that is stopped starts over."""

    batch_size = 1

    def __init__(self, info: StreamInfo) -> None:
        if info.task_heads:
            raise ConfigError(f"{type(self).__name__} has no heads for tasks: expected a scenario without a given task")
        self._info = info

    def learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> None:
        raise NotImplementedError

    def predict(self, X: NDArray, task: int | None = None) -> NDArray[np.int64]:
        raise NotImplementedError

    def test_then_learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> NDArray[np.int64]:
        predicted = [np.empty(0, np.int64)]
        for start in range(0, len(y), self.batch_size):
            batch = slice(start, start + self.batch_size)
            predicted.append(self.predict(X[batch]))
            self.learn(X[batch], y[batch])
        return np.concatenate(predicted)

    def end_task(self, last: bool) -> None:
        """Ignored, where a method has no tasks."""

    def restore(self, state: dict[str, NDArray]) -> None:
        raise InputError(f"{type(self).__name__} cannot continue from a checkpoint: expected a run that starts over")

    @property
    def state_bytes(self) -> int:
        """Bytes of the network, where there is one; what a method keeps besides is not known."""
        return sum(value.nbytes for name, value in self.state().items() if name.startswith("net."))

    def state(self) -> dict[str, NDArray]:
        raise NotImplementedError

    @property
    def synaptic_updates(self) -> int:
        return 0

    def _scaled(self, X: NDArray, dtype: type = np.float32) -> NDArray:
        low, high = self._info.value_range
        return (np.asarray(X, dtype) - dtype(low)) / dtype(high - low)


def arguments_of(text: str) -> dict[str, Any]:
    """The arguments that are given as JSON.

    Example:
        >>> arguments_of('{"mem_size": 500}')
        {'mem_size': 500}
    """
    try:
        given = json.loads(text)
    except ValueError:
        given = None
    if not isinstance(given, Mapping):
        raise ConfigError(f"arguments is {text!r}: expected a JSON object, such as " + '{"mem_size": 500}')
    return dict(given)


def class_named(modules: list[Any], name: str, option: str) -> type:
    """The class of a name in one of some modules."""
    for module in modules:
        if isinstance(cls := getattr(module, name, None), type):
            return cls
    raise ConfigError(f"{option} is {name!r}: expected a class of {' or '.join(m.__name__ for m in modules)}")


class TorchPeer(Peer):
    """A peer in PyTorch, with the network of our baselines and its first weights.

    Args:
        info: the stream.
        seed: of the first weights, and of what the method draws.
        batch_size: samples learned together.
        hidden: units of the hidden layers.
        what: the name of the adapter, for messages.
    """

    def __init__(self, info: StreamInfo, seed: int, batch_size: int, hidden: Sequence[int], what: str) -> None:
        super().__init__(info)
        self._torch = torch = require("torch", "baselines", what)
        # torchvision asks for compiled operators when it is imported, which nothing here uses.
        sys.modules.setdefault("torchvision._meta_registrations", types.ModuleType("torchvision._meta_registrations"))
        from kenyon.learners.baselines import build_network

        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self._net = build_network("mlp", info, torch.Generator().manual_seed(seed), hidden=hidden, width=64)
        self.batch_size, self._seed, self._steps = batch_size, seed, 0

    def predict(self, X: NDArray, task: int | None = None) -> NDArray[np.int64]:
        torch = self._torch
        if not self._steps:
            return np.full(len(X), -1, np.int64)
        with torch.no_grad():
            blocks = [self._scores(self._tensor(X[k : k + BLOCK])).argmax(1).numpy() for k in range(0, len(X), BLOCK)]
        return np.concatenate([np.empty(0, np.int64), *blocks]).astype(np.int64)

    def _scores(self, x: Any) -> Any:
        raise NotImplementedError

    def state(self) -> dict[str, NDArray]:
        weights = {f"net.{name}": value.numpy().copy() for name, value in self._net.state_dict().items()}
        return weights | {"steps": np.array(self._steps)}

    @property
    def synaptic_updates(self) -> int:
        return self._steps * sum(weights.numel() for weights in self._net.parameters())

    def _tensor(self, X: NDArray) -> Any:
        return self._torch.from_numpy(self._scaled(X))
