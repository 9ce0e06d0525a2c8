"""How similar two data sets are: effective dimension, distances between class centroids, transfer coefficient.

They are computed from the training set, pixels as published; the scale of the pixels changes none of the three.

Reference: Madireddy, Yanguas-Gil and Balaprakash, section 5.3, "Distance metrics as a measure of transferability".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kenyon.data.streams import Dataset
from kenyon.errors import InputError

BLOCK = 10_000


@dataclass(frozen=True)
class Moments:
    """What the metrics need of a data set.

    Attributes:
        name: the name of the data set.
        dimension: its effective dimension.
        centroids: the mean of each class, (classes, features).

    Example:
        >>> from kenyon.data.streams import load_dataset
        >>> digits = moments(load_dataset("digits"))
        >>> digits.name, round(digits.dimension, 1)
        ('digits', 13.1)
    """

    name: str
    dimension: float
    centroids: NDArray[np.float64]


def moments(dataset: Dataset) -> Moments:
    """Effective dimension and centroids of a training set, in one pass over blocks of samples.

    Example:
        >>> from kenyon.data.streams import load_dataset
        >>> digits = moments(load_dataset("digits"))
        >>> isinstance(digits, Moments), digits.centroids.shape
        (True, (10, 64))
    """
    train, n_features = dataset.train, dataset.n_features
    scatter = np.zeros((n_features, n_features))
    sums = np.zeros((dataset.n_classes, n_features))
    for start in range(0, len(train), BLOCK):
        block = np.asarray(train.X[start : start + BLOCK], np.float32) / np.float32(max(map(abs, dataset.value_range)))
        scatter += block.T @ block
        sums += np.eye(dataset.n_classes, dtype=np.float32)[train.y[start : start + BLOCK]].T @ block
    counts = np.bincount(train.y, minlength=dataset.n_classes)
    total = sums.sum(axis=0)
    covariance = (scatter - np.outer(total, total) / len(train)) / len(train)
    return Moments(dataset.name, dimension_of(covariance), sums[counts > 0] / counts[counts > 0, None])


def dimension_of(covariance: NDArray[np.float64]) -> float:
    """`(sum lambda)^2 / sum lambda^2` without the eigenvalues: squared trace over squared Frobenius norm."""
    squares = float((covariance * covariance).sum())
    if squares == 0.0:
        raise InputError("the covariance is zero: expected samples that differ from each other")
    return float(np.trace(covariance)) ** 2 / squares


def centroid_distances(a: Moments, b: Moments) -> tuple[float, float]:
    """Smallest and largest cosine distance between the centroids of two sets, or of different classes within one set.

    Args:
        a, b: two sets with the same number of features; the same object twice for the distances within a set.

    Example:
        >>> from kenyon.data.streams import load_dataset
        >>> digits = moments(load_dataset("digits"))
        >>> smallest, largest = centroid_distances(digits, digits)
        >>> round(smallest, 2), round(largest, 2)
        (0.06, 0.3)
    """
    if a.centroids.shape[1] != b.centroids.shape[1]:
        raise InputError(
            f"{a.name} has {a.centroids.shape[1]} features, {b.name} {b.centroids.shape[1]}: "
            "a cosine distance needs the same number"
        )
    first, second = (m.centroids / np.linalg.norm(m.centroids, axis=1, keepdims=True) for m in (a, b))
    distances = 1.0 - first @ second.T
    if a is b:
        distances = distances[np.triu_indices(len(distances), 1)]
    return float(distances.min()), float(distances.max())


def transfer_coefficient(own: float, other: float) -> float:
    """`|M1 - M2| / M1`, with M1 of the set that is run and M2 of the set the configuration was found on.

    It is not symmetric.

    Example:
        >>> transfer_coefficient(own=30.0, other=24.0)
        0.2
    """
    return abs(own - other) / own


def dimension_coefficient(run_on: Moments, found_on: Moments) -> float:
    """Transfer coefficient of the effective dimension."""
    return transfer_coefficient(run_on.dimension, found_on.dimension)


def distance_coefficient(run_on: Moments, found_on: Moments) -> float:
    """Transfer coefficient of the smallest centroid distance: M1 within the set that is run, M2 between both sets."""
    if run_on is found_on:
        return 0.0
    return transfer_coefficient(centroid_distances(run_on, run_on)[0], centroid_distances(run_on, found_on)[0])


COEFFICIENTS: dict[str, Callable[[Moments, Moments], float]] = {
    "effective dimension": dimension_coefficient,
    "smallest centroid distance": distance_coefficient,
}
"""Coefficients by name; each is a function of the set that is run and the set the configuration was found on."""
