"""Samples that come as a sparse matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon.errors import InputError
from kenyon.features import Identity, SparseRows
from kenyon.layers import Counting
from kenyon.model.options import OPTIONS
from kenyon.utils.options import is_default

if TYPE_CHECKING:
    from kenyon.model.inputs import Inputs

OPEN = ("rule", "features", "layer", "n_hidden", "hidden", "shape", "unit_norm", "scale")
"""Options that are all at their defaults where nothing else is asked for."""


def is_sparse(X: Any) -> bool:
    """Whether samples are a SciPy sparse matrix or array, of any format."""
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def check_sparse(inputs: Inputs, X: Any, first: bool, largest: float) -> SparseRows:
    """Rows of finite numbers; NaN is refused, since an absent value is simply not stored.

    Args:
        inputs: what the samples must agree with; takes its width and kind from them where they are the `first`.
        largest: of a value.
    """
    if X.ndim != 2 or not X.shape[0] or not X.shape[1]:
        raise InputError(f"X is a sparse matrix of shape {X.shape}: expected (n_samples, n_features), at least (1, 1)")
    if X.dtype.kind not in "buif":
        raise InputError(f"X is a sparse matrix of {X.dtype}: expected numbers")
    if first:
        inputs.n_features_in_, inputs.floats, inputs.sparse = X.shape[1], True, True
    elif X.shape[1] != inputs.n_features_in_:
        raise InputError(
            f"X has {X.shape[1]} features, but KenyonClassifier is expecting {inputs.n_features_in_} features as input"
        )
    rows = SparseRows.from_scipy(X)
    if rows.dtype not in (np.uint8, np.float32, np.float64):
        rows = rows.astype(np.float64)
    with np.errstate(invalid="ignore"):
        bad = ~(np.abs(rows.values) <= largest) if rows.dtype.kind == "f" else np.zeros(0, bool)
    if bad.any():
        at = int(bad.argmax())
        row, column = rows.place(at)
        value = rows.values[at]
        seen = "NaN" if np.isnan(value) else "infinity" if np.isinf(value) else f"{value:g}"
        raise InputError(
            f"Input X contains {seen} (sample {row}, feature {column}): expected finite numbers up to {largest:g}"
        )
    return rows


def for_sparse(params: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a model whose first samples are sparse: naive Bayes on the inputs, unless anything is given."""
    if any(not is_default(OPTIONS[name], params[name]) for name in OPEN):
        return params
    return {**params, "features": Identity(), "layer": Counting(readout="bayes", prior="counts")}
