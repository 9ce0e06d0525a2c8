"""Features on disk: files are named by content, written as a whole, and checked whenever they are opened.

A file holds the features of one split of a data set, `(n, n_features)` float32, in the safetensors format:

    8 bytes   length of the header, little-endian
    header    JSON, padded with spaces; the tensor is called "features". Its "__metadata__" holds "identity" (what
              the features were made from), "backbone_bytes", "value_range" and "sha256"
    features  row after row

`sha256` is the sum of the other metadata and the features. The name of the file carries the sum of the identity,
so anything that changes the features changes the name.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import DataError
from kenyon.utils.system import leftovers, locked, replacing
from kenyon.utils.wording import slug

_ALIGNMENT = 64
_CHUNK = 1 << 20
_NO_SUM = "0" * 64

Blocks = Iterator[NDArray[np.float32]]


@dataclass(frozen=True)
class CachedFeatures:
    """The features of one split.

    Attributes:
        X: memory-mapped, read-only.
        backbone_bytes: bytes of the network that made them.
        value_range: the smallest and the largest feature.
    """

    X: NDArray[np.float32]
    backbone_bytes: int
    value_range: tuple[float, float]


class DamagedCacheWarning(UserWarning):
    """A cache file whose content is not what was written; it is made again.

    Example:
        >>> issubclass(DamagedCacheWarning, UserWarning)
        True
    """


def identity_sum(identity: Mapping[str, Any]) -> str:
    """SHA-256 of plain values."""
    return hashlib.sha256(_json(identity)).hexdigest()


def cached_features(
    folder: Path, label: str, identity: Mapping[str, Any], n: int, make: Callable[[], tuple[Blocks, int]]
) -> CachedFeatures:
    """The features with this identity; they are made if they are missing or damaged.

    Two processes that need the same features make them once: the second waits for the first.

    Args:
        folder: the cache.
        label: the beginning of the file's name.
        identity: plain values; whatever changes the features must change them.
        n: how many rows there are.
        make: returns the features in blocks, and the bytes of the network that makes them.

    Raises:
        DataError: the cache cannot be written.
    """
    stem = slug(label)
    path = folder / f"{stem}-{identity_sum(identity)[:20]}.safetensors"
    if path.is_file() and (found := _open_checked(path, identity, n)):
        return found
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with locked(path.with_suffix(".lock")):
            if path.is_file() and (found := _open_checked(path, identity, n, warn=False)):
                return found  # another process was faster
            for remains in leftovers(folder, path.name):  # of a killed process: the lock is ours
                remains.unlink(missing_ok=True)
            with replacing(path) as temporary, open(temporary, "w+b") as file:
                _fill(file, identity, n, *make())
    except OSError as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"the features cannot be kept in {folder}: {error}. Choose another --data-dir") from error
    made = _open_checked(path, identity, n)
    if made is None:
        raise DataError(f"{path} does not hold what was just written to it: the disk is at fault")
    return made


def _fill(file: IO[bytes], identity: Mapping[str, Any], n: int, blocks: Blocks, backbone_bytes: int) -> None:
    low, high, rows, width = np.inf, -np.inf, 0, 0
    for block in blocks:
        if not rows:
            width = block.shape[1]
            file.seek(len(_header(_metadata(identity, backbone_bytes, (0.0, 0.0)), n, width, _NO_SUM)))
        low, high = min(low, float(block.min())), max(high, float(block.max()))
        rows += len(block)
        file.write(np.ascontiguousarray(block, "<f4").data)
    if rows != n or not n:
        raise DataError(f"{rows} rows of features were made for {n} images")
    metadata = _metadata(identity, backbone_bytes, (low, high))
    start = len(_header(metadata, n, width, _NO_SUM))
    file.seek(start)
    total = _sum(file, metadata)
    file.seek(0)
    file.write(_header(metadata, n, width, total))


def _metadata(identity: Mapping[str, Any], backbone_bytes: int, value_range: tuple[float, float]) -> dict[str, str]:
    numbers = " ".join(f"{value:+.8e}" for value in value_range)  # of fixed width: it is known last, but stands first
    return {
        "backbone_bytes": str(backbone_bytes),
        "identity": _json(identity).decode(),
        "value_range": numbers,
    }


def _header(metadata: Mapping[str, str], n: int, width: int, total: str) -> bytes:
    tensor = {"dtype": "F32", "shape": [n, width], "data_offsets": [0, 4 * n * width]}
    text = _json({"__metadata__": {**metadata, "sha256": total}, "features": tensor})
    text += b" " * (-(8 + len(text)) % _ALIGNMENT)
    return len(text).to_bytes(8, "little") + text


def _sum(file: IO[bytes], metadata: Mapping[str, str]) -> str:
    """Of the metadata and the rest of the file."""
    digest = hashlib.sha256(_json(metadata))
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def _open_checked(path: Path, identity: Mapping[str, Any], n: int, warn: bool = True) -> CachedFeatures | None:
    """The file's features; None, with a warning, where it is not what was written."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if not 0 < length <= path.stat().st_size - 8:
                raise ValueError("its header does not fit")
            text = file.read(length)
            header = json.loads(text)
            metadata = dict(header["__metadata__"])
            total, (rows, width) = metadata.pop("sha256"), header["features"]["shape"]
            start = file.tell()
            if path.stat().st_size != start + 4 * rows * width:
                raise ValueError("it is cut short or too long")
            if rows != n or metadata["identity"] != _json(identity).decode():
                raise ValueError("it holds the features of something else")
            if _sum(file, metadata) != total or text != _header(metadata, rows, width, total)[8:]:
                raise ValueError("its checksum is wrong")
        low, high = (float(value) for value in metadata["value_range"].split())
        X = np.asarray(np.memmap(path, "<f4", "r", offset=start, shape=(rows, width)))
        return CachedFeatures(X, int(metadata["backbone_bytes"]), (low, high if high > low else low + 1.0))
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        OSError,
        ArithmeticError,
        RecursionError,
        MemoryError,
    ) as error:
        if warn:
            warnings.warn(
                f"the features in {path} are damaged ({error}) and are made again", DamagedCacheWarning, stacklevel=4
            )
        return None


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
