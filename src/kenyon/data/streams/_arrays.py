"""Make a data set of your own arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kenyon.data.streams._dataset import Dataset, Split
from kenyon.data.streams._domains import number_domains
from kenyon.data.streams._random import stratified_share
from kenyon.data.streams._rows import Rows
from kenyon.errors import ConfigError, InputError

_BLOCK = 4096


def from_arrays(
    X_train: ArrayLike,
    y_train: ArrayLike,
    X_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    *,
    name: str = "arrays",
    shape: tuple[int, ...] | None = None,
    class_names: Sequence[str] | None = None,
    value_range: tuple[float, float] | None = None,
    test_share: float = 0.2,
    X_unlabelled: ArrayLike | None = None,
    domains: tuple[ArrayLike | None, ArrayLike | None, ArrayLike | None] | None = None,
    fewest_classes: int = 2,
) -> Dataset:
    """A data set from samples and labels.

    Bytes and float32 are used in place (memory-mapped arrays stay on disk); other numbers become float32.

    Args:
        X_train, X_test: `(n, ...)` numbers, the trailing dimensions being the shape of a sample.
        y_train, y_test: one label per sample, integers or texts; they are numbered in sorted order.
        name: the name of the data set in messages.
        shape: the shape of a sample, where `X` is flat.
        class_names: one name per class; the labels must then be `0 .. len(class_names) - 1` already.
        value_range: the smallest and largest value of a feature; 0 to 255 for bytes, else as seen in training.
        test_share: the share of every class that is kept for testing, by a fixed seed, where `X_test` is not given.
        X_unlabelled: training samples without a label; streams in which every task has every class show them, with -1.
        domains: the domain of each sample of `X_train`, `X_test` and `X_unlabelled`, any values; None where there is
            no such part. Domains are numbered as they come.
        fewest_classes: fewer are refused.

    Example:
        >>> import numpy as np
        >>> dataset = from_arrays(np.random.default_rng(0).random((40, 3)), ["cat", "dog"] * 20, test_share=0.25)
        >>> dataset.class_names, dataset.train.X.shape
        (('cat', 'dog'), (30, 3))
    """
    if (X_test is None) != (y_test is None):
        raise InputError(f"{name}: give both X_test and y_test, or neither")
    train_X, seen, sample = sample_array(X_train, f"{name}: X_train")
    test_X, _, other = (None, None, sample) if X_test is None else sample_array(X_test, f"{name}: X_test")
    if len(shapes := {sample, other}) > 1:
        raise InputError(f"{name}: samples of different shapes, {' and '.join(map(str, sorted(shapes)))}")
    shape = sample if shape is None else tuple(shape)
    train_y = label_array(y_train, len(train_X), f"{name}: y_train")
    test_y = None if test_X is None else label_array(y_test, len(test_X), f"{name}: y_test")
    names, train_y, test_y = _number(name, train_y, test_y, class_names, fewest_classes)
    more_X = None if X_unlabelled is None or not len(np.asarray(X_unlabelled)) else np.asarray(X_unlabelled)
    domain_names, in_train, in_test, in_more = _domains(name, domains, train_X, test_X, more_X)
    if test_X is None or test_y is None:
        if not 0 < test_share < 1:
            raise ConfigError(f"test_share is {test_share!r}: expected a number above 0 and below 1")
        strata = train_y if in_train is None else train_y + len(names) * in_train
        test = stratified_share(0, "test share", strata, test_share)
        splits = [
            Split(
                Rows([train_X], rows=np.flatnonzero(part)), train_y[part], None if in_train is None else in_train[part]
            )
            for part in (~test, test)
        ]
    else:
        splits = [Split(train_X, train_y, in_train), Split(test_X, test_y, in_test)]
    if more_X is not None:
        more, _, _ = sample_array(more_X, f"{name}: X_unlabelled")
        if more.shape[1] != train_X.shape[1]:
            raise InputError(f"{name}: X_unlabelled has a width of {more.shape[1]}: expected {train_X.shape[1]}")
        own = np.concatenate([splits[0].X[np.arange(len(splits[0].y))], more.astype(train_X.dtype)])
        domain = splits[0].domain
        both = None if domain is None or in_more is None else np.concatenate([domain, in_more])
        splits[0] = Split(own, np.concatenate([splits[0].y, np.full(len(more), -1)]), both)
    return Dataset(name, shape, names, splits[0], splits[1], value_range or seen, domain_names)


def _domains(
    name: str,
    domains: tuple[ArrayLike | None, ArrayLike | None, ArrayLike | None] | None,
    *parts: NDArray | None,
) -> tuple[tuple[str, ...], NDArray[np.int64] | None, NDArray[np.int64] | None, NDArray[np.int64] | None]:
    """Names of domains, and those of each part by number."""
    if domains is None:
        return (), None, None, None
    given = [None if part is None else (own, len(part)) for own, part in zip(domains, parts, strict=True)]
    names, numbered = number_domains(name, *given)
    return (names, numbered[0], numbered[1], numbered[2])


def sample_array(values: ArrayLike, what: str) -> tuple[NDArray, tuple[float, float], tuple[int, ...]]:
    """Flat samples as bytes or float32, the range of their values, and the shape of one."""
    X = np.asarray(values)
    if X.ndim < 2 or X.shape[0] == 0 or X[0].size == 0:
        raise InputError(
            f"{what} has shape {X.shape}: expected at least one sample, (n, features) or (n, height, width)"
        )
    if X.dtype.kind not in "buif":
        raise InputError(f"{what} is of type {X.dtype}: expected numbers")
    shape = X.shape[1:]
    if X.dtype == np.bool_:
        X = X.astype(np.uint8)
    if X.dtype not in (np.uint8, np.float32):
        with np.errstate(over="ignore"):  # what is too large becomes infinite and is refused with its place
            X = X.astype(np.float32)
    X = X.reshape(len(X), -1)
    return X, (0.0, 255.0) if X.dtype == np.uint8 else _finite_range(X, what), shape


def _finite_range(X: NDArray[np.float32], what: str) -> tuple[float, float]:
    """The smallest and largest value, found block by block, so that a mapped array is not copied.

    NaN and infinity are refused.
    """
    low, high = np.inf, -np.inf
    for start in range(0, len(X), _BLOCK):
        block = X[start : start + _BLOCK]
        bad = np.argwhere(~np.isfinite(block))
        if len(bad):
            row, column = bad[0]
            raise InputError(f"{what} holds {block[row, column]} in sample {start + row}, feature {column}")
        low, high = min(low, float(block.min())), max(high, float(block.max()))
    return low, high if high > low else low + 1.0


def label_array(values: Any, n: int, what: str) -> NDArray:
    """Labels as integers or texts, one per sample."""
    y = np.asarray(values)
    if y.shape != (n,):
        raise InputError(f"{what} has shape {y.shape}: expected ({n},), one label per sample")
    if y.dtype.kind == "f" and np.array_equal(y, np.floor(y)):
        y = y.astype(np.int64)
    if y.dtype.kind not in "biuU":
        raise InputError(f"{what} is of type {y.dtype}: expected integers or texts")
    return y


def _number(
    name: str, train: NDArray, test: NDArray | None, class_names: Sequence[str] | None, fewest: int
) -> tuple[tuple[str, ...], NDArray[np.int64], NDArray[np.int64] | None]:
    """Class names and the labels as `0 .. n_classes - 1`."""
    if test is not None and (train.dtype.kind == "U") != (test.dtype.kind == "U"):
        raise InputError(f"{name}: training labels are of type {train.dtype}, test labels of type {test.dtype}")
    classes = np.unique(train)
    if test is not None and (strange := np.setdiff1d(test, classes)).size:
        raise InputError(f"{name}: the label {strange[0]!r} occurs in the test set only")
    if class_names is not None:
        if train.dtype.kind == "U" or classes[0] < 0 or classes[-1] >= len(class_names):
            raise InputError(
                f"{name}: labels run from {classes[0]} to {classes[-1]}, "
                f"with {len(class_names)} class names they must lie in 0 to {len(class_names) - 1}"
            )
        return tuple(class_names), train.astype(np.int64), None if test is None else test.astype(np.int64)
    if len(classes) < fewest:
        raise InputError(f"{name}: all labels are {classes[0]}: expected at least two classes")
    numbered = [None if y is None else np.searchsorted(classes, y).astype(np.int64) for y in (train, test)]
    names = tuple(str(label) for label in classes)
    for label in names:
        try:
            label.encode()
        except UnicodeEncodeError as error:
            raise InputError(f"{name}: the label {label!a} is not UTF-8") from error
    return names, numbered[0], numbered[1]  # type: ignore[return-value]
