"""`.npz` archives of a user's own arrays: X_train, y_train, X_test, y_test, or X and y.

Arrays stored without compression (`numpy.savez`) are memory-mapped inside the archive; compressed
ones (`numpy.savez_compressed`) are read. Object arrays, which would need pickle, are refused.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Sequence
from math import prod
from pathlib import Path

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from kenyon.data.streams._arrays import from_arrays
from kenyon.data.streams._dataset import Dataset
from kenyon.data.streams._reading import check_unpacked, reading
from kenyon.errors import DataError

_KEYS = (("X_train", "y_train", "X_test", "y_test"), ("X_train", "y_train"), ("X", "y"))


def read_npz(path: Path, test_share: float = 0.2, domain: str | None = None, fewest_classes: int = 2) -> Dataset:
    """The data set in an `.npz` archive; with `domain`, also `domain_train`, `domain_test` or `domain`, so named."""
    with reading(path, "is damaged or not an .npz archive of plain arrays"), zipfile.ZipFile(path) as archive:
        present = {Path(name).stem for name in archive.namelist() if name.endswith(".npy")}
    keys = next((keys for keys in _KEYS if set(keys) <= present), None)
    if keys is None:
        raise DataError(
            f"{path} holds {', '.join(sorted(present)) or 'no array'}: "
            "expected X_train, y_train and, if there is a test set, X_test, y_test; or X and y"
        )
    arrays = read_members(path, keys)
    domains = None
    if domain is not None:
        members = read_members(path, [key.replace("X", domain) for key in keys if key.startswith("X")])
        domains = (members[0], members[1] if len(members) > 1 else None, None)
    return from_arrays(*arrays, name=path.name, test_share=test_share, domains=domains, fewest_classes=fewest_classes)


def read_members(path: Path, keys: Sequence[str]) -> list[NDArray]:
    """The arrays of these names in an `.npz` archive."""
    with reading(path, "is damaged or not an .npz archive of plain arrays"), zipfile.ZipFile(path) as archive:
        present = {Path(name).stem: archive.getinfo(name) for name in archive.namelist() if name.endswith(".npy")}
        if absent := [key for key in keys if key not in present]:
            raise DataError(
                f"{path} holds {', '.join(sorted(present)) or 'no array'}: expected {', '.join(absent)}, too"
            )
        check_unpacked(path, sum(present[key].file_size for key in keys))
        return [_member(path, archive, present[key]) for key in keys]


def _member(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray:
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{info.filename} is packed as numpy.savez_compressed does not pack")
    with archive.open(info) as file:
        version = npy.read_magic(file)
        read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = read_header(file)
        header = file.tell()
        if dtype.hasobject:
            raise ValueError("object arrays are not read")
        if header + prod(shape) * dtype.itemsize != info.file_size:
            raise ValueError(f"{info.filename} does not hold the {shape} values its header names")
        if info.compress_type != zipfile.ZIP_STORED:
            content = np.frombuffer(file.read(), dtype)
            return content.reshape(shape, order="F" if fortran else "C")
    with path.open("rb") as raw:  # the local header before the content has its own name and extra lengths
        raw.seek(info.header_offset + 26)
        name_length, extra_length = struct.unpack("<HH", raw.read(4))
    offset = info.header_offset + 30 + name_length + extra_length + header
    if not all(shape):
        return np.empty(shape, dtype)
    return np.memmap(path, dtype, "r", offset, shape, "F" if fortran else "C")
