"""Undoing a call of a second-order layer: what it changes is kept when it is about to change.

Small arrays are copied when a call begins. Of the co-activity, a call keeps the entries that it touches where they
are few; the sample itself, to be subtracted again, where integers were added to most entries; and otherwise a
copy of everything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.features import Active

if TYPE_CHECKING:
    from kenyon.layers._second_order import SecondOrderLayer

SHARE = 4
"""A call that touches at most one in this many entries keeps those."""

ROWS = 8
"""A call keeps at most this many samples that it added to most entries."""


class KeptPairs:
    """Room for entries as a call found them; used again by every call."""

    def __init__(self, pairs: NDArray) -> None:
        self.whole = np.empty_like(pairs)
        self.touched = np.empty(pairs.size // SHARE, pairs.dtype)

    @staticmethod
    def bytes_for(pairs: NDArray) -> int:
        """Bytes of the copy of an array of pairs."""
        return pairs.nbytes + pairs.size // SHARE * pairs.itemsize


class PairsUndo:
    """Where a layer stood when a call began.

    A layer whose arrays are full gets new ones, and the old ones stay as they are from then on.
    """

    def __init__(self, layer: SecondOrderLayer, kept: KeptPairs) -> None:
        self._layer, self._kept, self._snapshot = layer, kept, layer.snapshot()
        self._pairs = layer.state.arrays["pairs"]
        self._small = [(array, array.copy()) for name, array in layer.state.arrays.items() if name != "pairs"]
        self._steps: list[_Touched | _KeptRow] = []
        self._n_touched = self._n_rows = 0
        self._added = np.zeros(1, np.int64)  # rows that were added and not subtracted again; the core counts them
        self._whole = False

    def note(self, active: Active, first: int, last: int) -> None:
        """Nothing to do yet: the layer passes what it is about to change when it knows it."""

    def before_all(self, pairs: NDArray) -> None:
        """Any entry of these pairs may change."""
        if self._concerns(pairs):
            self._kept.whole[...] = pairs
            self._whole = True

    def before_some(self, pairs: NDArray, active: Active, chosen: NDArray[np.int64], n_entries: int) -> None:
        """Prepare for changes to this many entries: those of units that are active together in the chosen samples."""
        if not self._concerns(pairs):
            return
        start, end = self._n_touched, self._n_touched + n_entries
        if end > self._kept.touched.size:
            self.before_all(pairs)
            return
        units, counts = active[0][chosen], active[2][chosen]
        core.keep_products(pairs, units, counts, self._kept.touched, start)
        self._steps.append(_Touched(units, counts, start))
        self._n_touched = end

    def before_row(self, pairs: NDArray, row: NDArray[np.int16]) -> NDArray[np.int64]:
        """A row of integers is about to be added to these pairs; gives the counter that the core moves."""
        if self._concerns(pairs) and self._n_rows == ROWS:
            self.before_all(pairs)
        if not self._concerns(pairs):
            return np.zeros(1, np.int64)
        self._steps.append(_KeptRow(row.copy(), self._n_rows))
        self._n_rows += 1
        return self._added

    def _concerns(self, pairs: NDArray) -> bool:
        return pairs is self._pairs and not self._whole

    def undo(self) -> None:
        if self._whole:
            self._pairs[...] = self._kept.whole
            self._added[0] = self._n_rows
        for step in reversed(self._steps):
            step.undo(self._pairs, self._kept.touched, self._added)
        for array, copy in self._small:
            array[...] = copy
        self._layer.restore(self._snapshot)


class _Touched:
    """Entries that some samples touched, kept from `start` on."""

    def __init__(self, units: NDArray[np.uint32], counts: NDArray[np.int64], start: int) -> None:
        self._units, self._counts, self._start = units, counts, start

    def undo(self, pairs: NDArray, kept: NDArray, added: NDArray[np.int64]) -> None:
        core.restore_products(pairs, self._units, self._counts, kept, self._start)


class _KeptRow:
    """A sample that was added after `n_before` others, or was about to be."""

    def __init__(self, row: NDArray[np.int16], n_before: int) -> None:
        self._row, self._n_before = row, n_before

    def undo(self, pairs: NDArray, kept: NDArray, added: NDArray[np.int64]) -> None:
        core.subtract_row(pairs, self._row, self._n_before, added)
