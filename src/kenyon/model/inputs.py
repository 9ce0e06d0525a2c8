"""Checks of samples and labels before they reach the engine."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.errors import DivergenceError, InputError, LabelWarning, scikit_learns
from kenyon.features import SparseRows
from kenyon.model.labels import label_array

LARGEST = 1e30
"""Largest input: the sum of as many as a sample could have still fits a float32."""

DIRECT = frozenset({np.dtype(np.uint8), np.dtype(np.float32), np.dtype(np.float64)})
"""Types of samples that are learned as they are."""


class Inputs:
    """Width of the samples, and the names of their features where they came in a data frame."""

    n_features_in_: int
    feature_names_in_: NDArray
    floats = False
    """Whether the first samples were numbers other than bytes, which some defaults depend on."""
    sparse = False
    """Whether the first samples were a sparse matrix, which some defaults depend on."""

    @property
    def names(self) -> NDArray | None:
        """The features' names, if they have any."""
        return getattr(self, "feature_names_in_", None)

    def without_names(self) -> Inputs:
        """The same for samples whose columns were matched by their names already."""
        bare = Inputs()
        bare.n_features_in_, bare.floats = self.n_features_in_, self.floats
        return bare

    def fits(self, x: NDArray) -> bool:
        """Whether a single sample without names is as wide as the others."""
        return x.shape == (self.n_features_in_,) and self.names is None


def check_samples(inputs: Inputs, X: Any, first: bool = False, absent: bool = False) -> NDArray | SparseRows:
    """(n, width) array of uint8, float32 or float64 without infinity, and without NaN unless it may be absent; or rows
    of which few values are not zero, where a sparse matrix is given.

    Args:
        inputs: what the samples must agree with.
        X: samples.
        first: these are the first samples, and `inputs` takes its width, names and kind from them.
        absent: whether NaN stands for an absent value.
    """
    if is_sparse(X):
        return check_sparse(inputs, X, first, LARGEST)
    direct = type(X) is np.ndarray and X.dtype in DIRECT and X.ndim == 2 and X.shape[0] > 0 and X.shape[1] > 0
    if direct and first:
        inputs.n_features_in_ = X.shape[1]
    if direct and X.shape[1] == inputs.n_features_in_ and inputs.names is None:
        samples = X
    else:
        samples = _agreeing(inputs, X, first)
    if first:
        inputs.floats = samples.dtype != np.uint8
    if samples.dtype == np.uint8:
        return samples
    if samples.dtype not in DIRECT:
        samples = samples.astype(np.float64)
    samples = samples if samples.flags.aligned else samples.copy()
    first_unbearable = core.first_unbearable(samples, LARGEST, absent)
    if first_unbearable >= 0:
        row, column = divmod(first_unbearable, samples.shape[1])
        value = samples[row, column]
        seen = "NaN" if np.isnan(value) else "infinity" if np.isinf(value) else f"{value:g}"
        raise InputError(
            f"Input X contains {seen} (sample {row}, feature {column}): expected finite numbers up to {LARGEST:g}"
        )
    return samples


def is_bearable(samples: NDArray, absent: bool) -> bool:
    """Whether no number is infinite or too large, or NaN where none may be absent."""
    return samples.flags.aligned and core.first_unbearable(samples, LARGEST, absent) < 0


def _agreeing(inputs: Inputs, X: Any, first: bool) -> NDArray:
    """Samples of any container as an array of numbers that has the width and the names of the others."""
    names, samples = _names(X), _numbers(X)
    if samples.ndim != 2:
        raise InputError(
            f"Expected 2D array, got {samples.ndim}D array instead, of shape {samples.shape}. Reshape your data using "
            "X.reshape(-1, 1) if it has a single feature, or X.reshape(1, -1) if it is a single sample."
        )
    for size, of in zip(samples.shape, ("sample", "feature"), strict=True):
        if size == 0:
            raise InputError(f"Found array with 0 {of}(s) (shape={samples.shape}) while a minimum of 1 is required.")
    if first:
        inputs.n_features_in_ = samples.shape[1]
        if names is not None:
            inputs.feature_names_in_ = names
        return samples
    _check_names(inputs.names, names)
    if samples.shape[1] != inputs.n_features_in_:
        raise InputError(
            f"X has {samples.shape[1]} features, but Kenyon is expecting {inputs.n_features_in_} features as input"
        )
    return samples


