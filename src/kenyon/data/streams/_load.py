"""`load_dataset`: a data set by its name, or a user's own by its path; `content_sum` tells whether that was edited."""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache, partial
from pathlib import Path

from kenyon.data.streams._dataset import Dataset
from kenyon.data.streams._digits import read_digits
from kenyon.data.streams._domains import joined
from kenyon.data.streams._find import find, missing
from kenyon.data.streams._images import read_image_folder
from kenyon.data.streams._npz import read_npz
from kenyon.data.streams._reading import reading
from kenyon.data.streams._sources import ALIASES, SOURCES, PublishedSet
from kenyon.data.streams._tables import find_table, read_table
from kenyon.errors import ConfigError, DataError, unknown
from kenyon.utils.system import find_data_dir

SUFFIXES = (".npz", ".csv", ".parquet")
DATASETS: tuple[str, ...] = ("digits", *SOURCES)
"""The names of the data sets that can be loaded without a path."""


def canonical_name(name: str) -> str:
    """The name in the table for any accepted spelling, or the error that lists the names.

    Example:
        >>> canonical_name("Fashion_MNIST")
        'fashion-mnist'
    """
    plain = name.strip().lower().replace("_", "-")
    plain = ALIASES.get(plain, plain)
    if plain not in DATASETS:
        raise unknown("data set", name, DATASETS)
    return plain


def open_source(source: PublishedSet, data_dir: Path) -> Dataset:
    """A published data set from the data directory; its files are opened when a split is used."""
    found = find(source, data_dir)
    if found is None:
        raise missing(source, data_dir)
    cache = data_dir / "cache"
    read = found.layout.read
    read_test = found.layout.read_test or read
    return Dataset(
        source.name,
        source.shape,
        source.class_names,
        partial(read, found.train, cache),
        partial(read_test, found.test, cache),
        source.value_range,
        source.domain_names,
    )


def load_dataset(
    name: str | Path,
    data_dir: str | Path | None = None,
    *,
    label: str | None = None,
    test_share: float | None = None,
    domain: str | None = None,
) -> Dataset:
    r"""Load a data set by its name or path.

    Args:
        name: a name in `DATASETS`, or the path of your own set: `.npz`, `.csv`, `.parquet`, a folder of
            images, or a folder with `train` and `test` tables. A path has a slash or one of these suffixes, is a
            folder that exists, or is given as a `Path`.
        data_dir: where published sets are; by default `KENYON_DATA`, else the user's data folder.
        label: the name of the label column of a table; by default "label".
        test_share: the share of your own set that is kept for testing where it has no test part; by default 0.2.
        domain: what the domains of your own set are: the column of a table, the array of an `.npz` (`user` for
            `user_train`, `user_test` or `user`), or "folder" for a folder of sessions, each a set of its own.

    Example:
        >>> load_dataset("digits").shape
        (8, 8)
        >>> from pathlib import Path
        >>> _ = Path("flowers.csv").write_text("width,height,kind\n" + "1.0,2.0,rose\n0.5,3.0,tulip\n" * 10)
        >>> load_dataset("flowers.csv", label="kind").class_names
        ('rose', 'tulip')
    """
    path = as_path(name)
    if path is not None:
        cache = find_data_dir(data_dir) / "cache"
        return _read_path(path, cache, label, 0.2 if test_share is None else test_share, domain)
    for option, value in (("label", label), ("test_share", test_share), ("domain", domain)):
        if value is not None:
            raise ConfigError(f"{option} is {value!r}: it is for a set given by its path, {name!r} is a published one")
    plain = canonical_name(str(name))
    return read_digits() if plain == "digits" else open_source(SOURCES[plain], find_data_dir(data_dir))


def as_path(name: str | Path) -> Path | None:
    """The path of a user's own set; None for a name."""
    if isinstance(name, Path):
        return name
    separators = [separator for separator in (os.sep, os.altsep) if separator]
    is_path = any(separator in name for separator in separators) or Path(name).suffix.lower() in SUFFIXES
    plain = name.strip().lower().replace("_", "-")
    published = ALIASES.get(plain, plain) in DATASETS
    return Path(name).expanduser() if is_path or (not published and _is_folder(name)) else None


def _is_folder(name: str) -> bool:
    try:
        return Path(name).is_dir()
    except OSError:  # longer than a name can be
        return False


def _read_path(
    path: Path, cache: Path, label: str | None, test_share: float, domain: str | None, fewest_classes: int = 2
) -> Dataset:
    if not path.exists():
        raise DataError(f"there is no file or folder {path}")
    if not (path.is_file() or path.is_dir()):
        raise DataError(f"{path} is neither a file nor a folder: a pipe or a device is not read")
    if path.is_dir() and domain == "folder":
        return _read_sessions(path, cache, label, test_share)
    is_table = path.suffix.lower() in (".csv", ".parquet") if path.is_file() else find_table(path, "train") is not None
    if is_table:
        return read_table(path, label or "label", test_share, domain, fewest_classes)
    if label is not None:
        raise ConfigError(f"label is {label!r}: only a CSV or Parquet table has a label column, {path} is neither")
    if path.is_dir():
        if domain is not None:
            raise ConfigError(f"domain is {domain!r}: expected 'folder' for a folder of sessions, {path} is a folder")
        return read_image_folder(path, cache, test_share, fewest_classes)
    if path.suffix.lower() == ".npz":
        return read_npz(path, test_share, domain, fewest_classes)
    raise DataError(f"{path} is of no known kind: expected {', '.join(SUFFIXES)}, or a folder of images")


def _read_sessions(path: Path, cache: Path, label: str | None, test_share: float) -> Dataset:
    """A folder of sessions: each entry is a data set of its own, and all are one after the other, by name."""
    entries = sorted(
        entry
        for entry in path.iterdir()
        if not entry.name.startswith(".") and (entry.is_dir() or entry.suffix.lower() in SUFFIXES)
    )
    if not entries:
        raise DataError(f"{path} has no session: expected {', '.join(SUFFIXES)} or folders, one for each")
    parts = [
        _read_path(entry, cache, None if entry.suffix.lower() == ".npz" else label, test_share, None, fewest_classes=1)
        for entry in entries
    ]
    return joined(parts, [entry.stem for entry in entries], path.name)


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
