"""The arrays a layer keeps, declared once.

Everything that has to do with a layer's state follows from its declarations: the model file, checkpoints,
`state_bytes`, the memory budget, the bytes that one more class takes, and undoing a call that failed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kenyon.errors import ModelFileError

NEURONS = "neurons"

WIDTH = 8
"""Neurons that are updated side by side: their number is padded to a multiple of it."""

SPARE = 8
"""A layer that grows reserves one more neuron for each of this many, so that it is seldom copied."""


@dataclass(frozen=True)
class Declared:
    """One array of a layer's state.

    Attributes:
        name: its name in a model file, before the layer's number.
        shape: axes by name: `units` (inputs of the layer), `neurons` (which grow), `pairs` (of units, each unit
            with itself included), `one` (a single entry), or any other axis that the layer gives a size.
        dtype: of an entry, or of the bytes that hold packed ones.
        bits: of a packed entry, several of which share a byte along the first axis; 0 where entries are not packed.
        wide: whether the array goes over to 64 bits when an entry needs them.

    Example:
        >>> weights = Declared("weights", ("units", "neurons"), "f4")
        >>> weights.nbytes(axis_sizes(n_units=100, n_neurons=10))
        4000
    """

    name: str
    shape: tuple[str, ...]
    dtype: DTypeLike
    bits: int = 0
    wide: bool = False

    def holds(self, array: NDArray) -> bool:
        """Whether an array is of the type declared, or of the wider one."""
        return array.dtype == self.dtype or (self.wide and array.dtype == np.uint64)

    def stored_shape(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """The shape of the array that holds it."""
        shape = tuple(sizes[axis] for axis in self.shape)
        return (-(-shape[0] * self.bits // 8), *shape[1:]) if self.bits else shape

    def nbytes(self, sizes: Mapping[str, int]) -> int:
        """Bytes that must be kept."""
        return prod(self.stored_shape(sizes)) * np.dtype(self.dtype).itemsize


def axis_sizes(n_units: int, n_neurons: int, **more: int) -> dict[str, int]:
    """The size of every axis of a layer.

    Example:
        >>> axis_sizes(n_units=4, n_neurons=2)
        {'units': 4, 'neurons': 2, 'pairs': 10, 'one': 1}
    """
    return {"units": n_units, NEURONS: n_neurons, "pairs": n_units * (n_units + 1) // 2, "one": 1, **more}


def bytes_of(declared: Sequence[Declared], sizes: Mapping[str, int]) -> int:
    """Bytes of a layer's state.

    Example:
        >>> weights, counts = Declared("weights", ("units", "neurons"), "f4"), Declared("counts", ("neurons",), "i8")
        >>> bytes_of([weights, counts], axis_sizes(n_units=100, n_neurons=10))
        4080
    """
    return sum(one.nbytes(sizes) for one in declared)


class State:
    """The arrays of a layer at one size, the axis of neurons padded to whole vectors. Growing makes a new one.

    Args:
        declared: what is kept.
        sizes: the size of every axis.
        arrays: padded arrays to take over; zeros where None.

    Example:
        >>> state = State([Declared("weights", ("units", "neurons"), "f4")], axis_sizes(n_units=100, n_neurons=2))
        >>> state.grown(3).views()["weights"].shape, state.state_bytes
        ((100, 3), 800)
    """

    def __init__(
        self, declared: Sequence[Declared], sizes: Mapping[str, int], arrays: Mapping[str, NDArray] | None = None
    ) -> None:
        self.declared, self.sizes = tuple(declared), dict(sizes)
        self.n_neurons = self.sizes[NEURONS]
        self.width = padded(self.n_neurons)
        room = self.sizes | {NEURONS: self.width}
        if arrays is None:
            arrays = {one.name: np.zeros(one.stored_shape(room), one.dtype) for one in self.declared}
        self.arrays = dict(arrays)

    def grown(self, n_neurons: int) -> State:
        """A state with more neurons: the same arrays where they have space, else larger copies, zeros for the new."""
        sizes = self.sizes | {NEURONS: n_neurons}
        if padded(n_neurons) == self.width:
            return State(self.declared, sizes, self.arrays)
        larger = State(self.declared, sizes)
        for name, view in self.views().items():
            larger.arrays[name][tuple(slice(n) for n in view.shape)] = view
        return larger

    def views(self) -> dict[str, NDArray]:
        """The arrays without their padding."""
        views = {}
        for one in self.declared:
            array = self.arrays[one.name]
            views[one.name] = array[tuple(slice(n) for n in one.stored_shape(self.sizes))]
        return views

    def filled(self, tensors: Mapping[str, NDArray], where: str) -> None:
        """Copy saved arrays into this state; refuses those that are not as declared.

        Args:
            where: what stands behind a name in the file, such as `.0` for the first layer.
        """
        for name, view in self.views().items():
            saved = tensors.get(name + where)
            if saved is None:
                raise ModelFileError(f"{name}{where} is missing")
            if saved.shape != view.shape or saved.dtype != view.dtype:
                raise ModelFileError(
                    f"{name}{where} is {saved.dtype} {saved.shape}: expected {view.dtype} {view.shape}"
                )
            if saved.dtype.kind == "f" and not np.isfinite(saved).all():
                raise ModelFileError(f"{name}{where} holds a value that is not finite: expected finite numbers")
            view[...] = saved

    @property
    def state_bytes(self) -> int:
        """Bytes that must be kept."""
        return bytes_of(self.declared, self.sizes)

    @property
    def nbytes(self) -> int:
        """Bytes held in memory, padding included."""
        return sum(array.nbytes for array in self.arrays.values())


def padded(n_neurons: int) -> int:
    """Neurons with the padding to whole vectors.

    Example:
        >>> padded(3), padded(60), padded(1000), padded(1025)
        (8, 64, 1024, 1152)
    """
    step = max(WIDTH, (1 << max(n_neurons - 1, 0).bit_length()) // 2 // SPARE)
    return -(-n_neurons // step) * step
