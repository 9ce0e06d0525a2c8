"""Weights of samples: how often each counts.

A sample of weight w is learned w times, one after the other, so that integers are exact with every rule and layer: the
state is that of the stream with the sample repeated. The fraction of a weight is rounded up for that share of the
samples, chosen by a checksum of the sample's values. So it depends on the sample alone, and neither on how the stream
is cut nor on its order. A sample of weight 0 is learned as one without a label.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import InputError
from kenyon.features import SparseRows
from kenyon.model.labels import is_missing

MOST = 1e6
"""Largest weight of a sample: each unit of it is learned for itself."""

BALANCED = "balanced"


def check_weights(given: Any, n_samples: int) -> NDArray[np.float64] | None:
    """One finite weight for each sample, none below zero; None where none are given."""
    if given is None:
        return None
    try:
        weights = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight holds a value that is not a number: expected numbers") from None
    weights = np.full(n_samples, float(weights)) if weights.ndim == 0 else weights
    if weights.shape != (n_samples,):
        raise InputError(
            f"sample_weight has shape {weights.shape}: expected one for each of {n_samples} samples, ({n_samples},)"
        )
    bad = ~((weights >= 0) & (weights <= MOST))
    if bad.any():
        at = int(bad.argmax())
        raise InputError(f"sample_weight[{at}] is {weights[at]:g}: expected a number from 0 to {MOST:g}")
    return weights


def check_modulation(given: Any, n_samples: int) -> NDArray[np.float32]:
    """One number from 0 to 1 for each sample."""
    try:
        signal = np.asarray(given, np.float32)
    except (TypeError, ValueError):
        raise InputError("modulation holds a value that is not a number: expected numbers from 0 to 1") from None
    signal = np.full(n_samples, signal) if signal.ndim == 0 else signal
    if signal.shape != (n_samples,):
        raise InputError(
            f"modulation has shape {signal.shape}: expected one for each of {n_samples} samples, ({n_samples},)"
        )
    bad = ~((signal >= 0) & (signal <= 1))
    if bad.any():
        at = int(bad.argmax())
        raise InputError(f"modulation[{at}] is {signal[at]:g}: expected a number from 0 to 1")
    return np.ascontiguousarray(signal)


def by_class(
    given: Mapping[Hashable, float] | str | None, y: NDArray, unlabelled: float | None, all_at_once: bool
) -> NDArray[np.float64] | None:
    """The weight of each sample's class; None where classes have none.

    Args:
        given: `class_weight` of the classifier.
        y: labels.
        unlabelled: number that marks a sample without a label.
        all_at_once: whether these are all samples, as in `fit`.
    """
    if given is None:
        return None
    labels = [label.item() if isinstance(label, np.generic) else label for label in y.tolist()]
    if given == BALANCED:
        if not all_at_once:
            raise InputError(
                "class_weight is 'balanced' in partial_fit, which does not know how many samples will come: expected "
                "a weight for each label, such as {'rare': 10.0}; or prior='equal', which needs no counts"
            )
        counts = Counter(label for label in labels if not is_missing(label) and label != unlabelled)
        share = counts.total() / max(len(counts), 1)
        return np.array([share / counts.get(label, share) for label in labels])
    assert isinstance(given, Mapping)
    return np.array([given.get(label, 1.0) for label in labels], np.float64)


def in_proportion(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights of all samples as they are where they are integers; else with a mean of 1.

    Example:
        >>> in_proportion(np.array([2.0, 0.0])).tolist(), in_proportion(np.array([0.25, 0.75])).tolist()
        ([2.0, 0.0], [0.5, 1.5])
    """
    mean = weights.mean() if len(weights) else 0.0
    return weights if mean == 0 or not (weights % 1).any() else weights / mean


def times(samples: NDArray | SparseRows, weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """How often each sample is learned."""
    whole = np.floor(weights).astype(np.int64)
    (some,) = np.nonzero(weights % 1)
    for s in some:
        row = samples[s : s + 1]
        row = row.toarray() if isinstance(row, SparseRows) else row
        share = zlib.crc32(np.ascontiguousarray(row, np.float64).tobytes()) / 2**32
        whole[s] += weights[s] % 1 > share
    return whole


def repeated(
    samples: NDArray | SparseRows, y: NDArray, weights: NDArray[np.float64]
) -> tuple[NDArray | SparseRows, NDArray, NDArray[np.int64]]:
    """Samples and labels, each as often as it counts, and where each sample first stands.

    Example:
        >>> X, y, first = repeated(np.eye(3), np.array([0, 1, 0]), np.array([2.0, 0.0, 1.0]))
        >>> len(X), y.tolist(), first.tolist()
        (4, [0, 0, None, 0], [0, 2, 3])
    """
    counts = times(samples, weights)
    if not counts.all():
        y = y.astype(object)
        y[counts == 0] = None
    there = np.maximum(counts, 1)
    chosen = np.repeat(np.arange(len(counts)), there)
    return samples[chosen], y[chosen], np.cumsum(there) - there
