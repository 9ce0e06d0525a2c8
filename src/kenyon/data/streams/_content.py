"""A checksum of the content of your own data set: a set that was edited is another set."""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from pathlib import Path

from kenyon.data.streams._load import as_path
from kenyon.data.streams._reading import reading

_Stamp = tuple[str, int, int]


def content_sum(name: str | Path) -> str | None:
    r"""SHA-256 of the names and contents of the files of a data set that is given by its path.

    None for a published data set, which has its own checksums, and for a path that does not exist. A file is only read
    again when its size or its time of change is different.

    Example:
        >>> from pathlib import Path
        >>> _ = Path("mine.csv").write_text("width,label\n1,a\n2,b\n")
        >>> before = content_sum("mine.csv")
        >>> _ = Path("mine.csv").write_text("width,label\n1,a\n3,b\n")
        >>> content_sum("mine.csv") == before
        False
    """
    path = as_path(name)
    if path is None or not (path.is_file() or path.is_dir()):
        return None
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    with reading(path, "cannot be read"):
        return _sum_of(path, tuple(_stamp(path, file) for file in files))


def _stamp(root: Path, file: Path) -> _Stamp:
    status = file.stat()
    return file.relative_to(root).as_posix(), status.st_size, status.st_mtime_ns


@lru_cache(maxsize=8)
def _sum_of(root: Path, stamps: tuple[_Stamp, ...]) -> str:
    digest = hashlib.sha256()
    for name, size, _ in stamps:
        digest.update(os.fsencode(name) + f"\0{size}\0".encode())
        with open(root / name if name != "." else root, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()
