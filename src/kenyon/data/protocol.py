"""The protocol of learners, ours and the baselines, and what they know of the stream.

The loop passes samples in stream order. A learner never sees a sample twice unless it keeps
it itself, in which case `state_bytes` counts it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Learner", "LearnerSpec", "StreamInfo"]


@dataclass(frozen=True)
class StreamInfo:
    """What a learner knows of a stream before it starts.

    Attributes:
        shape: shape of one sample as published: `(28, 28)`, or `(3, 32, 32)` for planar colour
            images; `(n,)` for plain vectors. Samples are passed flat, `(n, prod(shape))`.
        n_classes: how many classes the whole stream has (labels are `0 .. n_classes - 1`).
        tasks: the classes of each task, in order.
        n_train: how many samples there will be in total.
        task_heads: True where the task is given at train and test time (task-incremental).
        value_range: smallest and largest value a feature can take, `(0, 255)` for images.

    Example:
        >>> info = StreamInfo((28, 28), n_classes=10, tasks=(tuple(range(10)),), n_train=60_000, task_heads=False)
        >>> info.n_features
        784
    """

    shape: tuple[int, ...]
    n_classes: int
    tasks: tuple[tuple[int, ...], ...]
    n_train: int
    task_heads: bool
    value_range: tuple[float, float] = (0.0, 255.0)

    @property
    def n_features(self) -> int:
        return int(np.prod(self.shape))


class Learner(Protocol):
    """A learner under evaluation.

    `X` is `(n, n_features)`, uint8 or float32; `y` is int64, -1 where the label is withheld.
    `task` is the task's number when `StreamInfo.task_heads` is set, else None.

    A learner may also offer, for the record of how its weights evolve:

    - `weight_means() -> (n_classes,) float32`: the mean incoming weight of each class's output
      neuron, NaN for a class without one yet;
    - `learn_recorded(X, y, task, every) -> (predictions, means)`: `test_then_learn` that notes
      `weight_means()` after every `every`-th sample of the call, `(len(y) // every, n_classes)`.

    And, for a model file of its own form, `save(path)`, which writes it, and `load(path)`, which continues from it;
    where there is no `save`, the model file of a run holds `state()`.
    """

    def learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> None:
        """Learn the samples in the order given; how they are cut into calls changes nothing
        beyond the learner's own batch size (the loop cuts on multiples of it)."""

    def test_then_learn(self, X: NDArray, y: NDArray[np.int64], task: int | None = None) -> NDArray[np.int64]:
        """Learn, and return what was predicted for each sample (or batch) before learning it."""

    def predict(self, X: NDArray, task: int | None = None) -> NDArray[np.int64]:
        """The most likely class of each sample; changes nothing. A learner that has learned nothing, or nothing
        of this task, answers too: any class, or -1."""

    def end_task(self, last: bool) -> None:
        """A task boundary, known at train time. Most learners ignore it."""

    def state(self) -> dict[str, NDArray]:
        """Everything needed to go on, as named arrays (random generators included)."""

    def restore(self, state: dict[str, NDArray]) -> None:
        """Go on from `state()` of a learner built with the same configuration."""

    @property
    def state_bytes(self) -> int:
        """Bytes that must be kept to keep learning: parameters, optimizer state, importance
        matrices, replay buffer."""

    @property
    def synaptic_updates(self) -> int:
        """Weight changes made so far (operations count)."""

    batch_size: int
    """The loop cuts the stream on multiples of this; 1 for strictly online learners."""


@dataclass(frozen=True)
class LearnerSpec:
    """A row of the table of learners: enough to list it without importing it.

    Attributes:
        name: the name on the command line.
        target: `"module:Class"`; the class is called as `Class(info, seed, **options)`, its
            keyword arguments and their defaults being the options a configuration may set.
        scenarios: the scenarios the method is defined for.
        memory: what it keeps besides the network: `"none"`, `"replay"`, `"importance"`, ...
        reference: author, title and year of the method.
        summary: one line on how it works.
        version: raised when a default changes or the same options give other results, so that runs made before are
            not taken for runs of the learner as it is.

    Example:
        >>> from kenyon.learners import LEARNERS
        >>> isinstance(LEARNERS["kenyon"], LearnerSpec), LEARNERS["er"].memory
        (True, 'replay')
    """

    name: str
    target: str
    scenarios: tuple[str, ...]
    memory: str
    reference: str
    summary: str
    version: int = 1
