"""Files that are made once from slower ones, so that they can be memory-mapped; written as a whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

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
