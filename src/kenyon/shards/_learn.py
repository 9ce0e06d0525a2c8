"""The driver of `learn_files`: shards recorded, pieces shared out, models merged, everything resumable.

Beside the model `OUT` lie `OUT.shards.json`, the record of what went into it, and, while work is under way, the folder
`OUT.work`: the plan (the shards and their pieces, fixed when work begins), the model that was there before with its
record, and one file for every node of the tree that is done. A process that is killed at any point, a worker or this
one, leaves whole files only, and the next call goes on from them. The model is replaced before the record, and the
folder removed last; replacing both again from the same files gives the same bytes, so that no kill learns anything
twice.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from kenyon.errors import ConfigError, DataError
from kenyon.parallel import Here, Pool, check_engine, open_pool
from kenyon.shards._config import LearnConfig
from kenyon.shards._formats import PIECE
from kenyon.shards._jobs import learn_piece, load_model, merge_two
from kenyon.shards._plan import check_config, check_shards, find, looked_at, new_shards, record_of
from kenyon.shards._record import Record, Shard, content_of
from kenyon.shards._tree import Node, Tree
from kenyon.shards._watch import LearnWatch
from kenyon.system import locked, replace_file


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
    watch: LearnWatch | None = None,
) -> Learned:
    """Learn every file that is not part of the model yet, and write the model.

    A shard is known by its content: one that is there under two names, or was learned in an earlier call, is learned
    once. Whatever the number of workers, and whoever was killed meanwhile, the result is the same to the bit.

    Args:
        data: files or patterns such as `part-*.parquet`; shards count in this order, those of a pattern by name.
        out: the model's file; one that is there already is added to.
        engine, workers, address: who does the work, as in `kenyon.parallel.Pool`; every node of a Ray cluster must see
            the files.
        piece: rows that a worker learns at a time, at least, of files that can be entered in the middle. A larger one
            means fewer models to merge, a smaller one less to learn again after a kill.
    """
    check_engine(engine, workers, address)
    if type(piece) is not int or piece < 1:
        raise ConfigError(f"piece is {piece!r}: expected a whole number of rows, at least 1")
    place, paths, watch, rows = Place(Path(out)), find(data), watch or LearnWatch(), 0
    place.out.parent.mkdir(parents=True, exist_ok=True)
    with _alone(place.lock), open_pool(engine, workers, address) as pool:
        if place.plan.exists():  # work that was not finished comes first
            plan = Record.load(place.plan)
            check_config(plan, config, place.work)
            found = looked_at(pool, plan.shards, paths, config.label, piece, watch)
            check_shards(plan.shards, found)
            now = {path: (shard.size, shard.changed) for path, shard in found.items()}  # a file may have another time
            shards = tuple(
                replace(shard, size=size, changed=changed)
                for shard in plan.shards
                for size, changed in [now.get(shard.path, (shard.size, shard.changed))]
            )
            replace(plan, shards=shards).save(place.plan)
            rows += _finish(place, config, pool, watch)
        before = record_of(place.out, place.record, config)
        found = looked_at(pool, before.shards, paths, config.label, piece, watch)
        check_shards(before.shards, found)
        if new := new_shards(before.shards, found, watch):
            _begin(place, before, Record(config.to_dict(), tuple(new)))
            rows += _finish(place, config, pool, watch)
    shards, model = Record.load(place.record).shards, load_model(place.out)
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


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    with locked(path, wait=False) as held:
        if not held:
            raise ConfigError(f"another process is learning into the same model (it holds {path}): wait for it")
        yield


def _begin(place: Place, before: Record, plan: Record) -> None:
    """A work folder with the model that is added to and its record, and last the plan, with which work begins."""
    shutil.rmtree(place.work, ignore_errors=True)
    place.work.mkdir()
    if before.shards:
        replace_file(place.base, place.out.read_bytes())
        before.save(place.before)
    plan.save(place.plan)


def _finish(place: Place, config: LearnConfig, pool: Pool | Here, watch: LearnWatch) -> int:
    """Learn what is left of a plan, put the model and its record in place, and say how many rows were read."""
    plan = Record.load(place.plan)
    pieces = [(shard, piece) for shard in plan.shards for piece in shard.pieces]
    tree = Tree(len(pieces), place.work)
    known = [shard.rows for shard in plan.shards if shard.rows is not None]
    total = sum(known) if len(known) == len(plan.shards) else None
    watch.planned(len(plan.shards), len(pieces), tree.learned, total)
    try:
        rows = _learn_all(tree, pieces, config, pool, place, watch)
    except Exception:
        if not tree.learned:  # nothing is lost, and the next call may have another configuration
            shutil.rmtree(place.work)
        raise
    result, shards = tree.root.file(place.work), plan.shards
    if place.base.exists():
        merge_two(str(place.base), str(result), str(result := place.work / "all.safetensors"))
        shards = (*Record.load(place.before).shards, *shards)
    if not result.stat().st_size:
        shutil.rmtree(place.work)
        raise DataError("no sample in these files has a label: expected at least one")
    replace_file(place.out, result.read_bytes())
    Record(plan.config, shards, content_of(place.out)).save(place.record)
    shutil.rmtree(place.work)
    return rows


def _learn_all(
    tree: Tree,
    pieces: list[tuple[Shard, tuple[int, int]]],
    config: LearnConfig,
    pool: Pool | Here,
    place: Place,
    watch: LearnWatch,
) -> int:
    """Keep the workers busy until the root of the tree is done; the rows that were read."""
    merged, running, rows = len(pieces) > 1 or place.base.exists(), 0, 0
    while not tree.is_done:
        while running < pool.capacity and (todo := tree.next()) is not None:
            out = str(todo.file(place.work))
            if todo.is_leaf:
                pool.submit(todo, learn_piece, config, *pieces[todo.start], merged, out)
            else:
                pool.submit(todo, merge_two, *(str(child.file(place.work)) for child in todo.children), out)
            running += 1
        for answer in pool.collect(timeout=1.0):
            node, read = answer.key, answer.result()
            assert isinstance(node, Node)
            running -= 1
            tree.end(node)
            if node.is_leaf:
                rows += read
                watch.learned(read, tree.learned)
    return rows
