"""CIFAR-10 and CIFAR-100, binary and python versions, memory-mapped.

Binary version: records of one label byte (CIFAR-10) or a coarse and a fine label byte (CIFAR-100),
then 3 x 32 x 32 pixel bytes, red plane first. Python version: one pickled dictionary per file, with an
array `data` of the same pixels and a list of labels; it is read without running anything (`_unpickle`).

Reference: Krizhevsky, "Learning multiple layers of features from tiny images", 2009.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kenyon.data.streams._dataset import Samples, Split
from kenyon.data.streams._reading import reading
from kenyon.data.streams._rows import Rows
from kenyon.data.streams._unpickle import read_pickle
from kenyon.errors import DataError

SHAPE = (3, 32, 32)
PIXELS = 3 * 32 * 32
_SUPERCLASS = (
    4, 1, 14, 8, 0, 6, 7, 7, 18, 3, 3, 14, 9, 18, 7, 11, 3, 9, 7, 11, 6, 11, 5, 10, 7,
    6, 13, 15, 3, 15, 0, 11, 1, 10, 12, 14, 16, 9, 11, 5, 5, 19, 8, 8, 15, 13, 14, 17, 18, 10,
    16, 4, 17, 4, 2, 0, 17, 4, 18, 17, 10, 3, 2, 12, 12, 16, 12, 1, 9, 19, 2, 10, 0, 1, 16,
    12, 9, 13, 15, 13, 16, 19, 2, 4, 6, 19, 5, 5, 8, 19, 18, 1, 2, 15, 6, 0, 17, 8, 14, 13,
)  # fmt: skip
"""The superclass of each class of CIFAR-100."""
SUBCLASS = np.array([_SUPERCLASS[:fine].count(_SUPERCLASS[fine]) for fine in range(len(_SUPERCLASS))])
"""Which of the five of its superclass each class is: the domain of an image where the label is the superclass."""


def read_cifar_split(
    files: Sequence[Path], cache: Path | None, n_label_bytes: int, label: int, label_key: str, subclasses: bool = False
) -> Split:
    """Read one split from the files of either version.

    Args:
        files: the files in the publisher's order; `.bin` for the binary version.
        cache: not used, since the files can be mapped as they are.
        n_label_bytes: how many label bytes a record of the binary version has.
        label: which of them to use.
        label_key: the key of the labels in the python version.
        subclasses: whether the domain of an image is its class within its superclass.
    """
    with reading(files[0].parent, "holds files that cannot be read"):
        split = _read(files, n_label_bytes, label, label_key)
        if not subclasses:
            return split
        fine = _read(files, n_label_bytes, 1, "fine_labels").y
        if len(fine) and not (fine.min() >= 0 and fine.max() < len(SUBCLASS)):
            raise DataError(f"{files[0].parent}: fine labels run from {fine.min()} to {fine.max()}: expected 0 to 99")
        return Split(split.X, split.y, SUBCLASS[fine])


def _read(files: Sequence[Path], n_label_bytes: int, label: int, label_key: str) -> Split:
    if files[0].suffix == ".bin":
        parts = [_read_binary(path, n_label_bytes, label) for path in files]
    else:
        parts = [_read_python(path, label_key) for path in files]
    X: Samples = parts[0][0] if len(parts) == 1 else Rows([pixels for pixels, _ in parts])
    return Split(X, np.concatenate([y for _, y in parts]))


def _read_binary(path: Path, n_label_bytes: int, label: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    record = n_label_bytes + PIXELS
    size = path.stat().st_size
    if size == 0 or size % record:
        raise DataError(f"{path} holds {size} bytes: expected {record}-byte records")
    table = np.asarray(np.memmap(path, np.uint8, "r", shape=(size // record, record)))
    labels = np.empty(len(table), np.int64)
    with path.open("rb") as file:  # read, not mapped: the labels of all records would load the whole map
        for start in range(0, len(table), 1024):
            block = np.frombuffer(file.read(1024 * record), np.uint8).reshape(-1, record)
            labels[start : start + len(block)] = block[:, label]
    return table[:, n_label_bytes:], labels


def _read_python(path: Path, label_key: str) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    content = read_pickle(path)
    if "data" not in content or label_key not in content:
        raise DataError(f"{path} has no 'data' and {label_key!r}: expected a CIFAR batch in the Python version")
    X, labels = content["data"], content[label_key]
    if not isinstance(X, np.ndarray) or X.dtype != np.uint8 or X.ndim != 2 or X.shape[1] != PIXELS:
        raise DataError(f"{path}: 'data' must be bytes of shape (n, {PIXELS})")
    if not isinstance(labels, list) or len(labels) != len(X) or not all(type(label) is int for label in labels):
        raise DataError(f"{path}: {label_key!r} must be a list of {len(X)} integers")
    return X, np.array(labels, np.int64)
