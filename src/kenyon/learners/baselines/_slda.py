"""Streaming linear discriminant analysis (Deep SLDA): class means and one shared covariance.

    S += n_y / (n_y + 1) (x - mu_y)(x - mu_y)^T,   n_y += 1,   mu_y += (x - mu_y) / n_y
    Sigma = S / t,   Lambda = [(1 - eps) Sigma + eps I]^-1
    class = argmax_c  mu_c^T Lambda x - 1/2 mu_c^T Lambda mu_c

The paper weights the outer product by t / (t + 1), t counting samples of all classes; the class's own
count, used here, makes S equal to the pooled within-class scatter of all samples so far.

Reference: T. L. Hayes, C. Kanan, "Lifelong machine learning with deep streaming linear discriminant
analysis", CVPR Workshops 2020.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.data.protocol import StreamInfo
from kenyon.errors import ConfigError
from kenyon.learners.baselines._memory_free import MemoryFree

_BLOCK = 64  # samples that stay in the second-level cache while the rows of the scatter pass by


class StreamingLDA(MemoryFree):
    """Linear discriminant analysis that learns one sample at a time; raw features by default.

    Args:
        shrinkage: eps, the share of the identity in the covariance.
        batch_size: how often predictions are refreshed while testing before learning (each refresh
            solves one linear system).
    """

    name = "slda"
    defaults: ClassVar[dict[str, float]] = {"shrinkage": 1e-4}

    def __init__(self, info: StreamInfo, seed: int, *, shrinkage: float | None = None, batch_size: int = 100) -> None:
        super().__init__(info, seed, batch_size)
        shrinkage = self.option("shrinkage", shrinkage)
        if not 0.0 < shrinkage <= 1.0:
            raise ConfigError(f"shrinkage is {shrinkage}; it must be above 0 and at most 1")
        self.shrinkage = shrinkage
        width = self._width()
        self.means = np.zeros((info.n_classes, width), dtype=np.float32)
        self.scatter = np.zeros((width, width), dtype=np.float32)  # the upper triangle is used
        self._readout: tuple[NDArray, NDArray] | None = None

    def _width(self) -> int:
        return self.info.n_features

    @property
    def covariance(self) -> NDArray[np.float32]:
        """Sigma, the pooled within-class covariance of all samples so far."""
        upper = np.triu(self.scatter) / np.float32(max(1, int(self.counts.sum())))
        return upper + np.triu(upper, 1).T

    def _update(self, features: NDArray, y: NDArray[np.int64]) -> int:
        width = self.means.shape[1]
        block = np.empty((_BLOCK, width), np.float32)
        core.update_scatter(features, y, self.means, self.counts, self.scatter, block)
        self._readout = None
        return len(y) * (width + width * (width + 1) // 2)

    def _scores(self, features: NDArray) -> NDArray:
        weights, bias = self._solved()
        return features @ weights + bias

    def _solved(self) -> tuple[NDArray, NDArray]:
        """`Lambda mu_c` of each class and its offset, kept until the next sample is learned."""
        if self._readout is None:
            shrunk = self.covariance * np.float32(1.0 - self.shrinkage)
            shrunk.flat[:: len(shrunk) + 1] += np.float32(self.shrinkage)
            weights = np.linalg.solve(shrunk, self.means.T)
            self._readout = weights, -0.5 * np.einsum("cd,dc->c", self.means, weights)
        return self._readout

    def _restored(self) -> None:
        self._readout = None

    def _arrays(self) -> dict[str, NDArray]:
        return {"means": self.means, "scatter": self.scatter}

    def state(self) -> dict[str, NDArray]:
        """The arrays; of the scatter, which is symmetric, the upper triangle, row by row."""
        return super().state() | {"scatter": self.scatter[np.triu_indices(len(self.scatter))]}

    def restore(self, state: dict[str, NDArray]) -> None:
        width = len(self.scatter)
        packed, whole = np.asarray(state.get("scatter", ())), np.zeros_like(self.scatter)
        if packed.shape != (width * (width + 1) // 2,):
            raise ConfigError(f"state array 'scatter' has shape {packed.shape}: expected ({width * (width + 1) // 2},)")
        whole[np.triu_indices(width)] = packed
        super().restore({**state, "scatter": whole})

    @property
    def state_bytes(self) -> int:
        width = len(self.scatter)
        return super().state_bytes - self.scatter.itemsize * (width * (width - 1) // 2)
