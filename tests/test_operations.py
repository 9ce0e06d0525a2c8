"""Some hundred sequences of operations on models of every kind."""

from __future__ import annotations

import operations


def test_sequences_of_operations() -> None:
    operations.run(sequences=200, steps=8)
    tried = {name.removesuffix(", refused") for name in operations.counts}  # what comes of them is up to chance
    assert tried >= {"partial_fit", "test_then_learn", "predict", "save", "pickle", "copy", "merge", "rename", "forget"}
    assert tried >= {"interrupt", "join", "unlearn"}
