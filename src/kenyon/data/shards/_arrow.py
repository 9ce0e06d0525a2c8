"""Parquet, Arrow and CSV files as batches, through Arrow.

The features of a row are its columns of numbers, found by name, in the order that is asked for; or of columns that hold
a fixed number of values each (fixed-size lists, or binary values as bytes), one behind the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import DataError, KenyonError, nearest, require

ROWS = 2048
"""Rows of a batch."""

BUFFER = 1 << 20
"""Bytes that are read from a file at a time."""


class Parquet:
    """Pieces are ranges of row groups."""

    def layout(self, path: Path, label: str, piece: int) -> tuple[list[str], list[tuple[int, int]]]:
        with _open_parquet(path) as file:
            columns = _columns(path, file.schema_arrow.names, label)
            rows = [file.metadata.row_group(number).num_rows for number in range(file.metadata.num_row_groups)]
        return columns, _ranges(rows, piece)

    def batches(
        self, path: Path, label: str, features: Sequence[str], absent: bool, first: int, last: int
    ) -> Iterator[tuple[NDArray, NDArray]]:
        with _open_parquet(path) as file:
            groups, wanted = list(range(first, last)), [*features, label]
            for batch in file.iter_batches(batch_size=ROWS, row_groups=groups, columns=wanted, use_threads=False):
                yield _arrays(path, batch, label, features, absent)


class Arrow:
    """Files of Arrow's own format; pieces are ranges of record batches."""

    def layout(self, path: Path, label: str, piece: int) -> tuple[list[str], list[tuple[int, int]]]:
        with _open_arrow(path) as file:
            columns = _columns(path, file.schema.names, label)
            rows = [file.get_batch(number).num_rows for number in range(file.num_record_batches)]
        return columns, _ranges(rows, piece)

    def batches(
        self, path: Path, label: str, features: Sequence[str], absent: bool, first: int, last: int
    ) -> Iterator[tuple[NDArray, NDArray]]:
        with _open_arrow(path) as file:
            for number in range(first, last):
                batch = file.get_batch(number)
                for start in range(0, batch.num_rows, ROWS):
                    yield _arrays(path, batch.slice(start, ROWS), label, features, absent)


class Csv:
    """Text with a header, perhaps compressed by gzip; one piece, since its rows are found by reading alone."""

    def layout(self, path: Path, label: str, piece: int) -> tuple[list[str], list[tuple[int, int]]]:
        with _reading(path, "CSV"), _open_csv(path) as file:
            return _columns(path, file.schema.names, label), [(0, 0)]

    def batches(
        self, path: Path, label: str, features: Sequence[str], absent: bool, first: int, last: int
    ) -> Iterator[tuple[NDArray, NDArray]]:
        with _reading(path, "CSV"), _open_csv(path) as file:
            for batch in file:
                for start in range(0, batch.num_rows, ROWS):
                    yield _arrays(path, batch.slice(start, ROWS), label, features, absent)


@contextmanager
def _reading(path: Path, what: str) -> Iterator[Any]:
    """Errors of Arrow, with the file's name."""
    arrow = require("pyarrow", "data", f"reading {what} files")
    try:
        yield arrow
    except KenyonError:
        raise
    except Exception as error:  # Arrow raises errors of its own and of Python's over a damaged file
        raise DataError(f"{path} cannot be read as {what}: {error}") from error


@contextmanager
def _open_parquet(path: Path) -> Iterator[Any]:
    parquet = require("pyarrow.parquet", "data", "reading Parquet files")
    with (
        _reading(path, "Parquet"),
        parquet.ParquetFile(path, memory_map=False, buffer_size=BUFFER, pre_buffer=False) as file,
    ):
        yield file


@contextmanager
def _open_arrow(path: Path) -> Iterator[Any]:
    ipc = require("pyarrow.ipc", "data", "reading Arrow files")
    # Not mapped into memory: a file that shrinks meanwhile would end the process.
    with _reading(path, "Arrow") as arrow, arrow.OSFile(str(path)) as source, ipc.open_file(source) as file:
        yield file


def _open_csv(path: Path) -> Any:
    csv = require("pyarrow.csv", "data", "reading CSV files")
    return csv.open_csv(path, read_options=csv.ReadOptions(use_threads=False, block_size=BUFFER))


