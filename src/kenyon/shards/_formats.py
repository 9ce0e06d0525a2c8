"""Files of samples, read a batch at a time: parquet, Arrow and CSV through Arrow, and NumPy's npz."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import DataError
from kenyon.shards import _arrow, _npz

PIECE = 1 << 18
"""Rows of a piece where nobody says how many: a larger file that can be entered in the middle is several pieces."""


class Layout(NamedTuple):
    """What a file holds.

    Attributes:
        rows: how many samples; None where only reading would tell.
        columns: the names of its features, in order.
        pieces: (first, last) of each piece in the file's own units: row groups, record batches, or (0, 0) for all.
    """

    rows: int | None
    columns: list[str]
    pieces: list[tuple[int, int]]


class Batch(NamedTuple):
    """Some samples: features (n, width), uint8 or float32, and labels, None where there is none."""

    X: NDArray
    y: NDArray


class Reader(Protocol):
    """What a format needs to be learned from."""

    def layout(self, path: Path, label: str, piece: int) -> tuple[int | None, list[str], list[tuple[int, int]]]:
        """What a file holds, as `Layout` has it, in pieces of about so many rows."""

    def batches(self, path: Path, label: str, first: int, last: int) -> Iterator[tuple[NDArray, NDArray]]:
        """The samples of a piece in order, in batches of a bounded size."""


FORMATS: dict[str, Reader] = {
    "parquet": _arrow.Parquet(),
    "arrow": _arrow.Arrow(),
    "feather": _arrow.Arrow(),
    "csv": _arrow.Csv(),
    "npz": _npz.Npz(),
}
"""Readers by the ending of a file's name."""


def reader_of(path: Path) -> Reader:
    """The reader of a file."""
    ending = path.name.removesuffix(".gz").rpartition(".")[2].lower()
    if ending not in FORMATS:
        raise DataError(f"{path}: expected a file that ends in {', '.join('.' + name for name in FORMATS)}")
    return FORMATS[ending]


def layout_of(path: Path, label: str, piece: int) -> Layout:
    """What a file holds, in pieces of about so many rows."""
    return Layout(*reader_of(path).layout(path, label, piece))


def batches_of(path: Path, label: str, piece: tuple[int, int], as_bytes: bool) -> Iterator[Batch]:
    """The samples of a piece, in order."""
    at = 0
    for X, y in reader_of(path).batches(path, label, *piece):
        yield Batch(_bytes(path, X, at) if as_bytes else X, y)
        at += len(y)


def _bytes(path: Path, X: NDArray, at: int) -> NDArray[np.uint8]:
    if X.dtype == np.uint8:
        return X
    with np.errstate(invalid="ignore"):
        out = X.astype(np.uint8)
    if (wrong := np.argwhere(out != X)).size:
        row, column = wrong[0].tolist()
        raise DataError(
            f"{path}, row {at + row} of a piece, feature {column}: {X[row, column]!r}, expected a whole number from 0 "
            "to 255, since as_bytes is true"
        )
    return out
