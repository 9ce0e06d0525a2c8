"""Archives of NumPy as batches: arrays `X` and the labels (`y`, or the name of the label column), read as a stream."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from kenyon.errors import DataError, KenyonError

ROWS = 2048
"""Rows of a batch."""


class Npz:
    """One piece: what lies in the middle of a compressed array is found by reading from its start."""

    def layout(self, path: Path, label: str, piece: int) -> tuple[list[str], list[tuple[int, int]]]:
        with _reading(path) as archive, archive.open(_member(path, archive, "X")) as file:
            _header(path, file)
        return [], [(0, 0)]

    def batches(
        self, path: Path, label: str, features: Sequence[str], absent: bool, first: int, last: int
    ) -> Iterator[tuple[NDArray, NDArray]]:
        with _reading(path) as archive:
            with archive.open(_member(path, archive, label if f"{label}.npy" in archive.namelist() else "y")) as file:
                labels = npy.read_array(file, allow_pickle=False)
            with archive.open(_member(path, archive, "X")) as file:
                shape, dtype = _header(path, file)
                if labels.shape != (shape[0],):
                    raise DataError(f"{path}: y has shape {labels.shape}: expected ({shape[0]},), one label per sample")
                width = prod(shape[1:])
                for start in range(0, shape[0], ROWS):
                    n = min(ROWS, shape[0] - start)
                    data = file.read(n * width * dtype.itemsize)
                    X = np.frombuffer(data, dtype).reshape(n, width)
                    yield X if dtype == np.uint8 and not absent else X.astype(np.float32), labels[start : start + n]


@contextmanager
def _reading(path: Path) -> Iterator[zipfile.ZipFile]:
    """Errors of a damaged archive, with the file's name."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except KenyonError:
        raise
    except Exception as error:  # a damaged archive may raise anything
        raise DataError(f"{path} is damaged or not an .npz archive of plain arrays: {error}") from error


def _member(path: Path, archive: zipfile.ZipFile, name: str) -> str:
    if f"{name}.npy" not in archive.namelist():
        held = ", ".join(member.removesuffix(".npy") for member in archive.namelist()) or "nothing"
        raise DataError(f"{path} holds {held}: expected X and y")
    return f"{name}.npy"


def _header(path: Path, file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = npy.read_magic(file)
    shape, fortran, dtype = (npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0)(file)
    if dtype.kind not in "buif" or fortran or len(shape) < 2:
        raise DataError(
            f"{path}: X is {dtype} {shape}{', by columns' if fortran else ''}: expected samples of numbers, by rows"
        )
    return shape, dtype
