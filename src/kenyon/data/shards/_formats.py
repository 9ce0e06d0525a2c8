"""Files of samples, read a batch at a time: parquet, Arrow and CSV through Arrow, and NumPy's npz."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kenyon.data.shards import _arrow, _npz
from kenyon.errors import DataError

PIECE = 1 << 18
"""Default rows of a piece: a larger file that can be read from the middle is several pieces."""


class Layout(NamedTuple):
    """What a file holds.

    Attributes:
        columns: the names of its columns but the label's, in order; none where they have no names.
        pieces: (first, last) of each piece in the file's own units: row groups, record batches, or (0, 0) for all.
    """

    columns: list[str]
    pieces: list[tuple[int, int]]


class Batch(NamedTuple):
    """Some samples: features (n, width), uint8 or float32, and labels, None where there is none."""

    X: NDArray
    y: NDArray


class Columns(NamedTuple):
    """How the columns of a file are read.

    Attributes:
        label: the column of the labels.
        features: the columns of the features, in order; a format without names for its columns has none.
        as_bytes: features are integers from 0 to 255 and read as bytes, whatever their type in the file.
        absent: whether an empty cell is NaN; else it is refused.
    """

    label: str
    features: Sequence[str]
    as_bytes: bool = False
    absent: bool = False


class Reader(Protocol):
    """What a format needs to be learned from."""

    def layout(self, path: Path, label: str, piece: int) -> tuple[list[str], list[tuple[int, int]]]:
        """What a file holds, as `Layout` has it, in pieces of about `piece` rows."""

    def batches(
        self, path: Path, label: str, features: Sequence[str], absent: bool, first: int, last: int
    ) -> Iterator[tuple[NDArray, NDArray]]:
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
    """What a file holds, in pieces of about `piece` rows."""
    return Layout(*reader_of(path).layout(path, label, piece))


def batches_of(path: Path, columns: Columns, piece: tuple[int, int]) -> Iterator[Batch]:
    """The samples of a piece, in order."""
    at, label, features, as_bytes, absent = 0, *columns
    for X, y in reader_of(path).batches(path, label, features, absent, *piece):
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
            f"{path}, row {at + row} of a piece, feature {column}: {X[row, column]!r}, expected an integer from 0 "
            "to 255, since as_bytes is true"
        )
    return out
