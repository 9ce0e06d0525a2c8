"""The driver of `learn_files`: records shards, assigns pieces, merges models; it can be resumed at any point.

Beside the model `OUT` lie `OUT.shards.json`, the record of what went into it, and, while work is under way, the folder
`OUT.work`: the plan (the shards and their pieces, fixed when work begins), the model that was there before with its
record, and one file for every node of the tree that is done. A process that is killed at any point, a worker or this
one, leaves whole files only, and the next call continues from them. The model is replaced before the record, and the
folder removed last; replacing both again from the same files gives the same bytes, so that no kill learns anything
twice.

A file is inspected before it becomes part of a plan: every sample is read and checked. One that is refused, then or
while it is learned, is named in the end, and the others are learned without it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from kenyon.data.shards._config import LearnConfig
from kenyon.data.shards._formats import PIECE
from kenyon.data.shards._jobs import learn_piece, load_model, merge_two
from kenyon.data.shards._plan import (
    UNFIT,
    check_config,
    compatible,
    find,
    inspected,
    new_shards,
    record_of,
    refreshed,
    with_name,
)
from kenyon.data.shards._record import Record, Shard, ShardError, content_of
from kenyon.data.shards._tree import Node, Tree
from kenyon.errors import ConfigError, DataError, KenyonError
from kenyon.utils.events import Event, Watch
from kenyon.utils.parallel import InProcessPool, Pool, WorkerDiedError, Workers, open_pool
from kenyon.utils.system import locked, replace_file


@dataclass(frozen=True)
class Learned:
    """What a model has learned.

    Attributes:
        model: its file.
        shards: everything that went into it, in order.
        rows: samples that were read in this call.
        inexact: in what it differs from the model of a single pass, in words; None: in nothing, to the bit.

    Example:
        >>> from pathlib import Path
        >>> Learned(Path("model.safetensors"), (), 0, None).exact
        True
    """

    model: Path
    shards: tuple[Shard, ...]
    rows: int
    inexact: str | None

    @property
    def exact(self) -> bool:
        """Whether it is the model of a single pass, to the bit."""
        return self.inexact is None


def learn_files(
    config: LearnConfig,
    data: Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    engine: str = "local",
    workers: int | None = None,
    address: str | None = None,
    piece: int = PIECE,
    watch: Watch | None = None,
) -> Learned:
    """Learn every file that is not part of the model yet, and write the model.

    A shard is known by its content: one that is there under two names, or was learned in an earlier call, is learned
    once. Whatever the number of workers, and whichever process was killed meanwhile, the result is the same to the bit.

    Args:
        data: files or patterns such as `part-*.parquet`; shards count in this order, those of a pattern by name.
        out: the model's file; one that is there already is added to.
        engine, workers, address: who does the work, as in `kenyon.utils.parallel.Workers`; every node of a Ray cluster
            must see the files.
        piece: rows that a worker learns at a time, at least, of files that can be entered in the middle. A larger one
            means fewer models to merge, a smaller one less to learn again after a kill.

    Raises:
        ShardError: some files were refused; it names them. All others are learned.
    """
    where = Workers(workers, engine, address)
    if type(piece) is not int or piece < 1:
        raise ConfigError(f"piece is {piece!r}: expected an integer, at least 1")
    place, paths, watch, rows = Place(Path(out)), find(data), watch or Watch(), 0
    place.out.parent.mkdir(parents=True, exist_ok=True)
    refused: dict[str, str] = {}
    with _exclusively(place.lock), open_pool(where) as pool:
        if place.plan.exists():  # work that was not finished comes first
            plan = Record.load(place.plan)
            check_config(plan, config, place.work)
            refreshed(plan).save(place.plan)
            rows += _finish(place, config, pool, watch, refused)
        else:
            place.clear()  # what a kill left of work that was finished
        before = record_of(place.out, place.record, config)
        found, unfit = inspected(pool, before.shards, paths, config, piece, watch)
        found, unlike = compatible(before.shards, found, config)
        refused |= unfit | unlike
        if new := new_shards(before.shards, found, watch):
            _begin(place, before, Record(config.to_dict(), tuple(new)))
            rows += _finish(place, config, pool, watch, refused)
    shards = Record.load(place.record).shards if place.record.exists() else ()
    learned = {shard.path for shard in shards}  # a file that changed while it was learned may have been learned since
    if refused := {path: reason for path, reason in refused.items() if path not in learned or path in unfit | unlike}:
        raise ShardError(refused, len(shards))
    model = load_model(place.out)
    assert model is not None
    several = sum(len(shard.pieces) for shard in shards) > 1
    return Learned(place.out, shards, rows, model.unlike_one_pass() if several else None)


class Place:
    """Where everything lies.

    Args:
        out: the model's file.
    """

    def __init__(self, out: Path) -> None:
        self.out = out
        self.record, self.lock = out.with_name(f"{out.name}.shards.json"), out.with_name(f".{out.name}.lock")
        self.work = out.with_name(f"{out.name}.work")
        self.plan, self.before, self.base = (
            self.work / name for name in ("plan.json", "before.json", "base.safetensors")
        )

    def clear(self) -> None:
        """End the work: first the plan, without which the rest counts for nothing."""
        self.plan.unlink(missing_ok=True)
        shutil.rmtree(self.work, ignore_errors=True)  # a worker may be writing to it at this moment


@contextmanager
def _exclusively(path: Path) -> Iterator[None]:
    with locked(path, wait=False) as held:
        if not held:
            raise ConfigError(f"another process is learning into the same model (it holds {path}): wait for it")
        yield


def _begin(place: Place, before: Record, plan: Record) -> None:
    """A work folder with the model that is added to and its record, and last the plan, with which work begins."""
    place.clear()
    place.work.mkdir(exist_ok=True)
    if before.shards:
        replace_file(place.base, place.out.read_bytes())
        before.save(place.before)
    plan.save(place.plan)


def _finish(
    place: Place, config: LearnConfig, pool: Pool | InProcessPool, watch: Watch, refused: dict[str, str]
) -> int:
    """Learn what is left of a plan, put the model and its record in place, and say how many rows were read.

    Args:
        refused: the reasons for files that turned out to be unfit are added to it.
    """
    plan = Record.load(place.plan)
    tree = Tree([len(shard.pieces) for shard in plan.shards], place.work)
    samples = sum(shard.rows for shard in plan.shards)
    message = f"pieces of {len(plan.shards):,} shards, {samples:,} samples"
    watch(Event("planned", message=message, done=tree.learned, total=tree.root.stop))
    try:
        plan, rows = _learn_all(tree, plan, config, pool, place, watch)
    except Exception as error:
        # What a second attempt could not mend must not stand in the way of the next.
        if not tree.learned or (isinstance(error, KenyonError) and not isinstance(error, WorkerDiedError)):
            place.clear()
        raise
    refused |= plan.refused
    result, shards = tree.root.file(place.work), tuple(shard for shard in plan.shards if shard.path not in plan.refused)
    if place.base.exists():
        before = Record.load(place.before).shards
        with _naming([*before, *shards], place):
            merge_two(str(place.base), str(result), str(result := place.work / "all.safetensors"))
        shards = (*before, *shards)
    if not result.stat().st_size:
        place.clear()
        if not shards:
            return rows
        names = ", ".join(shard.path for shard in shards[:5]) + (", ..." if len(shards) > 5 else "")
        raise DataError(f"no sample in {names} has a label: expected at least one")
    replace_file(place.out, result.read_bytes())
    Record(plan.config, shards, content_of(place.out)).save(place.record)
    place.clear()
    return rows


@contextmanager
def _naming(shards: Sequence[Shard], place: Place) -> Iterator[None]:
    """Models that cannot be merged: what they learned, and that nothing of this call was kept."""
    try:
        yield
    except KenyonError as error:
        place.clear()
        names = ", ".join(shard.path for shard in shards[:5]) + (", ..." if len(shards) > 5 else "")
        raise type(error)(f"what was learned from {names} cannot be one model: {error}") from error


def _learn_all(
    tree: Tree, plan: Record, config: LearnConfig, pool: Pool | InProcessPool, place: Place, watch: Watch
) -> tuple[Record, int]:
    """Keep the workers busy until the root of the tree is done; the plan, and the rows that were read."""
    pieces = [(shard, piece) for shard in plan.shards for piece in shard.pieces]
    merged, running, rows = len(pieces) > 1 or place.base.exists(), 0, [0] * len(plan.shards)
    for number, shard in enumerate(plan.shards):
        if shard.path in plan.refused and tree.is_over(number):  # it was learned before it changed
            plan = replace(plan, refused={path: why for path, why in plan.refused.items() if path != shard.path})
        elif shard.path in plan.refused:
            tree.leave_out(number)
    while not tree.is_done:
        while running < pool.capacity and (todo := tree.next()) is not None:
            out = str(todo.file(place.work))
            if todo.is_leaf:
                pool.submit(todo, learn_piece, config, *pieces[todo.start], merged, out)
            else:
                pool.submit(todo, merge_two, *(str(child.file(place.work)) for child in tree.children(todo)), out)
            running += 1
        for answer in pool.collect(timeout=1.0):
            node, error = answer.key, answer.error
            assert isinstance(node, Node)
            running -= 1
            if node.is_leaf:
                number = tree.shard_of(node) or 0  # a leaf is part of one
                shard = plan.shards[number]
                if isinstance(error, UNFIT):
                    if shard.path not in plan.refused:
                        plan = replace(plan, refused={**plan.refused, shard.path: with_name(shard.path, error)})
                        plan.save(place.plan)  # before the empty model, which would count as learned
                    tree.leave_out(number)
                    continue
                if isinstance(error, KenyonError):
                    raise type(error)(with_name(shard.path, error)) from error
                read = answer.result()
                tree.end(node)
                rows[number] += read
                piece = f"piece {tree.learned}"
                watch(Event("finished", piece, result=read, done=tree.learned, total=tree.root.stop))
            else:
                with _naming([pieces[at][0] for at in range(node.start, node.stop)], place):
                    answer.result()
                tree.end(node)
    return plan, sum(n for shard, n in zip(plan.shards, rows, strict=True) if shard.path not in plan.refused)
