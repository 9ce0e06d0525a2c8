"""Reading files of others: any fault becomes a DataError that names the file, and sizes are checked first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kenyon.errors import DataError, KenyonError

UNPACKED, PER_BYTE = 1 << 28, 1 << 10
"""Most bytes that a packed file may unpack to: this many, or this many per byte of it, which Deflate can reach."""

LONGEST_NAME = 1000
"""Most characters of a class name: an array of texts gives each the width of the longest."""


@contextmanager
def reading(path: Path, wrong: str) -> Iterator[None]:
    """Turn what a library raises over a damaged file, of any type, into a DataError.

    Args:
        path: the file.
        wrong: what it then is or cannot be, such as `cannot be read as CSV`.
    """
    try:
        yield
    except KenyonError:
        raise
    except Exception as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise DataError(f"{path} {wrong}: {reason[0][:300]}") from error


def check_unpacked(path: Path, needed: int) -> None:
    """Refuse a file that would unpack to an unreasonable amount of memory."""
    most = max(UNPACKED, PER_BYTE * path.stat().st_size)
    if needed > most:
        raise DataError(
            f"{path} would unpack to {needed:,} bytes: expected at most {most:,} for a file of {path.stat().st_size:,}"
        )


def check_name(path: Path, place: str, name: str) -> None:
    """Refuse a class name that is too long or not UTF-8."""
    if len(name) > LONGEST_NAME:
        raise DataError(f"{path}{place}: a class name of {len(name):,} characters, expected at most {LONGEST_NAME}")
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise DataError(f"{path}{place}: the class name {name!a} is not UTF-8: rename it") from error
