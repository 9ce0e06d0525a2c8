"""Which shards were learned, by content: what a model's file does not say about itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kenyon.errors import DataError
from kenyon.utils.system import replace_json

VERSION = 2


class ShardError(DataError):
    """Files that were refused; whatever was learned before, or together with them, is kept.

    Attributes:
        refused: the reason for each file, by path.

    Example:
        >>> print(ShardError({"part-1.csv": "part-1.csv has no column 'label'"}, learned=3))
        part-1.csv has no column 'label'
        1 file was refused; 3 others are part of the model
    """

    def __init__(self, refused: Mapping[str, str], learned: int) -> None:
        self.refused, self.learned = dict(refused), learned
        were = f"{len(refused)} files were" if len(refused) > 1 else "1 file was"
        rest = f"{learned} others are" if learned != 1 else "1 other is"
        super().__init__("\n".join([*refused.values(), f"{were} refused; {rest} part of the model"]))

    def __reduce__(self) -> Any:
        return ShardError, (self.refused, self.learned)


@dataclass(frozen=True)
class Shard:
    """A file of samples.

    Attributes:
        path: where it lies.
        size, changed: bytes, and when they were last changed (in nanoseconds).
        sha256: of its content.
        rows: samples in it.
        columns: its features, in the order in which they are learned; none where a format has no names for them.
        width: features of a sample; more than columns where those hold several values each.
        kind: of its labels, as in `kenyon.model.labels.label_kind`; empty where no sample has one.
        floats: whether its features are numbers other than bytes.
        pieces: what is learned at a time, in the units of its format.

    Example:
        >>> Shard("part.csv", 10, 0, "ab", 5, ("a", "b"), 2, "number", True, ((0, 0),)).names
        ('a', 'b')
    """

    path: str
    size: int
    changed: int
    sha256: str
    rows: int
    columns: tuple[str, ...]
    width: int
    kind: str
    floats: bool
    pieces: tuple[tuple[int, int], ...]

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Shard:
        """From plain values."""
        columns, pieces = tuple(values["columns"]), tuple((first, last) for first, last in values["pieces"])
        return cls(**{**values, "columns": columns, "pieces": pieces})

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each feature; none where a column holds several."""
        return self.columns if len(self.columns) == self.width else ()

    def is_unchanged(self) -> bool:
        """Whether the file has the size and the time of change that were recorded."""
        return stamp(Path(self.path)) == (self.size, self.changed)

    def changed_since(self) -> str:
        """Why a file that is no longer what was recorded is refused."""
        return (
            f"{self.path} has changed since it was recorded (SHA-256 {self.sha256[:12]}...): expected what it was. "
            "Put it back, or give the new content a name of its own"
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
        refused: of a plan: the reason for each shard that turned out to be unfit while it was learned, by path.
    """

    config: dict[str, Any]
    shards: tuple[Shard, ...]
    model: str = ""
    refused: dict[str, str] = field(default_factory=dict)

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
            return cls(dict(values["config"]), shards, str(values["model"]), dict(values["refused"]))
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise DataError(f"{path} is not a record of shards that this version can read: {error}") from error
