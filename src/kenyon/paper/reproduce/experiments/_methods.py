"""The methods that are compared with ours, and what to call them."""

from __future__ import annotations

from kenyon.paper.tables import paper_table

RIVALS = {"er": "ER", "ncm": "NCM", "slda": "SLDA", "flymodel": "FlyModel", "randumb": "RanDumb"}
"""Methods that the paper does not have."""

ON_FEATURES = ("ncm", "slda", "flymodel", "randumb")
"""Methods without a network of their own: on colour images they learn a backbone's features everywhere."""


def methods() -> dict[str, str]:
    """Every method but ours: the name of the learner, and what to call it in a table."""
    rows = paper_table("comparison").rows
    return {row.keys["learner"]: row.label for row in rows if "learner" in row.keys} | RIVALS
