"""What is in the data directory, and whether it is what was published."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kenyon.data.streams._dataset import Split
from kenyon.data.streams._digits import DIGITS_PAGE, DIGITS_REFERENCE
from kenyon.data.streams._find import Found, find, missing
from kenyon.data.streams._load import canonical_name, open_source
from kenyon.data.streams._sources import SOURCES, PublishedSet
from kenyon.errors import DataError
from kenyon.utils.system import find_data_dir

_ONE_BY_ONE = 20
"""More files without a published checksum are one line."""


@dataclass(frozen=True)
class DatasetStatus:
    """A line of the list of data sets.

    Attributes:
        name: its name for `load_dataset`.
        present: whether all of its files exist.
        folder: where its files are, or where they belong; None for the embedded digits.
        version: the layout that was found ("idx", "binary", "python", "embedded"), or the first one if none was.
        n_train, n_test, n_classes: the published numbers.
        size: the bytes of its files on disk; 0 where it is missing.
        reference: who published it.
        page: where.
        licence: what the publisher says about its use; `none stated` where that is nothing.

    Example:
        >>> digits = list_datasets()[0]
        >>> digits.name, digits.present, digits.n_classes
        ('digits', True, 10)
    """

    name: str
    present: bool
    folder: Path | None
    version: str
    n_train: int
    n_test: int
    n_classes: int
    size: int
    reference: str
    page: str
    licence: str


@dataclass(frozen=True)
class Check:
    """What was found about one file or one split.

    Attributes:
        what: the file or split.
        ok: whether it is as published.
        detail: what was compared, with the value seen and the value wanted where they differ.

    Example:
        >>> [check.ok for check in verify_dataset("digits")]
        [True]
    """

    what: str
    ok: bool
    detail: str


def list_datasets(data_dir: str | Path | None = None) -> list[DatasetStatus]:
    """Every data set that has a name, and whether it is in the data directory.

    Example:
        >>> [status.name for status in list_datasets()][:3]
        ['digits', 'mnist', 'fashion-mnist']
    """
    root = find_data_dir(data_dir)
    statuses = [DatasetStatus("digits", True, None, "embedded", 1438, 359, 10, 0, DIGITS_REFERENCE, *DIGITS_PAGE)]
    for source in SOURCES.values():
        found = find(source, root)
        layout = found.layout if found else source.layouts[0]
        statuses.append(
            DatasetStatus(
                source.name,
                found is not None,
                found.folder if found else root / layout.folders[0],
                layout.version,
                source.n_train,
                source.n_test,
                len(source.class_names),
                sum(path.stat().st_size for path in {*found.train, *found.test}) if found else 0,
                source.reference,
                source.page,
                source.licence,
            )
        )
    return statuses


def verify_dataset(name: str, data_dir: str | Path | None = None) -> list[Check]:
    """Compare a data set with what was published: each file's checksum, then counts and labels.

    Raises:
        DataError: it is not there.

    Example:
        >>> for check in verify_dataset("digits"):
        ...     print(check.what, check.ok)
        digits True
    """
    name = canonical_name(name)
    if name == "digits":
        return [Check("digits", True, "embedded in scikit-learn")]
    return verify_source(SOURCES[name], find_data_dir(data_dir))


def verify_source(source: PublishedSet, data_dir: Path) -> list[Check]:
    """`verify_dataset` for a row of the table."""
    found = find(source, data_dir)
    if found is None:
        raise missing(source, data_dir)
    checks = _check_files(found, list(dict.fromkeys((*found.train, *found.test))))
    if all(check.ok for check in checks):
        dataset = open_source(source, data_dir)
        for which, count in (("train", source.n_train), ("test", source.n_test)):
            try:
                checks.append(_check_split(getattr(dataset, which), which, count, len(source.class_names)))
            except DataError as error:
                checks.append(Check(which, False, str(error)))
    return checks


def _check_files(found: Found, files: list[Path]) -> list[Check]:
    if len(files) > _ONE_BY_ONE and not found.layout.md5:
        return [Check(f"{len(files):,} files", True, "no published checksums; counted and read below")]
    return [_check_file(found, path) for path in files]


def _check_file(found: Found, path: Path) -> Check:
    wanted = found.layout.md5.get(path.name)
    if wanted:
        seen = md5_of(path)
        detail = f"MD5 {seen}" if seen == wanted else f"MD5 {seen}, published {wanted}: fetch it again"
        return Check(path.name, seen == wanted, detail)
    if path.suffix == ".gz":
        try:
            with gzip.open(path) as file:
                while file.read(1 << 20):
                    pass
        except (OSError, EOFError, zlib.error) as error:
            return Check(path.name, False, f"damaged or cut short: {error}")
        return Check(path.name, True, "no published checksum; its own checksum is right")
    return Check(path.name, True, "no published checksum; counted and read below")


def _check_split(split: Split, which: str, count: int, n_classes: int) -> Check:
    if len(split) != count:
        return Check(which, False, f"{len(split)} samples, published {count}")
    seen = len(np.unique(split.y))
    if seen != n_classes:
        return Check(which, False, f"{seen} classes occur, published {n_classes}")
    return Check(which, True, f"{count} samples of {n_classes} classes")


def md5_of(path: Path) -> str:
    """The MD5 sum of a file. It protects against damage, not against forgery; publishers give no other."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
