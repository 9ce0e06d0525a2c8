"""Samples that a front end makes of recordings, made once and memory-mapped from the cache folder."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from kenyon.data.streams._cache import cached_file


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
