"""Some hundred sequences of operations on models of every kind."""

from __future__ import annotations

import operations


def test_sequences_of_operations() -> None:
    operations.run(sequences=200, steps=8)
    made = {name for name in operations.counts if not name.endswith("refused")}
    assert made >= {"partial_fit", "test_then_learn", "predict", "save", "pickle", "copy", "merge", "rename", "forget"}
    assert made >= {"interrupt", "unlearn"}
    assert {"join", "join, refused"} & operations.counts.keys()  # what a sequence may join is up to chance
