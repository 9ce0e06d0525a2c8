"""`load_dataset`: a data set by its name, or a user's own by its path."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from kenyon.errors import unknown
from kenyon.streams._dataset import Dataset
from kenyon.streams._digits import read_digits
from kenyon.streams._find import find, find_data_dir, missing
from kenyon.streams._sources import ALIASES, SOURCES, Source

DATASETS: tuple[str, ...] = ("digits", *SOURCES)


def canonical(name: str) -> str:
    """The name in the table for any accepted spelling, or the error that lists the names."""
    plain = name.strip().lower().replace("_", "-")
    plain = ALIASES.get(plain, plain)
    if plain not in DATASETS:
        raise unknown("data set", name, DATASETS)
    return plain


def open_source(source: Source, data_dir: Path) -> Dataset:
    """A published data set from the data directory; its files are opened when a split is used."""
    found = find(source, data_dir)
    if found is None:
        raise missing(source, data_dir)
    cache = data_dir / "cache"
    read = found.layout.read
    return Dataset(
        source.name,
        source.shape,
        source.class_names,
        partial(read, found.train, cache),
        partial(read, found.test, cache),
    )


def load_dataset(name: str | Path, data_dir: str | Path | None = None) -> Dataset:
    """A data set, ready for a curriculum."""
    name = canonical(str(name))
    return read_digits() if name == "digits" else open_source(SOURCES[name], find_data_dir(data_dir))
