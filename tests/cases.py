"""Cases of a test: every pair of options instead of every combination, and what a case needs of the machine."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import pytest

from kenyon.core.compiler import CompilerError, find_compiler


def all_pairs(**options: Sequence[Any]) -> pytest.MarkDecorator:
    """Parametrize a test so that every two values of every two options meet; the same choice at every call.

    Most faults of a product of options show when two of them come together, and such a cover is far smaller: 18 cases
    instead of 576 for the seven options of the layer of windows.
    """
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


def slow(*values: Any) -> Any:
    """A case for `make test-all`."""
    return pytest.param(*values, marks=pytest.mark.slow)


def needs(*packages: str) -> pytest.MarkDecorator:
    """Skip a test where one of these packages is not installed."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{' and '.join(missing)} not installed")


def compiles() -> bool:
    """Whether there is a C compiler."""
    try:
        return bool(find_compiler())
    except CompilerError:
        return False


NO_COMPILER = "needs a C compiler or the package ziglang"
needs_compiler = pytest.mark.skipif(not compiles(), reason=NO_COMPILER)


def _pairs(row: tuple[int, ...]) -> set[tuple[tuple[int, int], ...]]:
    return set(combinations(enumerate(row), 2))
