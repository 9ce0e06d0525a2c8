"""Suggests the next configurations: asynchronous model-based search, or random search.

AMBS (Balaprakash et al. 2018) is DeepHyper's: a random forest over the space, and the candidate with the best
optimistic estimate, mean + kappa * deviation (LCB of the error), with a large constant kappa. Besides the forest over
the whole space, each rule has its own (or each layer, in a space that begins with a choice of these), unless one forest
is asked for, as in the paper. DeepHyper only makes suggestions; running, recording and resuming are done here.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from kenyon.errors import require, unknown
from kenyon.lab.search._space import NAN, Point, Space

METHODS = ("ambs", "random")
FORESTS = ("rules", "one")
"""Whether the rules have forests of their own beside the one over the whole space."""
CANDIDATES = 600
"""How many points the forest chooses from; with 10,000 a suggestion takes 1.5 s instead of less than 0.1 s."""


class Suggester(Protocol):
    """Suggests points, and learns from their scores."""

    def ask(self, first: int, n: int) -> list[Point]:
        """Points for the evaluations `first .. first + n - 1`; inactive parameters are NaN."""

    def tell(self, results: Sequence[tuple[Point, float]]) -> None:
        """Report the scores of points."""


class RandomSuggester:
    """Draws points at random; the i-th point is the same whatever happened before."""

    def __init__(self, space: Space, seed: int) -> None:
        self._space, self._seed = space, seed

    def ask(self, first: int, n: int) -> list[Point]:
        return [self._space.draw(np.random.default_rng([self._seed, first + i])) for i in range(n)]

    def tell(self, results: Sequence[tuple[Point, float]]) -> None:
        """Ignored: random search learns nothing."""


class AmbsSuggester:
    """Suggests random points first, then those with the best optimistic estimate of a forest.

    Every other suggestion comes from one forest over the whole space. Alone, it would settle on whichever rule did best
    among the first points, though another may do better once its own parameters are right: a forest predicts nothing
    better than what it has seen. So the other suggestions come from the rules in turn, each with its own forest, unless
    `forests` is `"one"`. Points that are being evaluated have the worst score so far until theirs is known (constant
    liar), so that workers that end at different times are not sent to the same place.

    Args:
        space: the space to choose from.
        seed: the seed of the random points and the forests.
        kappa: weight of a forest's uncertainty; large values explore.
        n_initial: how many results there must be before a forest is asked.
        forests: one of `FORESTS`.
    """

    def __init__(self, space: Space, seed: int, kappa: float, n_initial: int, forests: str = "rules") -> None:
        require("deephyper", "search", "the search method 'ambs'")
        if forests not in FORESTS:
            raise unknown("forests", forests, FORESTS)
        self._space, self._seed, self._n_initial = space, seed, n_initial
        self._random = RandomSuggester(space, seed)
        self._known = 0
        self._pending: list[Point] = []
        rules = [str(rule) for rule in space.root.values] if forests == "rules" else []
        self._all = _Forest(space, space, [seed], kappa)
        self._turns = [_Forest(space, space.only(rule), [seed, i], kappa) for i, rule in enumerate(rules)]

    def tell(self, results: Sequence[tuple[Point, float]]) -> None:
        self._known += len(results)
        ended = {repr(point) for point, _ in results}
        self._pending = [point for point in self._pending if repr(point) not in ended]
        for forest in (self._all, *self._turns):
            forest.tell(results)

    def ask(self, first: int, n: int) -> list[Point]:
        points = self._random.ask(first, n) if self._known < self._n_initial else self._suggested(first, n)
        self._pending += points
        return points

    def _suggested(self, first: int, n: int) -> list[Point]:
        asked: list[_Forest] = []
        for number in range(first, first + n):
            turn = self._turns[number // 2 % len(self._turns)] if number % 2 and self._turns else self._all
            # Without a new result a rule's forest would repeat itself.
            asked.append(turn if turn.news and turn not in asked else self._all)
        points = {id(forest): forest.ask(first, asked.count(forest), self._pending) for forest in asked}
        return [points[id(forest)].pop() for forest in asked]


class _Forest:
    """DeepHyper's search over the whole space or a part of it; it is made when it is first asked."""

    def __init__(self, whole: Space, part: Space, seed: Sequence[int], kappa: float) -> None:
        self._whole, self._part, self._seed, self._kappa = whole, part, seed, kappa
        self._waiting: list[tuple[Point, float]] = []
        self._search: Any = None

    @property
    def news(self) -> bool:
        """Whether it has received a result since it was last asked."""
        return bool(self._waiting)

    def tell(self, results: Sequence[tuple[Point, float]]) -> None:
        """Add results; those outside its part of the space are ignored."""
        root = self._part.root
        self._waiting += [(point, score) for point, score in results if point[root.name] in root.values]

    def ask(self, first: int, n: int, pending: Sequence[Point]) -> list[Point]:
        if self._search is None:
            from kenyon.lab.search._deephyper import make_search

            # A search that is continued must not draw the same candidates again.
            self._search = make_search(self._part, [*self._seed, first], self._kappa, CANDIDATES)
        if self._waiting:
            self._search.tell(self._waiting)
            self._waiting = []
        nothing = dict.fromkeys(self._whole.names, NAN)
        root = self._part.root
        inside = [point for point in pending if point[root.name] in root.values]
        return [self._whole.mask(nothing | point) for point in self._search.ask(n, inside)]


def make_suggester(
    method: str, space: Space, seed: int, kappa: float, n_initial: int, forests: str = "rules"
) -> Suggester:
    """A suggester by its name in `METHODS`."""
    if method not in METHODS:
        raise unknown("search method", method, METHODS)
    return AmbsSuggester(space, seed, kappa, n_initial, forests) if method == "ambs" else RandomSuggester(space, seed)


def scratch_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder for the files that DeepHyper always writes."""
    return tempfile.TemporaryDirectory(prefix="kenyon-search-")
