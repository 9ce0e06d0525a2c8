"""Anomalies in River's streams: samples that are unlike those learned before (`KenyonClassifier.familiarity`)."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterator, Mapping
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.classifier import KenyonClassifier
from kenyon.errors import ConfigError, InputError, require

base = require("river.base", "river", "RiverAnomalyDetector")

FEWEST = 8
"""Before so many samples nothing is called an anomaly."""

SHARE = 16
"""Scores come from a copy of the model, which is renewed when there is one sample more for so many."""


class RiverAnomalyDetector(base.AnomalyDetector):  # type: ignore[name-defined]
    """How unlike the samples learned so far a sample is, from 0 (the most typical) to 1.

    The score is 1 less the share of samples like those learned that would lie farther from their mean, so that about
    one in a hundred of them has a score above 0.99. Names that the first sample did not have are not looked at.

    Args:
        memory: half-life in samples, to follow a stream that changes; None for a stream that stays as it is.
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
        self, memory: int | None = None, memory_budget: int | str | None = None, seed: int | None = None
    ) -> None:
        self.memory, self.memory_budget, self.seed = memory, memory_budget, seed
        self._model = KenyonClassifier(
            layer="second-order",
            missing="absent",
            memory=memory,
            memory_budget=memory_budget,
            expected_classes=1,
            random_state=seed,
        )
        self._names: dict[Hashable, int] = {}
        self._served: KenyonClassifier | None = None
        self._n = self._n_served = 0

    def learn_one(self, x: Mapping[Hashable, Any]) -> None:
        """Learn that a sample is one of the usual ones."""
        names = self._names or {name: number for number, name in enumerate(sorted(x, key=str))}
        if not names:
            raise ConfigError("the first sample has no features: expected at least one")
        self._model.partial_fit(self._row(x, names), np.zeros(1, np.int64))
        self._names, self._n = names, self._n + 1

    def score_one(self, x: Mapping[Hashable, Any]) -> float:
        """1 less the familiarity of a sample; 0 before eight samples were learned."""
        if self._n < FEWEST:
            return 0.0
        if self._served is None or self._n - self._n_served > self._n_served // SHARE:
            self._served, self._n_served = copy.deepcopy(self._model), self._n
        return 1.0 - float(self._served.familiarity(self._row(x, self._names))[0])

    def _row(self, x: Mapping[Hashable, Any], names: Mapping[Hashable, int]) -> NDArray[np.float64]:
        row = np.full((1, len(names)), np.nan)
        for name, value in x.items():
            if value is None:
                continue
            if not isinstance(value, (Real, np.bool_)) or not isfinite(float(value)):
                raise InputError(f"feature {name!r} is {value!r}: expected a finite number, or None")
            if name in names:
                row[0, names[name]] = float(value)
        return row

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"seed": 0}
