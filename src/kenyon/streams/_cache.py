"""Files made once from slower ones, so that they can be memory-mapped. Written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

_ABANDONED_AFTER = 24 * 3600.0


def sweep(folder: Path, pattern: str) -> None:
    """Remove temporary files and folders that a killed process left behind more than a day ago."""
    for entry in folder.glob(pattern):
        with contextlib.suppress(OSError):  # another process may be faster, or own it
            if time.time() - entry.stat().st_mtime > _ABANDONED_AFTER:
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


def write_atomic(path: Path, write: Callable[[BinaryIO], None]) -> None:
    """Let `write` fill a temporary file beside `path`, then move it into place in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(part, 0o644)
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)
        raise


def cached_file(cache: Path, name: str, write: Callable[[BinaryIO], None]) -> Path | None:
    """The file `name` in the cache folder, made by `write` if it is not there; None where nothing can be written.

    `name` must change with the content wanted, since a file that is there is taken as it is.
    """
    path = cache / name
    if path.is_file():
        return path
    sweep(cache, ".*.part")
    try:
        write_atomic(path, write)
    except OSError as error:
        if error.errno is None:  # damaged input (gzip.BadGzipFile), not a full or read-only disk
            raise
        return None
    return path
