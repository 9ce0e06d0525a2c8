"""IDX files, plain or gzipped: MNIST, Fashion-MNIST and EMNIST.

An IDX file is two zero bytes, a type byte (8 = uint8), the number of dimensions, each dimension
as a big-endian 32-bit number, then the values in C order. A gzipped file is unpacked once into
the cache folder and memory-mapped from there; where nothing can be written it is read into memory.

Reference: LeCun, Cortes, Burges, "The MNIST database of handwritten digits", 1998.
"""

from __future__ import annotations

import gzip
import mmap
import struct
from collections.abc import Sequence
from functools import partial
from io import BytesIO
from math import prod
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from kenyon.data.streams._cache import cached_file
from kenyon.data.streams._dataset import Split
from kenyon.data.streams._reading import reading
from kenyon.data.streams._rows import Rows
from kenyon.errors import DataError


def read_idx(path: Path, n_dims: int, cache: Path | None = None, most: int | None = None) -> NDArray[np.uint8]:
    """The array in an IDX file of bytes, memory-mapped where possible.

    Args:
        path: the file; it is unpacked if its name ends in `.gz`.
        n_dims: how many dimensions it must have (1 for labels, 3 for images).
        cache: the folder for the unpacked file; None to read it into memory.
        most: bytes that it may unpack to; more is refused, and nothing of it is kept.
    """
    with reading(path, "is damaged or cut short, fetch it again"):
        if path.suffix != ".gz":
            return _parse(_map(path), path, n_dims)
        unpacked = cached_file(cache, _cache_name(path), partial(_unpack, path, most)) if cache else None
        if unpacked:
            try:
                return _parse(_map(unpacked), path, n_dims)
            except DataError:
                unpacked.unlink(missing_ok=True)  # what is refused is not left behind
                raise
        content = BytesIO()
        _unpack(path, most, content)
        return _parse(content.getvalue(), path, n_dims)


def _map(path: Path) -> mmap.mmap | bytes:
    with path.open("rb") as file:
        # an empty file cannot be mapped; the parser refuses it
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if path.stat().st_size else b""


def _cache_name(path: Path) -> str:
    """A name that changes with the content: gzip ends with the checksum and size of what is inside."""
    with path.open("rb") as file:
        file.seek(-min(8, path.stat().st_size), 2)
        return f"{path.parent.name}-{path.stem}-{file.read().hex()}"


def _unpack(source: Path, most: int | None, target: BinaryIO) -> None:
    written = 0
    with gzip.open(source) as file:
        while block := file.read(1 << 20):
            written += len(block)
            if most is not None and written > most:
                raise DataError(f"{source} unpacks to more than {most:,} bytes, which is all that the set has")
            target.write(block)


def _parse(data: mmap.mmap | bytes, path: Path, n_dims: int) -> NDArray[np.uint8]:
    header = 4 + 4 * n_dims
    magic = bytes(data[:4])
    wanted = bytes([0, 0, 8, n_dims])
    if magic != wanted:
        seen = magic.hex(" ") or "nothing"
        raise DataError(f"{path} starts with {seen}, an IDX file of this kind starts with {wanted.hex(' ')}")
    if len(data) < header:
        raise DataError(f"{path} ends inside its header: {len(data)} bytes, at least {header} were expected")
    shape = struct.unpack(f">{n_dims}I", data[4:header])
    expected = header + int(np.prod(shape, dtype=object))
    if len(data) != expected:
        raise DataError(f"{path} holds {len(data)} bytes, its header says {expected} for shape {shape}")
    return np.frombuffer(data, np.uint8, offset=header).reshape(shape)


def read_idx_split(
    files: Sequence[Path],
    cache: Path | None,
    shape: tuple[int, int],
    first_label: int = 0,
    transposed: bool = False,
    most: int | None = None,
) -> Split:
    """Read one split from its image and label files.

    Args:
        first_label: number of the first class.
        transposed: images are turned upright when rows are read.
        most: samples that the split may have.
    """
    images, labels = files
    limits = [None if most is None else 16 + most * each for each in (prod(shape), 1)]
    X, y = read_idx(images, 3, cache, limits[0]), read_idx(labels, 1, cache, limits[1])
    if X.shape[1:] != shape:
        raise DataError(f"{images} holds images of {X.shape[1:]}, expected {shape}")
    if len(X) != len(y):
        raise DataError(f"{images} holds {len(X)} images, {labels.name} {len(y)} labels: they must be as many")
    flat = X.reshape(len(X), -1)
    upright = np.arange(flat.shape[1]).reshape(shape[::-1]).T.ravel()
    return Split(Rows([flat], upright) if transposed else flat, y.astype(np.int64) - first_label)


def read_idx_fifths(
    files: Sequence[Path], cache: Path | None, shape: tuple[int, int], test: bool, most: int | None = None
) -> Split:
    """One split of a set that has none: of each class, every fifth sample of the file is for testing."""
    whole = read_idx_split(files, cache, shape, most=most)
    X, y = np.asarray(whole.X), whole.y
    fifth = np.zeros(len(y), bool)
    for label in np.unique(y):
        fifth[np.flatnonzero(y == label)[4::5]] = True
    return Split(X[fifth == test], y[fifth == test])
