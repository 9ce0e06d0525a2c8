"""Combinations of options in which every two values of every two options meet.

Most faults of a product of options show when two of them come together, and a cover of all pairs is far smaller than
the product: 18 instead of 576 for the seven options of the layer of windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import pytest


def all_pairs(**options: Sequence[Any]) -> pytest.MarkDecorator:
    """Parametrize a test over the options, every pair of values at least once; the same choice at every call."""
    rows = [tuple(row) for row in product(*(range(len(values)) for values in options.values()))]
    open_pairs = {pair for row in rows for pair in _pairs(row)}
    chosen = []
    while open_pairs:
        best = max(rows, key=lambda row: len(open_pairs & _pairs(row)))
        chosen.append(best)
        open_pairs -= _pairs(best)
    values = list(options.values())
    cases = [tuple(values[place][index] for place, index in enumerate(row)) for row in sorted(chosen)]
    return pytest.mark.parametrize(tuple(options), cases, ids=["-".join(map(str, case)) for case in cases])


def _pairs(row: tuple[int, ...]) -> set[tuple[tuple[int, int], ...]]:
    return set(combinations(enumerate(row), 2))