def _numbers(X: Any) -> NDArray:
    """An array of booleans, integers or floats."""
    try:
        samples = np.asarray(X)
        if samples.dtype == object and hasattr(X, "iloc"):
            samples = X.to_numpy(dtype=np.float64, na_value=np.nan)  # columns of pandas' own types
        if samples.dtype.kind == "c":
            raise InputError(f"Complex data not supported: X is {samples.dtype}, expected real numbers")
        return samples if samples.dtype.kind in "buif" else samples.astype(np.float64)
    except (TypeError, ValueError) as error:
        found = _first_text(X)
        if isinstance(error, TypeError) and not found:
            raise  # as scikit-learn has it
        raise InputError(f"{found or error}: expected numbers in X") from error


def _first_text(X: Any) -> str:
    """Where the first value of a data frame stands that is no number, in words; empty if nobody knows."""
    if not (hasattr(X, "columns") and hasattr(X, "__getitem__")):
        return ""
    for name in X.columns:
        for row, value in enumerate(X[name]):
            try:
                float(value)
            except (TypeError, ValueError):
                return f"column {name!r} holds {value!r} (sample {row})"
    return ""


def _names(X: Any) -> NDArray | None:
    """The columns' names of a data frame, if they are strings."""
    # as Arrow has them, else as pandas and Polars do
    columns: list = list(X.column_names if hasattr(X, "column_names") else getattr(X, "columns", ()))
    kinds = {isinstance(name, str) for name in columns}
    if len(kinds) == 2:
        kind = next(type(name).__name__ for name in columns if not isinstance(name, str))
        raise InputError(f"column names are of the kinds str and {kind}: expected only str, or none that is")
    return np.array(columns, object) if kinds == {True} else None


def _check_names(known: NDArray | None, names: NDArray | None) -> None:
    if known is None and names is None:
        return
    if known is None:
        warnings.warn("X has feature names, but KenyonClassifier was fitted without feature names", stacklevel=6)
        return
    if names is None:
        warnings.warn(
            "X does not have valid feature names, but KenyonClassifier was fitted with feature names", stacklevel=6
        )
        return
    if list(known) == list(names):
        return
    lines = ["The feature names should match those that were passed during fit."]
    for title, some, others in (
        ("Feature names unseen at fit time:", names, known),
        ("Feature names seen at fit time, yet now missing:", known, names),
    ):
        found = sorted(set(some) - set(others))
        lines += [title, *(f"- {name}" for name in found[:5]), *["- ..."] * (len(found) > 5)] if found else []
    if len(lines) == 1:
        lines.append("Feature names must be in the same order as they were in fit.")
    raise InputError("\n".join([*lines, ""]))


def check_scores(samples: NDArray | SparseRows, scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """The scores, if float32 holds them; bytes are never so large that it would not."""
    if samples.dtype == np.uint8 or isfinite(scores.sum()) or np.isfinite(scores).all():
        return scores
    row = int(np.flatnonzero(~np.isfinite(scores).all(axis=1))[0])
    values = samples[row : row + 1]
    largest = float(np.abs(values.values if isinstance(values, SparseRows) else values).max(initial=0.0))
    raise DivergenceError(
        f"the scores of sample {row}, whose largest value is {largest:g}, pass what float32 holds: expected smaller "
        "inputs, or unit_norm=True, which scales them"
    )


def check_labels(y: Any, n_samples: int) -> NDArray:
    """Labels, one per sample."""
    if y is None:
        raise InputError("requires y to be passed, but the target y is None")
    y = label_array(y)
    shape = y.shape
    if len(shape) == 2 and shape[1] == 1:
        kind = scikit_learns("DataConversionWarning", LabelWarning)
        warnings.warn("A column-vector y was passed when a 1d array was expected", kind, stacklevel=4)
        y, shape = y.ravel(), shape[:1]
    if len(shape) != 1 or shape[0] != n_samples:
        raise InputError(f"y has shape {shape}: expected one label for each of {n_samples} samples, ({n_samples},)")
    return y


# ---- sparse matrices, and samples with a shape


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
            f"X has {X.shape[1]} features, but Kenyon is expecting {inputs.n_features_in_} features as input"
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
        sizes = ", ".join(map(str, shape))
        raise InputError(f"X has shape {own}: expected (n_samples, {sizes}) or (n_samples, n_features)")
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
