"""Which shards are to be learned: found, read once, compared with what was recorded before."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from glob import glob
from pathlib import Path

from kenyon.errors import ConfigError, DataError
from kenyon.parallel import Here, Pool
from kenyon.shards._config import LearnConfig
from kenyon.shards._jobs import inspect
from kenyon.shards._record import Record, Shard, content_of
from kenyon.shards._watch import LearnWatch


def find(data: Iterable[str | os.PathLike[str]]) -> list[str]:
    """The files of some patterns, in order, each once, with absolute paths."""
    found: dict[str, None] = {}
    for pattern in [os.fspath(path) for path in data]:
        names = [pattern] if os.path.isfile(pattern) else sorted(glob(pattern))
        if not names:
            raise DataError(f"{pattern}: no such file: expected a file, or a pattern such as 'part-*.parquet'")
        found |= {os.path.abspath(name): None for name in names}
    if not found:
        raise DataError("there is nothing to learn from: expected at least one file")
    return list(found)


def looked_at(
    pool: Pool | Here, known: Sequence[Shard], paths: Sequence[str], label: str, piece: int, watch: LearnWatch
) -> dict[str, Shard]:
    """Every file by content; one that has the size and time that were recorded is not read again."""
    recorded = {shard.path: shard for shard in known}
    todo = [path for path in paths if path not in recorded or not recorded[path].is_unchanged()]
    found = {path: recorded[path] for path in paths if path not in todo}
    for path in todo:
        pool.submit(path, inspect, path, label, piece)
    for answer in pool.answers():
        shard = answer.result()
        found[shard.path] = shard
        watch.inspected(shard, len(found), len(paths))
    return {path: found[path] for path in paths}


def check_shards(recorded: Sequence[Shard], found: dict[str, Shard]) -> None:
    """Refuse files that have changed since they were recorded, and shards that do not go together."""
    for shard in recorded:
        if shard.path in found and found[shard.path].sha256 != shard.sha256:
            raise shard.refuse()
    first: Shard | None = None
    for shard in (*recorded, *found.values()):
        first = first or shard
        if shard.columns != first.columns:
            raise DataError(
                f"{shard.path} has the features {_some(shard.columns)}: expected those of {first.path}, "
                f"{_some(first.columns)}"
            )


def _some(columns: Sequence[str]) -> str:
    return ", ".join(columns[:5]) + (f", ... ({len(columns)} in all)" if len(columns) > 5 else "")


def new_shards(recorded: Sequence[Shard], found: dict[str, Shard], watch: LearnWatch) -> list[Shard]:
    """The shards whose content was not learned yet, each once."""
    names = {shard.sha256: shard.path for shard in recorded}
    new = []
    for path, shard in found.items():
        if names.setdefault(shard.sha256, path) == path:
            new += [shard] if all(shard.sha256 != old.sha256 for old in recorded) else []
        else:
            watch.note(f"{path} has the content of {names[shard.sha256]}, which is learned once")
    return new


def record_of(out: Path, recorded: Path, config: LearnConfig) -> Record:
    """What the model that is there has learned."""
    if not out.exists():
        return Record(config.to_dict(), ())
    if not recorded.exists():
        raise ConfigError(f"{out} is there already, without a record of what it has learned: choose another --out")
    before = Record.load(recorded)
    check_config(before, config, recorded)
    if content_of(out) != before.model:
        raise ConfigError(f"{out} is not the model that {recorded} tells of: choose another --out")
    return before


def check_config(record: Record, config: LearnConfig, where: Path) -> None:
    now = config.to_dict()
    if different := [name for name in now if record.config.get(name) != now[name]]:
        seen = "; ".join(f"{name} {record.config.get(name)!r} there and {now[name]!r} now" for name in different)
        raise ConfigError(f"{where} was begun with another configuration ({seen}): choose another --out")
