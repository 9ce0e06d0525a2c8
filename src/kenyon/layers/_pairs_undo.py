"""Undoing a call of a second-order layer: entries that it touched are kept as they were, or all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kenyon._kernels import pairs as kernels
from kenyon.features import Active

if TYPE_CHECKING:
    from kenyon.layers._second_order import SecondOrderLayer

FEW = 4
"""A call that touches less than one in so many entries keeps those; others keep them all."""


class KeptPairs:
    """Room for entries as a call found them; used again by every call."""

    def __init__(self, pairs: NDArray) -> None:
        self.whole = np.empty_like(pairs)
        self.touched = np.empty(pairs.size // FEW, pairs.dtype)

    @staticmethod
    def bytes_for(pairs: NDArray) -> int:
        """Bytes of the room for an array of pairs."""
        return pairs.nbytes + pairs.size // FEW * pairs.itemsize


class PairsUndo:
    """Where a layer stood when a call began.

    A layer whose arrays have no room left gets new ones, and the old ones stay as they are from then on.
    """

    def __init__(self, layer: SecondOrderLayer, kept: KeptPairs) -> None:
        self._layer, self._kept, self._found = layer, kept, layer.found()
        self._pairs = layer.state.arrays["pairs"]
        self._small = [(array, array.copy()) for name, array in layer.state.arrays.items() if name != "pairs"]
        self._touched: list[tuple[NDArray, NDArray, int]] = []  # active units, their counts, where the entries begin
        self._n_touched = 0
        self._whole = False

    def note(self, active: Active, first: int, last: int) -> None:
        units, _, counts = active
        if self._whole or self._layer.state.arrays["pairs"] is not self._pairs:
            return
        n = counts[first:last]
        end = self._n_touched + int((n * (n + 1) // 2).sum())
        if self._layer.coactivity.local and end <= self._kept.touched.size:
            kernels.keep_products(self._pairs, units, counts, first, last, self._kept.touched, self._n_touched)
            most = int(n.max(initial=0))
            self._touched.append((units[first:last, :most].copy(), n.copy(), self._n_touched))
            self._n_touched = end
        else:
            self._kept.whole[...] = self._pairs
            self._whole = True

    def undo(self) -> None:
        if self._whole:
            self._pairs[...] = self._kept.whole
        for units, counts, start in reversed(self._touched):
            kernels.restore_products(self._pairs, units, counts, self._kept.touched, start)
        for array, copy in self._small:
            array[...] = copy
        self._layer.go_back(self._found)
