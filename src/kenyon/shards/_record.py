"""Which shards were learned, by content: what a model's file does not say about itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kenyon.errors import DataError, KenyonError
from kenyon.system import replace_json

VERSION = 1


class ShardChangedError(KenyonError, ValueError):
    """A shard that is not what it was when it was recorded; what was learned so far is kept."""


@dataclass(frozen=True)
class Shard:
    """A file of samples.

    Attributes:
        path: where it lies.
        size, changed: bytes, and when they were last changed (in nanoseconds).
        sha256: of its content.
        rows: samples in it; None where only reading would tell.
        columns: its features.
        pieces: what is learned at a time, in the units of its format.

    Example:
        >>> Shard("part.npz", 10, 0, "ab", 5, ("X[9]",), ((0, 0),)).rows
        5
    """

    path: str
    size: int
    changed: int
    sha256: str
    rows: int | None
    columns: tuple[str, ...]
    pieces: tuple[tuple[int, int], ...]

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Shard:
        """From plain values."""
        columns, pieces = tuple(values["columns"]), tuple((first, last) for first, last in values["pieces"])
        return cls(**{**values, "columns": columns, "pieces": pieces})

    def is_unchanged(self) -> bool:
        """Whether the file has the size and the time of change that were recorded."""
        return stamp(Path(self.path)) == (self.size, self.changed)

    def refuse(self) -> ShardChangedError:
        """The error for a file that is no longer what was recorded."""
        return ShardChangedError(
            f"{self.path} has changed since it was recorded (SHA-256 {self.sha256[:12]}...): expected what it was. "
            "Put it back, give the new content a name of its own, or learn everything anew with another --out. "
            "What was learned so far is kept."
        )


def stamp(path: Path) -> tuple[int, int]:
    """Size and time of change of a file."""
    try:
        status = path.stat()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error
    return status.st_size, status.st_mtime_ns


def content_of(path: Path) -> str:
    """SHA-256 of a file, read a block at a time."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error
    return digest.hexdigest()


@dataclass(frozen=True)
class Record:
    """What was learned, or is to be: the configuration, and the shards in order.

    Attributes:
        config: of `LearnConfig`.
        shards: in the order in which they count.
        model: SHA-256 of the model's file that they went into; empty as long as there is none.
    """

    config: dict[str, Any]
    shards: tuple[Shard, ...]
    model: str = ""

    def save(self, path: Path) -> None:
        """Write it as a whole."""
        replace_json(path, {"version": VERSION, **asdict(self)})

    @classmethod
    def load(cls, path: Path) -> Record:
        """Read it; refuses a file that is none."""
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            if values.pop("version") != VERSION:
                raise ValueError("another version")
            shards = tuple(Shard.from_dict(shard) for shard in values["shards"])
            return cls(dict(values["config"]), shards, str(values["model"]))
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise DataError(f"{path} is no record of shards that this version can read: {error}") from error
