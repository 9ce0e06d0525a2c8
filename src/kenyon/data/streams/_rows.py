"""Samples that lie in several memory-mapped pieces, or with their columns in another order, read as one table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Rows:
    """A read-only `(n, n_features)` table over pieces on disk; indexing copies only the rows asked for.

    Args:
        parts: two-dimensional arrays of one type and width, one below the other.
        columns: column `columns[j]` of the parts is shown as column `j`.
        rows: row `rows[i]` of the parts is shown as row `i`; every row by default.
    """

    ndim = 2

    def __init__(
        self,
        parts: Sequence[NDArray],
        columns: NDArray[np.integer] | None = None,
        rows: NDArray[np.integer] | None = None,
    ) -> None:
        self.parts = tuple(parts)
        self.columns = columns
        self.rows = rows
        self.starts = np.cumsum([0, *(len(part) for part in self.parts)])
        self.dtype = self.parts[0].dtype
        self.shape = (int(self.starts[-1]) if rows is None else len(rows), self.parts[0].shape[1])

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> NDArray:
        """The rows at an integer, a slice, a list of integers or a boolean mask, as a new array."""
        if isinstance(key, slice):
            index = np.arange(len(self))[key]
        else:
            index = np.asarray(key)
            if index.dtype == np.bool_:
                index = np.flatnonzero(index)
            index = np.where(index < 0, index + len(self), index)
        if index.size and (index.min() < 0 or index.max() >= len(self)):
            raise IndexError(f"row {int(index.min())} .. {int(index.max())} asked for, there are {len(self)} rows")
        return self._gather(index.reshape(1))[0] if index.ndim == 0 else self._gather(index)

    def _gather(self, index: NDArray[np.integer]) -> NDArray:
        out = np.empty((len(index), self.shape[1]), self.dtype)
        index = index if self.rows is None else self.rows[index]
        for part, start in zip(self.parts, self.starts, strict=False):
            here = np.flatnonzero((index >= start) & (index < start + len(part)))
            if len(here):
                out[here] = part[index[here] - start]
        return out if self.columns is None else np.take(out, self.columns, axis=1)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray:
        if copy is False:
            raise ValueError("these rows lie in pieces on disk: they cannot become one array without a copy")
        return self[:] if dtype is None else self[:].astype(dtype)
