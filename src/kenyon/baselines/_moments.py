"""Running first and second moments of a stream, one sample after the other.

Each element of an array is changed in stream order, whatever the block it came in: the loops run
over samples innermost per element, so a cut of the stream changes no bit of the result.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kenyon.compiling import kernel

_BLOCK = 64  # samples that stay in the second-level cache while the rows of the scatter pass by


@kernel()
def update_means(X: NDArray, y: NDArray, means: NDArray, counts: NDArray) -> None:
    """`n_y += 1; mu_y += (x - mu_y) / n_y` for each sample."""
    for s in range(len(y)):
        c = y[s]
        counts[c] += 1
        rate = np.float32(1.0) / np.float32(counts[c])
        for i in range(X.shape[1]):
            means[c, i] += rate * (X[s, i] - means[c, i])


@kernel()
def update_means_and_scatter(X: NDArray, y: NDArray, means: NDArray, counts: NDArray, scatter: NDArray) -> None:
    """Welford's pooled step: `S += n/(n+1) (x - mu_y)(x - mu_y)^T`, then `mu_y`, for each sample.

    `n` is the class's count before the sample. Only the upper triangle of `scatter` is kept.
    """
    n, d = X.shape
    deltas = np.empty((min(n, _BLOCK), d), dtype=np.float32)
    for start in range(0, n, _BLOCK):
        size = min(_BLOCK, n - start)
        for s in range(size):
            c = y[start + s]
            before = np.float32(counts[c])
            weight = np.sqrt(before / (before + np.float32(1.0)))
            counts[c] += 1
            rate = np.float32(1.0) / np.float32(counts[c])
            for i in range(d):
                difference = X[start + s, i] - means[c, i]
                deltas[s, i] = weight * difference
                means[c, i] += rate * difference
        _add_outer(deltas, size, scatter)


@kernel()
def _add_outer(V: NDArray, size: int, S: NDArray) -> None:
    """`S += v v^T` (upper triangle) for the first `size` rows of V, in their order."""
    d = S.shape[0]
    for i in range(d):
        row = S[i, i:]
        s = 0
        while s + 4 <= size:  # four at a time saves loads; the sums keep their order
            a, b, c, e = V[s, i], V[s + 1, i], V[s + 2, i], V[s + 3, i]
            va, vb, vc, ve = V[s, i:], V[s + 1, i:], V[s + 2, i:], V[s + 3, i:]
            for j in range(d - i):
                row[j] = (((row[j] + a * va[j]) + b * vb[j]) + c * vc[j]) + e * ve[j]
            s += 4
        while s < size:
            a, va = V[s, i], V[s, i:]
            for j in range(d - i):
                row[j] += a * va[j]
            s += 1
