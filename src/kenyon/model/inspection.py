"""What a fitted classifier knows and what it holds, to be looked at."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import InputError
from kenyon.features import Features
from kenyon.layers import Layer
from kenyon.model import model_file
from kenyon.model.fitted import Core
from kenyon.model.inputs import Inputs
from kenyon.model.labels import Labels, plain_task
from kenyon.model.scale import Scaler
from kenyon.model.spec import Spec
from kenyon.model.units import Units

T = TypeVar("T")


class Inspection(ABC):
    """Attributes of a fitted classifier; all of them read the core as it is between two calls."""

    @abstractmethod
    def _read(self, action: Callable[[Core], T]) -> T:
        """Do something with the core that changes nothing."""

    @abstractmethod
    def _inputs(self) -> Inputs:
        """Width and names of the features; AttributeError before anything was learned."""

    @property
    def n_features_in_(self) -> int:
        """Width of a sample; only there once something was learned, as in every estimator of scikit-learn."""
        return self._inputs().n_features_in_

    @property
    def feature_names_in_(self) -> NDArray:
        """Names of the features; only there where the first samples came with names."""
        return self._inputs().feature_names_in_

    @property
    def spec_(self) -> Spec:
        """What the model is composed of, with nothing left open; it prints as the code that makes the same model."""
        return self._read(lambda core: core.engine.spec)

    @property
    def classes_(self) -> NDArray:
        """Labels met so far, ascending (of every task)."""
        everything = {label: 0 for labels in self._read(lambda core: core.heads).values() for label in labels.neurons}
        return Labels(everything.items()).sorted()[0]

    @property
    def tasks_(self) -> list[Hashable]:
        """Tasks met so far, in order; `[None]` where no task was ever named."""
        return self._read(lambda core: list(core.heads))

    @property
    def n_samples_learned_(self) -> int:
        """Labelled samples learned so far: the time of the schedules."""
        return self._read(lambda core: core.engine.time)

    @property
    def synaptic_updates_(self) -> int:
        """Synapses visited by the rule so far."""
        return self._read(lambda core: core.engine.updates)

    @property
    def weights_(self) -> NDArray[np.float32]:
        """(units, neurons) of the output layer, read-only; neurons in order of arrival."""
        weights = self._read(lambda core: core.engine.layers[-1].weights.view())
        weights.flags.writeable = False
        return weights

    @property
    def weight_means_(self) -> NDArray[np.float64]:
        """The mean incoming weight of each output neuron, in order of arrival."""
        return self._read(lambda core: core.engine.layers[-1].weight_means())

    def neurons(self, task: Hashable = None) -> dict[Hashable, int]:
        """The output neuron (column of `weights_`) of each label of a task."""
        return self._read(lambda core: dict(head_of(core, task).neurons))

    def parts(self) -> tuple[Features, list[Layer]]:
        """The feature layer and the learning layers, to be looked at and not to be changed."""
        return self._read(lambda core: (core.engine.features, core.engine.layers))

    def scaler(self) -> Scaler | Units | None:
        """What scales the inputs, to be looked at and not to be changed; None where they are not scaled."""
        return self._read(lambda core: core.engine.scaler)

    @property
    def state_bytes(self) -> int:
        """Bytes that must be kept to go on learning: what `save` writes, less the container's framing.

        The projection is drawn again from its seed, and counts as the seed.
        """
        return self._read(
            lambda core: core.engine.state_bytes + model_file.metadata_bytes(core.engine, core.inputs, core.heads)
        )

    @property
    def working_bytes(self) -> int:
        """Bytes held in memory: state, padding, the projection and scratch."""
        return self._read(lambda core: core.engine.nbytes)


def head_of(core: Core, task: Hashable) -> Labels:
    """The labels of a task."""
    if (found := core.heads.get(plain_task(task))) is not None:
        return found
    tasks = ", ".join(map(repr, core.heads))
    raise InputError(f"task {task!r} was never learned: expected one of {tasks}")
