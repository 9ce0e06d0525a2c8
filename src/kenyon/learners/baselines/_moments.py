"""Running first and second moments of a stream, one sample after the other.

Each element of an array is changed in stream order, whatever the block it came in: the loops run
over samples innermost per element, so a cut of the stream changes no bit of the result.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kenyon import core

_BLOCK = 64  # samples that stay in the second-level cache while the rows of the scatter pass by


def update_means(X: NDArray, y: NDArray, means: NDArray, counts: NDArray) -> None:
    """`n_y += 1; mu_y += (x - mu_y) / n_y` for each sample."""
    core.update_means(X, y, means, counts)


def update_means_and_scatter(X: NDArray, y: NDArray, means: NDArray, counts: NDArray, scatter: NDArray) -> None:
    """Welford's pooled step: `S += n/(n+1) (x - mu_y)(x - mu_y)^T`, then `mu_y`, for each sample.

    `n` is the class's count before the sample. Only the upper triangle of `scatter` is kept.
    """
    core.update_scatter(X, y, means, counts, scatter, np.empty((_BLOCK, X.shape[1]), np.float32))
