"""What a worker does: look at a shard, learn a piece of one, merge two models. Each ends in a whole file or in none."""

from __future__ import annotations

import warnings
from pathlib import Path

from kenyon.errors import MergeWarning, ModelFileError
from kenyon.labels import Labels
from kenyon.learner import KenyonClassifier
from kenyon.shards._config import LearnConfig
from kenyon.shards._formats import batches_of, layout_of
from kenyon.shards._record import Shard, content_of, stamp
from kenyon.system import replace_file


def inspect(path: str, label: str, piece: int) -> Shard:
    """What a file is, by content, in pieces of about so many rows."""
    before = stamp(Path(path))
    layout = layout_of(Path(path), label, piece)
    found = Shard(path, *before, content_of(Path(path)), layout.rows, tuple(layout.columns), tuple(layout.pieces))
    if not found.is_unchanged():
        raise found.refuse()
    return found


def learn_piece(config: LearnConfig, shard: Shard, piece: tuple[int, int], merged: bool, out: str) -> int:
    """Learn a piece of a shard and write its model; an empty file where nothing in it has a label.

    Args:
        merged: whether the model will be merged with others, so that a rule that cannot refuses at once.

    Returns:
        How many samples were read.
    """
    if not shard.is_unchanged():
        raise shard.refuse()
    model, rows = config.classifier(), 0
    for X, y in batches_of(Path(shard.path), config.label, piece, config.as_bytes):
        rows += len(y)
        started = model.__sklearn_is_fitted__()
        if started:
            model.partial_fit(X, y)
        elif config.classes or Labels().encode(y, model.unlabelled)[1]:
            model.partial_fit(X, y, classes=config.classes or None)
        if merged and not started and model.__sklearn_is_fitted__():
            model.unlike_one_pass()
    if not shard.is_unchanged():
        raise shard.refuse()
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
