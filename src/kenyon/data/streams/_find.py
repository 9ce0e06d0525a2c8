"""Where data sets are, and the error for one that is missing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kenyon.data.streams._sources import FileLayout, PublishedSet
from kenyon.errors import DataError

_SHOWN = 12


@dataclass(frozen=True)
class Found:
    """A complete layout and its files."""

    layout: FileLayout
    folder: Path
    train: tuple[Path, ...]
    test: tuple[Path, ...]


def _present(folder: Path, name: str) -> Path | None:
    """The path of the file, or of the same file unpacked; None where there is neither."""
    for candidate in (folder / name, folder / name.removesuffix(".gz")):
        if candidate.is_file():
            return candidate
    return None


def find(source: PublishedSet, data_dir: Path) -> Found | None:
    """The first layout whose files all exist, or None."""
    for layout in source.layouts:
        for folder in (data_dir / name for name in layout.folders):
            train = [path for name in layout.train if (path := _present(folder, name))]
            test = [path for name in layout.test if (path := _present(folder, name))]
            if len(train) == len(layout.train) and len(test) == len(layout.test):
                return Found(layout, folder, tuple(train), tuple(test))
    return None


def missing(source: PublishedSet, data_dir: Path) -> DataError:
    """The error that says which files to put where, or how to fetch them."""
    ways = []
    for layout in source.layouts:
        folder = data_dir / layout.folders[0]
        absent = [name for name in (*layout.train, *layout.test) if not _present(folder, name)]
        more = f" and {len(absent) - _SHOWN:,} more" if len(absent) > _SHOWN else ""
        ways.append(f"put {', '.join(absent[:_SHOWN])}{more} into {folder}")
    fetched = any(layout.remotes for layout in source.layouts)
    last = f"fetch it with: kenyon data download {source.name} --data-dir {data_dir}"
    return DataError(
        f"the data set {source.name!r} is not in {data_dir}: {'; or '.join(ways)}; "
        + (f"or {last}" if fetched else f"it is published at {source.page}")
    )
