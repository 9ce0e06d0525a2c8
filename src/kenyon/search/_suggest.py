"""Where the next configurations come from: asynchronous model-based search, or chance.

AMBS (Balaprakash et al. 2018) is DeepHyper's: a random forest over the space, and the candidate with
the best optimistic estimate, mean + kappa * deviation (LCB of the error) with a large constant kappa.
We ask DeepHyper for suggestions only; running, recording and resuming are our own.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from kenyon.errors import require, unknown
from kenyon.search._space import Point, Space

METHODS = ("ambs", "random")
CANDIDATES = 1000
"""Points among which the forest's favourite is taken; 10,000 cost 1.5 s a suggestion instead of 0.1."""


class Suggester(Protocol):
    """Suggests points, and learns how they did."""

    def ask(self, first: int, n: int) -> list[Point]:
        """Points for the evaluations `first .. first + n - 1`, inactive parameters NaN."""

    def tell(self, results: Sequence[tuple[Point, float]]) -> None:
        """How points did."""


class RandomSuggester:
    """Draws every point anew; the i-th is the same whatever happened before."""

    def __init__(self, space: Space, seed: int) -> None:
        self._space, self._seed = space, seed

    def ask(self, first: int, n: int) -> list[Point]:
        return [self._space.draw(np.random.default_rng([self._seed, first + i])) for i in range(n)]

    def tell(self, results: Sequence[tuple[Point, float]]) -> None:
        """Chance learns nothing."""


class AmbsSuggester:
    """Random points first, then those the forest is most hopeful about.

    Args:
        space: what to choose from.
        seed: of the random points and the forest.
        kappa: weight of the forest's uncertainty; large values explore.
        n_initial: results to have before the forest is asked.
    """

    def __init__(self, space: Space, seed: int, kappa: float, n_initial: int) -> None:
        require("deephyper", "search", "the search method 'ambs'")
        self._space, self._seed, self._kappa, self._n_initial = space, seed, kappa, n_initial
        self._random = RandomSuggester(space, seed)
        self._waiting: list[tuple[Point, float]] = []
        self._search: Any = None

    def tell(self, results: Sequence[tuple[Point, float]]) -> None:
        self._waiting += results

    def ask(self, first: int, n: int) -> list[Point]:
        if self._search is None and len(self._waiting) < self._n_initial:
            return self._random.ask(first, n)
        if self._search is None:
            from kenyon.search._deephyper import make_search

            # A search that goes on must not draw the candidates it drew before.
            self._search = make_search(self._space, [self._seed, first], self._kappa, CANDIDATES)
        if self._waiting:
            self._search.tell(self._waiting)
            self._waiting = []
        return self._search.ask(n)


def make_suggester(method: str, space: Space, seed: int, kappa: float, n_initial: int) -> Suggester:
    """A suggester by its name in `METHODS`."""
    if method not in METHODS:
        raise unknown("search method", method, METHODS)
    return AmbsSuggester(space, seed, kappa, n_initial) if method == "ambs" else RandomSuggester(space, seed)


def scratch_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder for what DeepHyper insists on writing."""
    return tempfile.TemporaryDirectory(prefix="kenyon-search-")
