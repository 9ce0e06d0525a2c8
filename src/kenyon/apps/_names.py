"""Tables of River's samples, which are names with values: rows, and a model that learns and answers in turn."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Mapping
from math import isfinite
from numbers import Real
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import InputError


def names_of(x: Mapping[Hashable, Any]) -> dict[Hashable, int]:
    """The columns of a table, from its first sample."""
    if not x:
        raise InputError("the first sample has no features: expected at least one")
    return {name: number for number, name in enumerate(sorted(x, key=str))}


def row_of(x: Mapping[Hashable, Any], names: Mapping[Hashable, int]) -> NDArray[np.float64]:
    """(1, columns): a sample as a row, NaN where it has no value; names that are no column are left out."""
    row = np.full((1, len(names)), np.nan)
    for name, value in x.items():
        if value is None:
            continue
        if not isinstance(value, (Real, np.bool_)) or not isfinite(float(value)):
            raise InputError(f"feature {name!r} is {value!r}: expected a finite number, or None")
        if name in names:
            row[0, names[name]] = float(value)
    return row


M = TypeVar("M")

SHARE = 16
"""Answers come from a copy of the model, which is renewed when there is one sample more for this many."""


class TableModel(Generic[M]):
    """A model of samples with the names of the first one, and the copy of it that answers.

    Attributes:
        n: samples learned.
    """

    def __init__(self, model: M) -> None:
        self._model, self._names, self.n = model, dict[Hashable, int](), 0
        self._served: M | None = None
        self._n_served = 0

    def learn(self, x: Mapping[Hashable, Any], y: Any) -> None:
        """Learn one sample."""
        names = self._names or names_of(x)
        model: Any = self._model
        model.partial_fit(row_of(x, names), [y])
        self._names, self.n = names, self.n + 1

    def serve(self, x: Mapping[Hashable, Any]) -> tuple[M, NDArray[np.float64]]:
        """The model that answers, and a sample as a row."""
        if self._served is None or self.n - self._n_served > self._n_served // SHARE:
            self._served, self._n_served = copy.deepcopy(self._model), self.n
        return self._served, row_of(x, self._names)
