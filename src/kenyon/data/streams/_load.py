"""`load_dataset`: a data set by its name, or a user's own by its path."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from kenyon.data.streams._dataset import Dataset
from kenyon.data.streams._digits import read_digits
from kenyon.data.streams._domains import joined
from kenyon.data.streams._find import find, missing
from kenyon.data.streams._images import read_image_folder
from kenyon.data.streams._npz import read_npz
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
    return Path(name).expanduser() if is_path or (not published and Path(name).is_dir()) else None


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
        raise ConfigError(f"label is {label!r}: only a CSV or Parquet table has a label column, {path} is none")
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
        _read_path(entry, cache, label, test_share, None, fewest_classes=1)
        if label is None or entry.suffix.lower() != ".npz"
        else _read_path(entry, cache, None, test_share, None, fewest_classes=1)
        for entry in entries
    ]
    return joined(parts, [entry.stem for entry in entries], path.name)
