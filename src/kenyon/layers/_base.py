"""Learning layers: the part that describes one, and the base class of what the part builds.

A layer declares the arrays it keeps (`_state.py`), learns samples of a block in order, and gives the
output of samples without learning them. A new kind of layer is a file in this folder and a line in
`LAYERS` (`__init__.py`), or a class outside the package that is named as `module:Class`.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import ConfigError, MergeError, ModelFileError
from kenyon.features import Active, Case, Setting
from kenyon.layers._state import Declared, State, axis_sizes, bytes_of
from kenyon.layers._sums import only
from kenyon.utils.modulation import Moving
from kenyon.utils.options import Part

NO_LABEL = -1
"""The class number of a sample without a label."""

DIVERGED = 1e12
"""Activity beyond which a rule is taken to have run away; far below the range of float32."""


class Samples(NamedTuple):
    """A segment of a block: samples first .. last - 1 of it. The arrays are the block's.

    Attributes:
        active: the activity of the layer's inputs.
        labels: class number of each sample, or NO_LABEL.
        plastic: the output neurons that may learn (a task's head); None for all.
        beta: (block, 2 + parameters): learning rate, window, the rule's own parameters.
        modulation: x_m of each sample's neuron, where it is not 1; for a layer that is `graded`.
    """

    active: Active
    first: int
    last: int
    labels: NDArray[np.int64]
    plastic: NDArray[np.bool_] | None
    beta: NDArray[np.float32]
    modulation: NDArray[np.float32] | None = None

    def plastic_in(self, layer: Layer) -> NDArray[np.bool_]:
        """Which of a layer's neurons, padding included, may learn."""
        return np.arange(layer.width) < layer.n_neurons if self.plastic is None else self.plastic


Rescale = Callable[[NDArray, NDArray, NDArray], tuple[NDArray, NDArray]]
"""From (pairs, sums, counts) in float64, the pairs as a full matrix, to new pairs and sums."""


class Undo(Protocol):
    """How a layer gets back to where a call found it."""

    def note(self, active: Active, first: int, last: int) -> None:
        """Keep what learning samples first .. last - 1 of this block is about to change."""

    def undo(self) -> None:
        """Be as before the call. May be repeated."""


class LayerPart(Part, ABC):
    """Base of the parts that describe a learning layer.

    Example:
        >>> from kenyon.layers import Counting
        >>> issubclass(Counting, LayerPart)
        True
    """

    @abstractmethod
    def declare(self, setting: Setting) -> tuple[Declared, ...]:
        """The arrays that the layer keeps; no option is `"auto"` any more."""

    @abstractmethod
    def build(self, n_inputs: int, seed: int, setting: Setting) -> Layer:
        """A layer that has learned nothing. Refuses options that it cannot learn with.

        Args:
            n_inputs: presynaptic units.
            seed: for whatever the layer draws.
            setting: the samples and the parts beside it.
        """

    def settled(self, case: Case) -> Self:
        """The same with nothing left open."""
        return self

    @property
    def moving(self) -> list[Moving]:
        """What may change with time: the learning rate, the window, the rule's own parameters (`Samples.beta`)."""
        return [0.0, 0.0]


class Layer(ABC):
    """A layer of neurons that learns online.

    Args:
        n_inputs: presynaptic units.
        n_hidden: 0 for the output layer, which grows with the classes; otherwise the layer's width.
        declared: the arrays it keeps.
    """

    def __init__(self, n_inputs: int, n_hidden: int, declared: tuple[Declared, ...]) -> None:
        self.n_inputs, self.n_hidden = n_inputs, n_hidden
        self.state = State(declared, axis_sizes(n_inputs, n_hidden))
        self.n_classes = 0

    @property
    def n_neurons(self) -> int:
        """Neurons of the layer: its width, or one per class where it is the output layer."""
        return self.state.n_neurons

    @property
    def width(self) -> int:
        """Neurons with the padding to whole vectors."""
        return self.state.width

    @abstractmethod
    def add_class(self) -> None:
        """Make ready for one more class."""

    def add_classes(self, n: int) -> None:
        """Add several classes; a layer may override this to do it faster."""
        for _ in range(n):
            self.add_class()

    @abstractmethod
    def learn(self, samples: Samples, outputs: NDArray[np.float32] | None = None) -> int:
        """Learn samples in order.

        Args:
            samples: a segment of a block.
            outputs: where to put `x_o` of each sample before it is learned, where wanted.

        Returns:
            The first sample that diverged, not learned, or `samples.last`.
        """

    def rescale(self, how: Rescale) -> None:
        """Re-express what was learned, since the inputs of the features got other units."""
        raise NotImplementedError

    @property
    def graded(self) -> bool:
        """Whether it learns with an x_m between 0 and 1 (`Samples.modulation`)."""
        return False

    @property
    def at_once(self) -> bool:
        """Whether the layer has `learn_one`: one compiled call, which nothing can interrupt half-way."""
        return False

    def learn_one(self, sample: Samples, clock: NDArray[np.int64]) -> bool:
        """Learn one sample, which has a label; or change nothing and return False, where `learn` has to do it.

        Args:
            sample: a segment of one sample.
            clock: (2,), the time and the synapses visited so far, moved on in the same call.
        """
        raise NotImplementedError

    @abstractmethod
    def forward(self, active: Active, first: int, last: int) -> NDArray[np.float32]:
        """`x_o` of samples first .. last - 1, (samples, width)."""

    @abstractmethod
    def updates(self, samples: Samples, labelled: NDArray[np.bool_], n_plastic: int) -> int:
        """Synapses visited when these samples are learned, those of them that have a label (`labelled`)."""

    @abstractmethod
    def mark(self) -> Undo:
        """Where the layer stands, so that a call can be undone."""

    @abstractmethod
    def weight_means(self) -> NDArray[np.float64]:
        """The mean incoming weight of each neuron."""

    @property
    @abstractmethod
    def weights(self) -> NDArray[np.float32]:
        """(n_inputs, n_neurons): what the output is computed with."""

    def unlike_one_pass(self) -> str | None:
        """In what a merged state differs from that of one pass over everything, in words; None: in nothing.

        Raises `MergeError` where two states of this layer do not add up to a third.
        """
        raise MergeError(
            f"a layer of the kind {type(self).__name__} cannot be merged: expected a second-order layer, a counting "
            "one, or a rule that adds up"
        )

    def merge(self, other: State, neurons: NDArray[np.int64]) -> None:
        """Add what another layer learned; where `unlike_one_pass` is None, to the bit as if this one had.

        The state is replaced, never changed in place. Refuses a state that does not fit, changing nothing.

        Args:
            other: the state of the other layer, of as many units.
            neurons: this layer's neuron for each of the other's.
        """
        self.unlike_one_pass()

    def subtract(self, other: State, neurons: NDArray[np.int64]) -> None:
        """Take out again what another layer learned: the state as if it had never come, to the bit.

        The reverse of `merge`, for exact sums alone. Refuses what this layer cannot have learned, changing nothing.
        """
        self.unlike_one_pass()
        raise MergeError(f"a layer of the kind {type(self).__name__} has no exact sums: nothing can be taken out again")

    def emptied(self) -> Self:
        """A copy that knows the same classes and has learned nothing; of layers that can `subtract`."""
        twin = copy.deepcopy(self)
        twin.state = State(self.state.declared, self.state.sizes)
        return twin

    def keep(self, neurons: NDArray[np.int64]) -> None:
        """Keep these output neurons alone, in this order; of layers that can `subtract`."""
        raise NotImplementedError

    def class_counts(self) -> NDArray[np.int64]:
        """Samples of each output neuron's class; of layers that can `subtract`."""
        raise NotImplementedError

    def forget(self, left: NDArray[np.int64]) -> None:
        """Keep these output neurons alone, in this order, whatever the others have learned."""
        self.state, self.n_classes = only(self.state, left), len(left)

    def join(self, neurons: NDArray[np.int64], left: NDArray[np.int64]) -> None:
        """Add what some neurons keep to the first of them, then keep those that are `left`."""
        raise ConfigError(
            f"a layer of the kind {type(self).__name__} keeps no sums that could be joined: expected "
            "layer='second-order' with bits=32, or layer='counting'"
        )

    def typicality(self, active: Active, first: int, last: int) -> NDArray[np.float64]:
        """(samples, neurons): how typical samples are of each class, the share of its own that are less so."""
        raise ConfigError(
            f"a layer of the kind {type(self).__name__} does not know how far samples of a class spread: expected "
            "layer='second-order'"
        )

    @property
    def sharpness(self) -> float:
        """Scale of the outputs in a softmax that makes them probabilities."""
        return 10.0

    def load(self, tensors: Mapping[str, NDArray], where: str, n_classes: int) -> None:
        """Take over the saved arrays of a layer that knows this many classes."""
        self.add_classes(n_classes - self.n_classes)
        self.state.filled(tensors, where)

    def working_arrays(self) -> dict[str, NDArray]:
        """What a checkpoint keeps beside the state, so that a run goes on with the same predictions; mostly nothing."""
        return {}

    def load_working(self, arrays: Mapping[str, NDArray]) -> None:
        """Take over the `working_arrays` of a layer in the same state."""
        if arrays:
            raise ModelFileError(f"the model holds {min(arrays)!r}: expected nothing beside the state")

    def state_bytes_with(self, n_new: int, n_units: int | None = None) -> int:
        """Bytes of the state with that many more classes, and with another number of units."""
        n_neurons = self.n_neurons + (0 if self.n_hidden else n_new)
        return bytes_of(self.state.declared, axis_sizes(n_units or self.n_inputs, n_neurons))

    @property
    def nbytes(self) -> int:
        """Bytes held in memory, padding included."""
        return self.state.nbytes
