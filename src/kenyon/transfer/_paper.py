"""The paper's figures on transfer, read from `kenyon/paper/transfer.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def paper_tables() -> dict[str, Any]:
    """The document as it stands."""
    return tomllib.loads(files("kenyon").joinpath("paper", "transfer.toml").read_text(encoding="utf-8"))


def paper_accuracy(dataset: str, scenario: str, rule: str, on: str, as_scenario: str) -> float | None:
    """Accuracy (a share) of the configuration found on a stream with a rule, run on another; None where not given."""
    for row in paper_tables()["accuracy"]:
        if (row["dataset"], row["scenario"], row["rule"]) == (dataset, scenario, rule):
            value = row.get(as_scenario, {}).get(on)
            return None if value is None else value / 100
    return None


def paper_dimension(dataset: str) -> float | None:
    """Effective dimension."""
    return paper_tables()["effective_dimension"].get(dataset)


def paper_distances(a: str, b: str) -> tuple[float, float] | None:
    """Smallest and largest centroid distance between two sets."""
    for row in paper_tables()["centroid_distance"]:
        if set(row["datasets"]) == {a, b}:
            return row["smallest"], row["largest"]
    return None
