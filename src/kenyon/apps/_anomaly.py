"""Anomalies in River's streams: samples that are unlike those learned before (`KenyonClassifier.familiarity`)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from kenyon.apps._names import TableModel
from kenyon.classifier import KenyonClassifier
from kenyon.errors import require
from kenyon.layers import SecondOrder

base = require("river.base", "river", "RiverAnomalyDetector")

FEWEST = 8
"""The score is 0 before this many samples."""


class RiverAnomalyDetector(base.AnomalyDetector):  # type: ignore[name-defined]
    """How unlike the samples learned so far a sample is, from 0 (the most typical) to 1.

    The score is 1 less the share of samples like those learned that would lie farther from their mean, so that about
    one in a hundred of them has a score above 0.99. Names that the first sample did not have are not looked at.

    Args:
        half_life: half-life in samples, to follow a stream that changes; None for a stream that stays as it is.
        memory_budget: most bytes of state.
        seed: seed of the features.

    Example:
        >>> import random
        >>> rng, model = random.Random(0), RiverAnomalyDetector(seed=0)
        >>> for _ in range(200):
        ...     x = rng.gauss(0, 1)
        ...     model.learn_one({"a": x, "b": x + rng.gauss(0, 0.1)})
        >>> model.score_one({"a": 1.0, "b": 1.0}) < 0.9, model.score_one({"a": 1.5, "b": -1.5}) > 0.99
        (True, True)
    """

    def __init__(
        self, half_life: int | None = None, memory_budget: int | str | None = None, seed: int | None = None
    ) -> None:
        self.half_life, self.memory_budget, self.seed = half_life, memory_budget, seed
        layer, one_class = SecondOrder(half_life=half_life), {"missing": "absent", "expected_classes": 1}
        model = KenyonClassifier(layer=layer, memory_budget=memory_budget, random_state=seed)
        self._table = TableModel(model.set_params(**one_class))

    def learn_one(self, x: Mapping[Hashable, Any]) -> None:
        """Learn that a sample is one of the usual ones."""
        self._table.learn(x, 0)

    def score_one(self, x: Mapping[Hashable, Any]) -> float:
        """1 less the familiarity of a sample; 0 before eight samples were learned."""
        if self._table.n < FEWEST:
            return 0.0
        model, row = self._table.serve(x)
        return 1.0 - float(model.familiarity(row)[0])

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"seed": 0}
