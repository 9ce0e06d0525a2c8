"""Files of a run: arrays that grow row by row and survive a kill at any instant, and what cannot be written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import DTypeLike, NDArray


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("not a version 1.0 .npy file")
    try:
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
    except Exception as error:  # NumPy reads it as Python text, and raises what Python raises over it
        raise ValueError(f"not the header of an array ({error})") from error
    if dtype.hasobject or not dtype.itemsize or any(size < 0 for size in shape):
        raise ValueError("not the header of an array of numbers")
    return shape, fortran, dtype


class GrowingArray:
    """A `.npy` file of known final shape, written row by row.

    The header states the final shape from the start, so the file is a plain `.npy` once the last
    row is in, and its length says how many rows there are until then.

    Args:
        path: the file.
        dtype: of the rows.
        shape: the final shape.
        rows: rows to keep of an existing file; 0 starts afresh. Raises ValueError where the file
            does not hold them.
    """

    def __init__(self, path: Path, dtype: DTypeLike, shape: tuple[int, ...], rows: int = 0) -> None:
        self._dtype, self._row_shape = np.dtype(dtype), tuple(shape[1:])
        row_bytes = self._dtype.itemsize * int(np.prod(self._row_shape))
        self._file: IO[bytes]
        if rows == 0:
            self._file = open(path, "wb", buffering=0)  # noqa: SIM115 - stays open for the run
            header = {"descr": self._dtype.str, "fortran_order": False, "shape": tuple(shape)}
            np.lib.format.write_array_header_1_0(self._file, header)
            return
        self._file = open(path, "r+b", buffering=0)  # noqa: SIM115
        if _header(self._file) != (tuple(shape), False, self._dtype):
            raise ValueError(f"{path} holds another array")
        end = self._file.tell() + rows * row_bytes
        if os.fstat(self._file.fileno()).st_size < end:
            raise ValueError(f"{path} is shorter than its checkpoint says")
        self._file.truncate(end)
        self._file.seek(end)

    def append(self, rows: NDArray) -> None:
        rows = np.ascontiguousarray(rows, dtype=self._dtype)
        if rows.shape[1:] != self._row_shape:
            raise ValueError(f"rows of shape {rows.shape[1:]} do not fit an array of rows {self._row_shape}")
        rest = rows.reshape(-1).view(np.uint8).data
        while rest:  # nothing is buffered, so that what cannot be written is known here
            rest = rest[self._file.write(rest) :]

    def sync(self) -> None:
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


def read_growing(path: Path) -> NDArray:
    """The rows that a `GrowingArray` file holds so far."""
    with open(path, "rb") as file:
        shape, _, dtype = _header(file)
        data = file.read()
    if not shape:
        raise ValueError("an array without rows")
    row = prod(shape[1:])
    rows = min(shape[0], len(data) // max(1, dtype.itemsize * row))
    return np.frombuffer(data, dtype, rows * row).reshape((rows, *shape[1:]))


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turn an OSError into one that names the folder that cannot be written to."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(f"{folder} cannot be written to ({reason}): the same command resumes where it stopped") from error
