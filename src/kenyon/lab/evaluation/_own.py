"""Data and learners of one's own, as a configuration takes them: arrays, data sets, streams and classes."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from kenyon.data.streams import Curriculum, Dataset, Stream, from_arrays
from kenyon.errors import ConfigError
from kenyon.learners import LEARNERS

_BLOCK = 4096


def own_data(value: Any, curriculum: Curriculum) -> tuple[str, Dataset, Curriculum] | None:
    """The name of one's own data, the data as a data set, and their curriculum; None for a name or a path."""
    if isinstance(value, Stream):
        if curriculum not in (Curriculum(), value.curriculum):
            raise ConfigError("curriculum is given with a Stream, which has its own: expected one of them")
        return value.dataset.name, value.dataset, value.curriculum
    if isinstance(value, Dataset):
        return value.name, value, curriculum
    if isinstance(value, tuple) and len(value) in (2, 4):
        dataset = from_arrays(*value)
        return dataset.name, dataset, curriculum
    if isinstance(value, list | tuple | np.ndarray):
        raise ConfigError(
            f"dataset is {repr(value)[:60]}: expected a name or a path, or a Dataset, a Stream, (X, y) or "
            "(X, y, X_test, y_test)"
        )
    return None


def learner_name(cls: type) -> str:
    """The name that a class can be found by again: of the table, or `module:Class`."""
    name = f"{cls.__module__}:{cls.__qualname__}"
    if "<locals>" in name:
        raise ConfigError(f"learner is the class {cls.__qualname__}: expected one at the top level of a module")
    return next((spec.name for spec in LEARNERS.values() if spec.target == name), name)


def data_sum(dataset: Dataset) -> str:
    """SHA-256 of the training samples, labels and domains of a data set, and of how it says to read them.

    The test samples are left out, so that a data set whose test part must not be opened keeps it closed.
    """
    about = (dataset.name, dataset.shape, dataset.class_names, dataset.value_range, dataset.domain_names)
    digest, train = hashlib.sha256(repr(about).encode()), dataset.train
    for start in range(0, len(train), _BLOCK):
        digest.update(np.ascontiguousarray(train.X[start : start + _BLOCK]).tobytes())
    for column in (train.y, train.domain):
        if column is not None:
            digest.update(column.astype(np.int64).tobytes())
    return digest.hexdigest()