def _columns(path: Path, names: list[str], label: str) -> list[str]:
    """The columns besides the label's."""
    if label not in names:
        some = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
        raise DataError(f"{path} has no column {label!r} to take labels from: it has {some}{nearest(label, names)}")
    if len(set(names)) < len(names):
        raise DataError(f"{path} has two columns of one name: expected each once")
    if len(names) < 2:
        raise DataError(f"{path} has no column besides {label!r}: expected features")
    return [name for name in names if name != label]


def _ranges(rows: list[int], piece: int) -> list[tuple[int, int]]:
    """Neighbours together until they are about a piece; at least one range, so that every file is a piece."""
    ranges, start, total = [], 0, 0
    for number, n in enumerate(rows):
        total += n
        if total >= piece:
            ranges.append((start, number + 1))
            start, total = number + 1, 0
    return [*ranges, (start, len(rows))] if start < len(rows) or not ranges else ranges


def _arrays(path: Path, batch: Any, label: str, features: Sequence[str], absent: bool) -> tuple[NDArray, NDArray]:
    columns = [_values(path, name, batch.column(name), absent) for name in features]
    in_bytes = not absent and all(column.dtype == np.uint8 for column in columns)  # a byte cannot be NaN
    dtype = np.uint8 if in_bytes else np.float32
    if len(columns) == 1:
        X = columns[0].astype(dtype, copy=False)
    else:
        X = np.empty((batch.num_rows, sum(column.shape[1] for column in columns)), dtype)
        at = 0
        for column in columns:
            X[:, at : at + column.shape[1]] = column
            at += column.shape[1]
    return X, _labels(batch.column(label))


def _values(path: Path, name: str, column: Any, absent: bool) -> NDArray:
    """(rows, values of each) of a column; an empty cell is NaN where it may be absent."""
    import pyarrow as arrow

    kind = column.type
    lists = arrow.types.is_list(kind) or arrow.types.is_large_list(kind) or arrow.types.is_fixed_size_list(kind)
    bytes_ = arrow.types.is_fixed_size_binary(kind) or arrow.types.is_binary(kind) or arrow.types.is_large_binary(kind)
    if column.null_count and (not absent or lists or bytes_):
        hint = "" if lists or bytes_ else ", or the option missing = 'absent'"
        raise DataError(f"{path}, column {name!r} has empty cells: expected a number in each{hint}")
    if arrow.types.is_fixed_size_binary(kind):
        width = kind.byte_width
        data = np.frombuffer(column.buffers()[1], np.uint8, len(column) * width, column.offset * width)
        return data.reshape(len(column), width)
    if arrow.types.is_binary(kind) or arrow.types.is_large_binary(kind):
        cells = column.to_pylist()
        if len({len(cell) for cell in cells}) > 1:
            raise DataError(f"{path}, column {name!r} holds cells of different lengths: expected one length")
        return np.frombuffer(b"".join(cells), np.uint8).reshape(len(cells), -1)
    inside = column
    if lists:
        inside = column.flatten()
        if inside.null_count and not absent:
            raise DataError(f"{path}, column {name!r} has lists with empty cells: expected a number in each")
        width, rest = divmod(len(inside), max(1, len(column)))
        if rest or (not arrow.types.is_fixed_size_list(kind) and len(set(column.value_lengths().to_pylist())) > 1):
            raise DataError(f"{path}, column {name!r} holds lists of different lengths: expected one length")
        kind = inside.type
    else:
        width = 1
    if absent and arrow.types.is_null(kind):
        return np.full((len(column), width), np.nan)
    if not (arrow.types.is_integer(kind) or arrow.types.is_floating(kind) or arrow.types.is_boolean(kind)):
        raise DataError(
            f"{path}, column {name!r} is of type {column.type}: expected numbers, or lists or bytes of them"
        )
    if inside.null_count:
        inside = inside.cast("float64")  # whose empty cells become NaN
    return inside.to_numpy(zero_copy_only=False).reshape(len(column), width)


def _labels(column: Any) -> NDArray:
    import pyarrow as arrow

    if arrow.types.is_integer(column.type) and not column.null_count:
        return column.to_numpy(zero_copy_only=False)
    values = np.empty(len(column), object)
    values[:] = column.to_pylist()
    return values
