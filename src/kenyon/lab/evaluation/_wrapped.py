"""Learners that wrap another learner; the state of both is kept."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from kenyon.data.protocol import Learner


class Wrapped(ABC):
    """Base class of learners that wrap a learner.

    Attributes:
        inner: the learner.
        options: those of the learner.
    """

    batch_size: int

    def __init__(self, learner: Learner) -> None:
        self.inner = learner
        self.options: dict[str, float] = dict(getattr(learner, "options", {}))
        if hasattr(learner, "weight_means"):
            self.weight_means = learner.weight_means

    @abstractmethod
    def learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> None:
        """See `kenyon.data.protocol.Learner`."""

    @abstractmethod
    def test_then_learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> NDArray[np.int64]:
        """See `kenyon.data.protocol.Learner`."""

    @abstractmethod
    def own_arrays(self) -> dict[str, NDArray]:
        """What is kept besides the learner, as it is (not copies)."""

    @abstractmethod
    def own_figures(self) -> dict[str, float]:
        """What this wrapper has counted, by the name of a metric."""

    def figures(self) -> dict[str, float]:
        """What the wrappers have counted, by the name of a metric."""
        return (self.inner.figures() if isinstance(self.inner, Wrapped) else {}) | self.own_figures()

    @property
    def innermost(self) -> Learner:
        """The learner itself."""
        return self.inner.innermost if isinstance(self.inner, Wrapped) else self.inner

    def predict(self, X: NDArray, task: int | None = None) -> NDArray[np.int64]:
        return self.inner.predict(X, task)

    def end_task(self, last: bool) -> None:
        self.inner.end_task(last)

    def state(self) -> dict[str, NDArray]:
        return self.inner.state() | {f"around.{name}": array.copy() for name, array in self.own_arrays().items()}

    def restore(self, state: dict[str, NDArray]) -> None:
        self.inner.restore({name: array for name, array in state.items() if not name.startswith("around.")})
        for name, array in self.own_arrays().items():
            array[...] = state[f"around.{name}"]

    @property
    def state_bytes(self) -> int:
        return self.inner.state_bytes

    @property
    def synaptic_updates(self) -> int:
        return self.inner.synaptic_updates
