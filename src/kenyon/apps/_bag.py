"""A bag of names: samples that are a few names of many, each with a value, learned by naive Bayes on hashed inputs.

    u[h(name)] += log(1 + |value|),      h: crc32 of the name modulo the width, another one where the value is negative

An absent name costs nothing and leaves no trace; a name that was never learned is ignored by predictions.
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Mapping, Sequence
from math import log1p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.classifier import KenyonClassifier
from kenyon.features import Identity
from kenyon.layers import Counting
from kenyon.model.options import OPTIONS

WIDTH, NARROWEST = 8192, 16
"""Inputs where no memory budget says how many, and the fewest."""

BYTES = 4
"""Of an input and a class."""


class Bag:
    """Names and values of any number, in a fixed number of inputs.

    Args:
        width: inputs that names are hashed to.
        params: `memory_budget`, `expected_classes` and `unlabelled` of the classifier.

    Example:
        >>> bag = Bag(64)
        >>> bag.learn([{"rain": 1}, {"sun": 2}], ["wet", "dry"], known=[])
        >>> bag.log_likelihoods([{"sun": 1, "never": 1}]).argmax(axis=1), bag.labels
        (array([0]), ['dry', 'wet'])
    """

    def __init__(self, width: int = WIDTH, **params: Any) -> None:
        self.width = width
        self._known = np.zeros(width, bool)
        self._model = KenyonClassifier(features=Identity(), layer=Counting(readout="bayes"), random_state=0, **params)

    @classmethod
    def within(cls, budget: int | None, classifier: KenyonClassifier) -> Bag:
        """As wide as a memory budget allows for the classes that the classifier expects."""
        expected, width = OPTIONS["expected_classes"].check(classifier.expected_classes), WIDTH
        if budget is not None:
            width = 1 << max(NARROWEST, min(WIDTH, budget // (2 * BYTES * expected))).bit_length() - 1
        return cls(width, memory_budget=budget, expected_classes=expected, unlabelled=classifier.unlabelled)

    @property
    def labels(self) -> list[Hashable]:
        """Labels met so far, ascending."""
        return self._model.classes_.tolist()

    def learn(self, samples: Sequence[Mapping[Hashable, float]], y: Sequence[Any], known: Sequence[Hashable]) -> None:
        """Learn samples in order; `known` are labels that were met before the first of them."""
        rows = self._rows(samples)
        self._model.partial_fit(rows, y, classes=known)
        self._known |= rows.any(axis=0)

    def log_likelihoods(self, samples: Sequence[Mapping[Hashable, float]]) -> NDArray[np.float64]:
        """(samples, labels): log-likelihood of each sample, up to a constant; 0 where it has no name that is known."""
        rows = self._rows(samples)
        rows[:, ~self._known] = 0
        return np.log(np.maximum(self._model.predict_proba(rows), 1e-300))

    def _rows(self, samples: Sequence[Mapping[Hashable, float]]) -> NDArray[np.float32]:
        rows = np.zeros((len(samples), self.width), np.float32)
        for row, x in zip(rows, samples, strict=True):
            hashed = [(self._input(name, value < 0), log1p(abs(value))) for name, value in x.items() if value]
            for at, value in sorted(hashed):  # one order of summation whatever the dictionary's
                row[at] += value
        return rows

    def _input(self, name: Hashable, negative: bool) -> int:
        return zlib.crc32(repr((name, negative) if negative else name).encode()) % self.width
