"""RanDumb: random Fourier features of the raw pixels, then Mahalanobis distance to class means.

    phi(x) = cos(omega x + b),   omega ~ N(0, 2 gamma),  b ~ U(0, 2 pi)
    class  = argmin_c (phi - mu_c)^T [(1 - lambda) S + lambda I]^-1 (phi - mu_c)

where `<phi(x), phi(x')>` approximates the kernel `exp(-gamma ||x - x'||^2)` and S is the shared
covariance, both learned in stream order as in streaming LDA. The paper uses 25,000 features (2.5 GB of
covariance); the default here keeps it at 8 MB, as a triangle.

Reference: A. Prabhu, S. Sinha, P. Kumaraguru, P. Torr, O. Sener, P. Dokania, "RanDumb: random
representations outperform online continually learned representations", NeurIPS 2024.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.data.protocol import StreamInfo
from kenyon.errors import ConfigError
from kenyon.learners.baselines._slda import StreamingLDA


class RanDumb(StreamingLDA):
    """Streaming LDA on random Fourier features.

    Args:
        n_features: how many random features.
        gamma: width of the kernel, for pixels scaled to 0..1.
        shrinkage: lambda, the share of the identity in the covariance.
        batch_size: how often predictions are refreshed while testing before learning.
    """

    name = "randumb"
    defaults: ClassVar[dict[str, float]] = {"gamma": 0.005, "shrinkage": 1e-4}

    def __init__(
        self,
        info: StreamInfo,
        seed: int,
        *,
        n_features: int = 2000,
        gamma: float | None = None,
        shrinkage: float | None = None,
        batch_size: int = 500,
    ) -> None:
        if n_features < 1:
            raise ConfigError(f"n_features is {n_features}; it must be at least 1")
        self._n_random = int(n_features)
        super().__init__(info, seed, shrinkage=shrinkage, batch_size=batch_size)
        gamma = self.option("gamma", gamma)
        if not gamma > 0.0:
            raise ConfigError(f"gamma is {gamma}; it must be positive")
        random = np.random.default_rng(seed)
        shape = (info.n_features, self._n_random)
        self._omega = random.standard_normal(shape, dtype=np.float32) * np.float32(np.sqrt(2.0 * gamma))
        self._phase = random.uniform(0.0, 2.0 * np.pi, self._n_random).astype(np.float32)

    def _width(self) -> int:
        return self._n_random

    @property
    def feature_operations(self) -> int:
        return self.info.n_features * (1 + self._n_random)

    def _embed(self, X: NDArray[np.float32]) -> NDArray[np.float32]:
        angles = np.tile(self._phase, (len(X), 1))
        core.add_product(X, self._omega, angles)  # in one order: a product of the linear algebra depends on the block
        return np.cos(angles, out=angles)
