"""Small second-order layers and what to teach them, for the tests."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.features import Active
from kenyon.layers import Samples, SecondOrderLayer
from kenyon.layers._readout import NEVER

TOLERANCE = 1e-4
"""Of the spread of scores: how far a readout that followed may be from one that is solved again."""

BETA = np.zeros((1, 2), np.float32)
KINDS: dict[str, dict[str, Any]] = {
    "exact": {},
    "24 bits": {"bits": 24},
    "16 bits": {"bits": 16},
    "floats": {"in_bytes": False},
}


def samples(n: int = 300, width: int = 23, n_classes: int = 5, seed: int = 0, density: float = 1.0) -> tuple:
    """Bytes around a prototype of each class, of which a share is not zero, and labels, some withheld."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = np.clip(rng.integers(30, 226, (n_classes, width))[y] + rng.normal(0, 30, (n, width)), 1, 255).astype(np.uint8)
    X[rng.random((n, width)) >= density] = 0
    y[6::7] = -1
    return X, y


def activity(X: NDArray) -> Active:
    """Dense samples as the active units of a block."""
    n, width = X.shape
    units, values, counts = np.zeros((n, width), np.uint32), np.zeros((n, width), X.dtype), np.zeros(n, np.int64)
    for s in range(n):
        (on,) = np.nonzero(X[s])
        units[s, : len(on)], values[s, : len(on)], counts[s] = on, X[s, on], len(on)
    return units, values, counts


def make(width: int = 23, n_classes: int = 5, **how: Any) -> SecondOrderLayer:
    layer = SecondOrderLayer(width, **how)
    for _ in range(n_classes):
        layer.add_class()
    return layer


def teach(layer: SecondOrderLayer, X: NDArray, y: NDArray, cuts: Sequence[int] = ()) -> SecondOrderLayer:
    """Learn in pieces."""
    for part in np.split(np.arange(len(X)), cuts):
        if part.size:
            active = activity(X[part] if layer.coactivity.values is np.uint8 else X[part].astype(np.float32))
            assert layer.learn(Samples(active, 0, len(part), y[part], None, BETA)) == len(part)
    return layer


def held(layer: SecondOrderLayer) -> dict[str, tuple[str, bytes]]:
    return {name: (view.dtype.str, view.tobytes()) for name, view in layer.state.views().items()}


def sums_of(X: NDArray, y: NDArray, n_classes: int) -> dict[str, NDArray]:
    known = y >= 0
    X, y = X[known].astype(np.uint64), y[known]
    one_hot = np.eye(n_classes, dtype=np.uint64)[y]
    return {"pairs": (X.T @ X)[np.tril_indices(X.shape[1])], "sums": X.T @ one_hot, "class_counts": one_hot.sum(axis=0)}


def predictions(layer: SecondOrderLayer, X: NDArray, y: NDArray, cuts: Sequence[int] = ()) -> NDArray:
    """Test, then learn, in pieces: the scores before each sample was learned."""
    out = []
    for part in np.split(np.arange(len(X)), cuts):
        scores = np.empty((len(part), layer.width), np.float32)
        values = X[part] if layer.coactivity.values is np.uint8 else X[part].astype(np.float32)
        layer.learn(Samples(activity(values), 0, len(part), y[part], None, BETA), scores)
        out.append(scores[:, : layer.n_neurons])
    return np.concatenate(out)


def assert_agree(scores: NDArray, wanted: NDArray, tolerance: float = TOLERANCE) -> None:
    """Within a share of the spread of a sample's scores; classes without samples are left out."""
    assert np.array_equal(scores == NEVER, wanted == NEVER)
    one, other = (np.where(each == NEVER, np.nan, each).astype(np.float64) for each in (scores, wanted))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # no class has a sample
        spread = np.nan_to_num(np.nanmax(other, axis=1) - np.nanmin(other, axis=1))
    apart = np.nan_to_num(np.abs(one - other)).max(axis=1)
    assert (apart <= tolerance * spread + 1e-6).all(), (apart / (spread + 1e-30)).max()
