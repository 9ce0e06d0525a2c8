"""Samples of River's, which are names with values, as rows of a table."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from math import isfinite
from numbers import Real
from typing import Any

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
