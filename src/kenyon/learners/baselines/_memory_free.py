"""What the memory-free learners share: checks, scaling, the task's classes, named state.

A memory-free learner keeps statistics of each class and never a sample. It implements `_update`
(strictly in stream order, so that any cut gives the same bits), `_scores` and `_arrays`, and `_embed` if it
learns from something else than the samples as they are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kenyon.data.protocol import StreamInfo
from kenyon.errors import ConfigError, InputError
from kenyon.learners.baselines._tuned import tuned

_BLOCK = 1000  # samples embedded at once for a prediction; bounds the working memory


class MemoryFree(ABC):
    """Base of the learners that keep class statistics only.

    Args:
        info: the stream.
        seed: seed of the random projection, where the method has one.
        batch_size: while testing before learning, predictions are refreshed this often. It does not
            touch what is learned.
    """

    name: ClassVar[str]
    defaults: ClassVar[dict[str, float]] = {}

    def __init__(self, info: StreamInfo, seed: int, batch_size: int) -> None:
        if batch_size < 1:
            raise ConfigError(f"batch_size is {batch_size}; it must be at least 1")
        self.info = info
        self.seed = int(seed)
        self.batch_size = int(batch_size)
        self.options: dict[str, float] = {}  # hyperparameters in force, tuned ones included
        self.counts = np.zeros(info.n_classes, dtype=np.int64)
        self._updates = np.zeros(1, dtype=np.int64)

    def option(self, key: str, value: float | None) -> float:
        """`value`, or where it is None the tuned (else the published) hyperparameter; recorded in `options`."""
        if value is None:
            value = tuned(self.name, self.info).get(key, self.defaults[key])
        self.options[key] = value
        return value

    def _embed(self, X: NDArray[np.float32]) -> NDArray:
        """What is learned from, a row per sample; the scaled samples themselves by default."""
        return X

    @abstractmethod
    def _update(self, features: NDArray, y: NDArray[np.int64]) -> int:
        """Learn embedded, labelled samples in order; return how many weights changed."""

    @abstractmethod
    def _scores(self, features: NDArray) -> NDArray:
        """One score per embedded sample and class, higher is likelier; unseen classes are masked later."""

    @abstractmethod
    def _arrays(self) -> dict[str, NDArray]:
        """The arrays that learning changes, by name, as they are (not copies)."""

    def learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> None:
        X, y = self._checked(X, y, task)
        self._learn(self._embed(self._scaled(X)), y)

    def test_then_learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> NDArray[np.int64]:
        X, y = self._checked(X, y, task)
        features = self._embed(self._scaled(X))
        predicted = np.empty(len(X), dtype=np.int64)
        for start in range(0, len(X), self.batch_size):
            cut = slice(start, start + self.batch_size)
            predicted[cut] = self._predict(features[cut], task)
            self._learn(features[cut], y[cut])
        return predicted

    def predict(self, X: NDArray, task: int | None = None) -> NDArray[np.int64]:
        """The best-scoring class among those seen (of the task's classes where the task is given)."""
        X, _ = self._checked(X, None, task)
        blocks = (self._embed(self._scaled(X[i : i + _BLOCK])) for i in range(0, len(X), _BLOCK))
        return np.concatenate([np.empty(0, dtype=np.int64), *(self._predict(block, task) for block in blocks)])

    def class_scores(self, X: NDArray, task: int | None = None) -> NDArray:
        """One score per sample and class, -inf for classes not seen or not of the task."""
        X, _ = self._checked(X, None, task)
        known = self.counts > 0
        if task is not None and self.info.task_heads:
            known &= np.isin(np.arange(self.info.n_classes), self.info.tasks[task])
        if not known.any():
            return np.full((len(X), self.info.n_classes), -np.inf)
        return np.where(known, self._scores(self._embed(self._scaled(X))), -np.inf)

    @property
    def feature_operations(self) -> int:
        """Multiply-adds of the embedding of one sample; scaling is one for each feature."""
        return self.info.n_features

    def _learn(self, features: NDArray, y: NDArray[np.int64]) -> None:
        labelled = y >= 0
        if labelled.all():
            self._updates += self._update(features, y)
        elif labelled.any():
            self._updates += self._update(features[labelled], y[labelled])

    def _predict(self, features: NDArray, task: int | None) -> NDArray[np.int64]:
        allowed = np.arange(self.info.n_classes)
        if task is not None and self.info.task_heads:
            allowed = np.sort(np.asarray(self.info.tasks[task]))
        if not self.counts[allowed].any():
            return np.full(len(features), allowed[0], dtype=np.int64)
        scores = self._scores(features)[:, allowed]
        scores[:, self.counts[allowed] == 0] = -np.inf
        return np.asarray(allowed[scores.argmax(axis=1)], dtype=np.int64)

    def end_task(self, last: bool) -> None:  # noqa: B027  nothing to do is the answer, not a gap
        """Ignored: class statistics do not depend on task boundaries."""

    def state(self) -> dict[str, NDArray]:
        return {name: array.copy() for name, array in self._named().items()}

    def restore(self, state: dict[str, NDArray]) -> None:
        own = self._named()
        if set(own) != set(state):
            raise ConfigError(f"the state has arrays {sorted(state)}; expected {sorted(own)}")
        for name, array in own.items():
            if array.shape != state[name].shape:
                raise ConfigError(f"state array {name!r} has shape {state[name].shape}; expected {array.shape}")
            array[...] = state[name]
        self._restored()

    def _restored(self) -> None:  # noqa: B027  most learners derive nothing
        """Drop what was derived from the old state."""

    def _named(self) -> dict[str, NDArray]:
        return {"counts": self.counts, "updates": self._updates, **self._arrays()}

    @property
    def state_bytes(self) -> int:
        """Class statistics; a random projection is regenerated and counts as its 8-byte seed."""
        return 8 + sum(array.nbytes for array in self._named().values())

    @property
    def synaptic_updates(self) -> int:
        return int(self._updates[0])

    def _scaled(self, X: NDArray) -> NDArray[np.float32]:
        """Features mapped from the stream's value range to 0..1."""
        low, high = self.info.value_range
        return (np.asarray(X, dtype=np.float32) - np.float32(low)) * np.float32(1.0 / (high - low))

    def _checked(self, X: NDArray, y: NDArray[np.int64] | None, task: int | None) -> tuple[NDArray, NDArray[np.int64]]:
        X = np.asarray(X)
        if X.ndim != 2 or X.shape[1] != self.info.n_features:
            raise InputError(f"X has shape {X.shape}; expected (n, {self.info.n_features})")
        if X.dtype.kind == "f" and not np.isfinite(X).all():
            raise InputError("X has NaN or infinite values; expected finite numbers")
        y = np.full(len(X), -1, dtype=np.int64) if y is None else np.asarray(y)
        if y.shape != (len(X),):
            raise InputError(f"y has shape {y.shape}; expected ({len(X)},), one label per sample")
        if len(y) and not (y.min() >= -1 and y.max() < self.info.n_classes):
            raise InputError(f"labels run from {y.min()} to {y.max()}; expected -1 to {self.info.n_classes - 1}")
        if self.info.task_heads and (task is None or not 0 <= task < len(self.info.tasks)):
            raise InputError(f"task is {task}; this stream has tasks 0 to {len(self.info.tasks) - 1}")
        return X, y
