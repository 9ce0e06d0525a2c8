"""Samples of which few values are not zero, row by row, as SciPy's CSR matrices keep them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class SparseRows:
    """The values of each sample that are stored, with their inputs in ascending order.

    Args:
        starts: (samples + 1,), where each sample begins in `inputs` and `values`.
        inputs: input of each value.
        values: of any numeric type.
        n_inputs: width of a sample.

    Example:
        >>> import numpy as np
        >>> rows = SparseRows(np.array([0, 1, 3]), np.array([2, 0, 1]), np.array([5.0, 1.0, 2.0]), 3)
        >>> rows.shape, rows[1:].toarray().tolist()
        ((2, 3), [[1.0, 2.0, 0.0]])
    """

    def __init__(self, starts: NDArray, inputs: NDArray, values: NDArray, n_inputs: int) -> None:
        self._starts, self._inputs, self.values, self._n_inputs = starts, inputs, values, n_inputs

    @classmethod
    def from_scipy(cls, matrix: Any) -> SparseRows:
        """The rows of a sparse matrix or array of any format; it stays as it is."""
        rows = matrix.tocsr()
        if not (rows.has_sorted_indices and rows.has_canonical_format):
            rows = rows.copy()
            rows.sum_duplicates()
        return cls(rows.indptr, rows.indices, rows.data, rows.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), self._n_inputs

    @property
    def dtype(self) -> np.dtype:
        return self.values.dtype

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, chosen: slice | NDArray) -> SparseRows:
        """A range of samples, or those that a mask or a list of numbers names."""
        if isinstance(chosen, slice):
            first, last, step = chosen.indices(len(self))
            if step == 1:
                starts = self._starts[first : max(first, last) + 1]
                part = slice(int(starts[0]), int(starts[-1]))
                return SparseRows(starts - starts[0], self._inputs[part], self.values[part], self._n_inputs)
        rows = np.arange(len(self))[chosen]
        lengths = np.diff(self._starts)[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        places = np.repeat(self._starts[rows] - starts[:-1], lengths) + np.arange(starts[-1])
        return SparseRows(starts, self._inputs[places], self.values[places], self._n_inputs)

    def astype(self, dtype: Any) -> SparseRows:
        """The same samples in another type."""
        return SparseRows(self._starts, self._inputs, self.values.astype(dtype), self._n_inputs)

    def place(self, number: int) -> tuple[int, int]:
        """Sample and input of a stored value."""
        return int(np.searchsorted(self._starts, number, "right")) - 1, int(self._inputs[number])

    def packed(self, dtype: Any) -> tuple[NDArray[np.int64], NDArray]:
        """(inputs, values), each (samples, most values of a sample): what is stored, then zeros."""
        lengths = np.diff(self._starts)
        rows = np.repeat(np.arange(len(self)), lengths)
        columns = np.arange(len(self._inputs)) - np.repeat(self._starts[:-1], lengths)
        shape = (len(self), max(1, int(lengths.max(initial=0))))
        inputs, values = np.zeros(shape, np.int64), np.zeros(shape, dtype)
        inputs[rows, columns], values[rows, columns] = self._inputs, self.values
        return inputs, values

    def toarray(self) -> NDArray:
        """(samples, inputs), zeros included."""
        out = np.zeros(self.shape, self.dtype)
        out[np.repeat(np.arange(len(self)), np.diff(self._starts)), self._inputs] = self.values
        return out
