"""Nearest class mean: the simplest learner that cannot forget.

    n_y += 1,  mu_y += (x - mu_y) / n_y
    class = argmin_c ||x - mu_c||^2          (metric "euclidean")
          = argmax_c <x, mu_c> / ||mu_c||    (metric "cosine")

Reference: T. Mensink, J. Verbeek, F. Perronnin, G. Csurka, "Distance-based image classification:
generalizing to new classes at near-zero cost", TPAMI 2013.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.data.protocol import StreamInfo
from kenyon.errors import unknown
from kenyon.learners.baselines._memory_free import MemoryFree


class NCM(MemoryFree):
    """Running class means on the raw features.

    Args:
        metric: `"euclidean"` or `"cosine"`.
        batch_size: how often predictions are refreshed while testing before learning.
    """

    name = "ncm"

    def __init__(self, info: StreamInfo, seed: int, *, metric: str = "euclidean", batch_size: int = 1) -> None:
        super().__init__(info, seed, batch_size)
        if metric not in ("euclidean", "cosine"):
            raise unknown("metric", metric, ("euclidean", "cosine"))
        self.metric = metric
        self.means = np.zeros((info.n_classes, info.n_features), dtype=np.float32)

    def _update(self, features: NDArray, y: NDArray[np.int64]) -> int:
        core.update_means(features, y, self.means, self.counts)
        return features.size

    def _scores(self, features: NDArray) -> NDArray:
        if self.metric == "cosine":
            norms = np.linalg.norm(self.means, axis=1)
            return features @ (self.means / np.maximum(norms, np.finfo(np.float32).tiny)[:, None]).T
        return features @ self.means.T - 0.5 * np.square(self.means).sum(axis=1)

    def _arrays(self) -> dict[str, NDArray]:
        return {"means": self.means}
