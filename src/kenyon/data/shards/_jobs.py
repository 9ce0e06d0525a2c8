"""The jobs of workers: inspect a shard, learn a piece of one, merge two models. Each writes a complete file or none."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

from kenyon.classifier import KenyonClassifier
from kenyon.data.shards._config import LearnConfig
from kenyon.data.shards._formats import Columns, batches_of, layout_of
from kenyon.data.shards._record import Shard, content_of, stamp
from kenyon.errors import DataError, InputError, MergeWarning, ModelFileError, nearest
from kenyon.model.labels import Labels
from kenyon.utils.system import replace_file


def inspect(path: str, config: LearnConfig, piece: int) -> Shard:
    """Inspect a file: what it is, by content, in pieces of about `piece` rows, and that all of it could be learned.

    Every sample is read and checked, so that a file is refused before any of it is learned.
    """
    file = Path(path)
    before = stamp(file)
    layout = layout_of(file, config.label, piece)
    features = _choose(file, layout.columns, config)
    columns = Columns(config.label, features, config.as_bytes, config.absent)
    model, labels, rows, width, floats = config.classifier(), Labels(), 0, 0, False
    for one in layout.pieces:
        for X, y in batches_of(file, columns, one):
            if not len(y):
                continue
            try:
                floats = model._check_samples(X)
                labels.neurons.update((label, 0) for _, label in labels.encode(y, model.unlabelled)[1])
            except InputError as error:
                raise DataError(f"{path}, in {len(y)} rows from row {rows} on: {error}") from error
            rows, width = rows + len(y), X.shape[1]
    found = Shard(
        path,
        *before,
        content_of(file),
        rows,
        tuple(features),
        width,
        labels.kind or "",
        floats,
        tuple(layout.pieces),
    )
    if not found.is_unchanged():
        raise DataError(f"{path} changed while it was read: expected a file that is complete")
    return found


def _choose(path: Path, columns: Sequence[str], config: LearnConfig) -> list[str]:
    """The columns of the features."""
    named = config.features or config.drop
    if named and not columns:
        raise DataError(f"{path} has no names for its columns: expected none in features and drop, {list(named)!r}")
    for name in named:
        if name not in columns:
            some = ", ".join(columns[:10]) + (", ..." if len(columns) > 10 else "")
            raise DataError(f"{path} has no column {name!r}: it has {some}{nearest(name, columns)}")
    chosen = list(config.features) or [name for name in columns if name not in config.drop]
    if columns and not chosen:
        raise DataError(f"{path} has no column left, drop = {list(config.drop)!r}: expected features")
    return chosen


def learn_piece(config: LearnConfig, shard: Shard, piece: tuple[int, int], merged: bool, out: str) -> int:
    """Learn a piece of a shard and write its model; an empty file where nothing in it has a label.

    Args:
        merged: whether the model will be merged with others, so that a rule that cannot refuses at once.

    Returns:
        How many samples were read.
    """
    if not shard.is_unchanged():
        raise DataError(shard.changed_since())
    model, rows = config.classifier(), 0
    columns = Columns(config.label, shard.columns, config.as_bytes, config.absent)
    for X, y in batches_of(Path(shard.path), columns, piece):
        rows += len(y)
        started = model.__sklearn_is_fitted__()
        if started or config.classes or Labels().encode(y, model.unlabelled)[1]:
            classes = None if started else config.classes or None
            if shard.names:
                model._learn_named(X, y, shard.names, classes)
            else:
                model.partial_fit(X, y, classes=classes)
        if merged and not started and model.__sklearn_is_fitted__():
            model.unlike_one_pass()
    if not shard.is_unchanged():
        raise DataError(shard.changed_since())
    if model.__sklearn_is_fitted__():
        model.save(out)
    else:
        replace_file(Path(out), b"")
    return rows


def merge_two(first: str, second: str, out: str) -> None:
    """Merge two models, the first's part of the stream before the second's, into a third file."""
    models = [model for path in (first, second) if (model := load_model(Path(path))) is not None]
    if not models:
        replace_file(Path(out), b"")
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MergeWarning)  # the driver says it once
        for other in models[1:]:
            models[0].merge(other)
    models[0].save(out)


def load_model(path: Path) -> KenyonClassifier | None:
    """A model of a part of the work, or None where nothing in it had a label."""
    try:
        return KenyonClassifier.load(path) if path.stat().st_size else None
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror}") from error
