"""Samples as rows: arrays with the shape of a sample, and columns that hold no numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kenyon.errors import InputError

DATES = ("datetime", "timedelta", "date", "time", "duration", "period")
"""How the types of dates begin, in NumPy and in data frames."""


def as_rows(X: Any, shape: Sequence[int] | None) -> Any:
    """Samples of the given shape as one row each; everything else as it is. Refuses dates.

    Args:
        X: samples, such as (n, 8, 8) for a shape of (8, 8).
        shape: of a sample; None where it has none.

    Example:
        >>> import numpy as np
        >>> as_rows(np.zeros((5, 8, 8)), (8, 8)).shape
        (5, 64)
    """
    for name, dtype in _types(X):
        if str(dtype).lower().startswith(DATES):
            raise InputError(
                f"{name} is of type {dtype}: expected numbers; make numbers of dates first, such as the hour and the "
                "day of the week"
            )
    own = tuple(getattr(X, "shape", ()))
    if len(own) < 3:
        return X
    if shape is None:
        raise InputError(
            f"X has shape {own}, and samples have no shape: expected (n_samples, n_features); set shape={own[1:]}"
        )
    if own[1:] != tuple(shape):
        raise InputError(f"X has shape {own}: expected {('n_samples', *shape)} or (n_samples, n_features)")
    return X.reshape(own[0], -1)


def _types(X: Any) -> Iterable[tuple[str, Any]]:
    """(what, type) of an array or of each column of a data frame."""
    if hasattr(X, "dtype"):
        return [("X", X.dtype)]
    types = getattr(X, "dtypes", None)
    columns = getattr(X, "columns", None)
    return (
        () if types is None or columns is None else zip((f"column {name!r}" for name in columns), types, strict=False)
    )
