"""Some hundred sequences of operations on models of every kind."""

from __future__ import annotations

from pathlib import Path

import operations
from making import held, make


def test_sequences_of_operations() -> None:
    operations.run(sequences=200, steps=8)
    tried = {name.removesuffix(", refused") for name in operations.counts}  # what comes of them is up to chance
    assert tried >= {"partial_fit", "test_then_learn", "predict", "save", "pickle", "copy", "merge", "rename", "forget"}
    assert tried >= {"interrupt", "join", "unlearn"}


def test_a_merge_brings_classes_to_hidden_layers_too(tmp_path: Path) -> None:
    """Found by the operations: the model in memory learned a merged class otherwise than the one in its file."""
    X, y = operations.POOLS["bytes"]
    one, other = (make("few bits, one hidden layer") for _ in range(2))
    merged = type(one).merge([one.partial_fit(X[:5], y[:5]), other.partial_fit(X[:8], y[:8], task="a")])
    merged.save(tmp_path / "merged.safetensors")
    loaded = type(one).load(tmp_path / "merged.safetensors")
    assert held(merged.partial_fit(X[9:40], y[9:40])) == held(loaded.partial_fit(X[9:40], y[9:40]))
