"""Files that are made once from slower ones, so that they can be memory-mapped; written as a whole or not at all."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from kenyon.utils.system import replacing, sweep


def cached_file(cache: Path, name: str, write: Callable[[BinaryIO], None]) -> Path | None:
    """The file `name` in the cache folder, made by `write` if it does not exist; None where nothing can be written.

    `name` must change with the wanted content, since a file that exists is used as it is.
    """
    path = cache / name
    if path.is_file():
        return path
    sweep(cache)
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary, open(temporary, "wb") as file:
            write(file)
    except OSError as error:
        if error.errno is None:  # damaged input (gzip.BadGzipFile), not a full or read-only disk
            raise
        return None
    return path


def made_once(cache: Path | None, stem: str, files: Sequence[Path], how: str, make: Callable[[], NDArray]) -> NDArray:
    """The array that `make` gives, from the cache where these files were read in this way before.

    Args:
        cache: the folder; None to make it in memory.
        stem: how the name of the cached file begins.
        files: what the array is made of: their contents are part of the name.
        how: what else it depends on.
        make: called where there is no such file.
    """
    if cache is None:
        return make()
    digest = hashlib.sha256(how.encode())
    for path in files:
        content = path.read_bytes()
        digest.update(f"{path.name}\0{len(content)}\0".encode() + content)

    def write(file: BinaryIO) -> None:
        np.save(file, make(), allow_pickle=False)

    made = cached_file(cache, f"{stem}-{digest.hexdigest()[:32]}.npy", write)
    return make() if made is None else np.load(made, mmap_mode="r", allow_pickle=False)
