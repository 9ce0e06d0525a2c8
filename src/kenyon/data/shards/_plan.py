"""Which shards are learned: found, inspected, compared with the record."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from glob import glob
from pathlib import Path

from kenyon.data.shards._config import LearnConfig
from kenyon.data.shards._jobs import inspect
from kenyon.data.shards._record import Record, Shard, content_of, stamp
from kenyon.errors import ConfigError, DataError, DivergenceError, InputError
from kenyon.model.labels import label_kind
from kenyon.utils.events import Event, Watch
from kenyon.utils.parallel import InProcessPool, Pool, WorkerDiedError

UNFIT = (DataError, InputError, DivergenceError, WorkerDiedError)
"""Errors that are the fault of a file, and not of the configuration; a file that ends every worker is one."""


def find(data: Iterable[str | os.PathLike[str]]) -> list[str]:
    """The files of some patterns, in order, each once, with absolute paths."""
    found: dict[str, None] = {}
    for pattern in [os.fspath(path) for path in data]:
        names = [pattern] if os.path.isfile(pattern) else sorted(glob(pattern))
        if not names:
            raise DataError(f"{pattern}: no such file: expected a file, or a pattern such as 'part-*.parquet'")
        found |= {os.path.abspath(name): None for name in names}
    if not found:
        raise DataError("no file is given: expected at least one")
    return list(found)


def inspected(
    pool: Pool | InProcessPool,
    known: Sequence[Shard],
    paths: Sequence[str],
    config: LearnConfig,
    piece: int,
    watch: Watch,
) -> tuple[dict[str, Shard], dict[str, str]]:
    """Every file by content, and the reason for those that are refused.

    A file that has the size and time that were recorded is not read again.
    """
    recorded = {shard.path: shard for shard in known}
    found: dict[str, Shard] = {}
    refused: dict[str, str] = {}
    for path in paths:
        try:
            if path in recorded and recorded[path].is_unchanged():
                found[path] = recorded[path]
                continue
        except DataError as error:
            refused[path] = str(error)
            continue
        pool.submit(path, inspect, path, config, piece)
    for answer in pool.answers():
        path = str(answer.key)
        if isinstance(answer.error, UNFIT):
            refused[path] = with_name(path, answer.error)
            continue
        found[path] = answer.result()
        watch(Event("progress", "recording", done=len(found), total=len(paths), message="shards"))
    return {path: found[path] for path in paths if path in found}, refused


def with_name(path: str, error: Exception) -> str:
    """An error's words, which name the file."""
    return str(error) if path in str(error) else f"{path}: {error}"


def compatible(
    recorded: Sequence[Shard], found: dict[str, Shard], config: LearnConfig
) -> tuple[dict[str, Shard], dict[str, str]]:
    """The files that are what was recorded and go together with the first, and the reason for the others.

    Columns are in the order of the first.
    """
    sums = {shard.path: shard for shard in recorded}
    fits: dict[str, Shard] = {}
    refused: dict[str, str] = {}
    given = next((label_kind(label) for label in config.classes), "")
    first = next((shard for shard in recorded if shard.rows), None)
    labelled = next((shard for shard in recorded if shard.kind), None)
    for path, shard in found.items():
        if path in sums:
            if shard.sha256 != sums[path].sha256:
                refused[path] = sums[path].changed_since()
                continue
            fits[path] = shard
            continue
        kind, whose = (labelled.kind, labelled.path) if labelled else (given, "classes")
        if not shard.rows:
            fits[path] = shard  # whatever it would have held
        elif reason := first and _difference(shard, first):
            refused[path] = reason
        elif kind and shard.kind and shard.kind != kind:
            refused[path] = f"{path} has labels of the kind {shard.kind!r}: expected {kind!r}, as {whose} has"
        else:
            fits[path] = replace(shard, columns=first.columns) if first else shard
            first = first or shard
            labelled = labelled or (shard if shard.kind else None)
    return fits, refused


def _difference(shard: Shard, first: Shard) -> str | None:
    """Why a shard does not go together with the first; None where it does."""
    if more := [name for name in shard.columns if name not in first.columns]:
        return (
            f"{shard.path} has the column {more[0]!r}, which {first.path} has not: expected {_some(first.columns)}. "
            "Name the columns to learn in features, or those not to learn in drop"
        )
    if less := [name for name in first.columns if name not in shard.columns]:
        return f"{shard.path} has no column {less[0]!r}: expected those of {first.path}, {_some(first.columns)}"
    if shard.width != first.width:
        return f"{shard.path} has {shard.width} features: expected {first.width}, as {first.path} has"
    if shard.floats != first.floats:
        kinds = "numbers", "bytes"
        return (
            f"{shard.path} has {kinds[not shard.floats]} as features: expected {kinds[not first.floats]}, as "
            f"{first.path} has. as_bytes = true reads integers from 0 to 255 as bytes"
        )
    return None


def _some(columns: Sequence[str]) -> str:
    return ", ".join(columns[:5]) + (f", ... ({len(columns)} in all)" if len(columns) > 5 else "")


def refreshed(plan: Record) -> Record:
    """A plan whose files have the times they have now, and in which those that changed are refused."""
    shards, refused = [], dict(plan.refused)
    for shard in plan.shards:
        try:
            if not shard.is_unchanged():
                if content_of(Path(shard.path)) != shard.sha256:
                    raise DataError(shard.changed_since())
                size, changed = stamp(Path(shard.path))
                shard = replace(shard, size=size, changed=changed)
        except DataError as error:
            refused.setdefault(shard.path, str(error))
        shards.append(shard)
    return replace(plan, shards=tuple(shards), refused=refused)


def new_shards(recorded: Sequence[Shard], found: dict[str, Shard], watch: Watch) -> list[Shard]:
    """The shards whose content was not learned yet, each once."""
    names = {shard.sha256: shard.path for shard in recorded}
    new = []
    for path, shard in found.items():
        if names.setdefault(shard.sha256, path) == path:
            new += [shard] if all(shard.sha256 != old.sha256 for old in recorded) else []
        else:
            watch(Event("note", message=f"{path} has the content of {names[shard.sha256]}, which is learned once"))
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
        raise ConfigError(f"{where} was begun with another configuration ({seen}): delete it, or choose another --out")
