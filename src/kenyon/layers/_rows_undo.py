"""Undoing calls that change rows of weights: a row is copied when a call first touches it."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.features import Active
from kenyon.layers._state import State


class KeptRows:
    """Memory for rows of weights as they were before a call; used again by every call."""

    def __init__(self, weights: NDArray) -> None:
        self.rows = np.empty_like(weights)
        self.units = np.empty(len(weights), np.uint32)
        self.marks = np.zeros(len(weights), np.bool_)
        self.count = np.zeros(1, np.int64)
        self.marked = False


def kept_rows(weights: NDArray, before: KeptRows | None) -> KeptRows:
    """Memory for rows of these weights: that of the call before where it fits."""
    fits = before is not None and (before.rows.shape, before.rows.dtype) == (weights.shape, weights.dtype)
    return before if fits and before is not None else KeptRows(weights)


def kept_bytes(weights: NDArray) -> int:
    """Bytes of `KeptRows`, whether or not a call has needed it yet."""
    return weights.nbytes + 5 * len(weights)


class _OfRows(Protocol):
    """What the journal needs of a layer."""

    state: State
    n_classes: int

    @property
    def keeps_rows(self) -> bool: ...


class RowsUndo:
    """A journal of rows: each row of weights is kept when a call first touches it.

    Args:
        layer: whose rows are kept.
        kept: where to keep them.
        name: the array that they are rows of; the others are small, and copied.

    A layer that grows beyond its padding gets new arrays, and the old ones stay as they are from then on.
    """

    def __init__(self, layer: _OfRows, kept: KeptRows, name: str = "weights") -> None:
        self._layer, self._kept, self._name = layer, kept, name
        self._state, self._n_classes = layer.state, layer.n_classes
        self._small = {key: array.copy() for key, array in layer.state.arrays.items() if key != name}
        if kept.marked:
            core.forget_rows(kept.marks, kept.units, kept.count)
        kept.marked, kept.count[0] = False, 0
        self._copy: NDArray | None = None

    def note(self, active: Active, first: int, last: int) -> None:
        weights = self._state.arrays[self._name]
        if self._layer.state.arrays[self._name] is not weights:
            return
        if self._layer.keeps_rows:
            kept = self._kept
            if last - first == 1 and not kept.marked and not kept.count[0]:
                core.keep_rows_of_one(weights, *active, first, kept.units, kept.rows, kept.count)
                return
            if kept.count[0] and not kept.marked:
                kept.marks[kept.units[: kept.count[0]]] = True
            kept.marked = True
            core.keep_rows(weights, *active, first, last, kept.marks, kept.units, kept.rows, kept.count)
        elif self._copy is None:
            self._copy = weights.copy()

    def undo(self) -> None:
        layer, arrays = self._layer, self._state.arrays
        core.restore_rows(arrays[self._name], self._kept.units, self._kept.rows, self._kept.count)
        if self._copy is not None:
            arrays[self._name][...] = self._copy
        for name, array in self._small.items():
            arrays[name][...] = array
        layer.state, layer.n_classes = self._state, self._n_classes
