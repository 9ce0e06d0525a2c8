"""`Pretrained`: a frozen network between the images and the learner, its features kept on disk.

    u (an image)  ->  backbone  ->  pooled features, float32  ->  the learner's own feature layer

The network never learns. It sees every image once; from then on its features are read from the cache.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kenyon.data.backbones._cache import Blocks, CachedFeatures, cached_features
from kenyon.data.backbones._config import BackboneConfig
from kenyon.data.backbones._images import ImagePipeline, find_normalisation
from kenyon.data.backbones._onnx import OnnxNetwork
from kenyon.data.backbones._open import NetworkSource
from kenyon.errors import require
from kenyon.utils.system import find_data_dir, n_cores

BLOCK = 256
"""Images between two reports of progress."""

FORMAT = 1
"""Raised when the same configuration gives other features than before, so that old caches are left aside."""

Progress = Callable[[int, int], None]
"""Called with the images done and the images in all."""


class Images(Protocol):
    """Flat images, `(n, pixels)`: an array, or anything that reads like one in slices."""

    @property
    def dtype(self) -> Any: ...

    @property
    def shape(self) -> Any: ...

    def __len__(self) -> int: ...

    def __getitem__(self, key: slice, /) -> NDArray: ...


def _silent(done: int, total: int) -> None:
    """No report."""


class Pretrained:
    """A backbone for images of one shape.

    Args:
        backbone: a name, an `.onnx` file, `module:function`, or a table of the arguments of `BackboneConfig`.
        shape: of an image, `(3, height, width)`; `(height, width)` if the configuration says `greyscale="repeat"`.
        value_range: darkest and brightest value of a pixel.
        data_dir: where the cache and downloaded weights are; None for the usual place.
        threads: how many look at images at once; None for every processor. Changes no result.

    Example:
        >>> import numpy as np
        >>> backbone = Pretrained("efficientnet-lite0", shape=(3, 32, 32))
        >>> backbone.transform(np.zeros((2, 3 * 32 * 32), np.uint8)).shape
        (2, 1280)
    """

    def __init__(
        self,
        backbone: str | Mapping[str, Any] | BackboneConfig,
        shape: Sequence[int],
        value_range: tuple[float, float] = (0.0, 255.0),
        *,
        data_dir: str | Path | None = None,
        threads: int | None = None,
    ) -> None:
        self.config = backbone if isinstance(backbone, BackboneConfig) else BackboneConfig.from_value(backbone)
        assert self.config.resolution is not None  # filled in by the configuration
        self._mean_std = find_normalisation(self.config.normalisation)
        self._pipeline = ImagePipeline(
            shape,
            value_range,
            self.config.resolution,
            self.config.interpolation,
            self._mean_std,
            self.config.greyscale,
        )
        self._about = {"shape": list(shape), "value_range": [float(value) for value in value_range]}
        self._data_dir = find_data_dir(data_dir)
        self._source = NetworkSource(self.config, self._data_dir)
        self._threads = threads or n_cores()

    def module(self) -> Any:
        """The network as an `nn.Module` of its own, where it is not an ONNX file."""
        return self._source.module()

    def prepare(self, X: NDArray) -> NDArray[np.float32]:
        """Flat images as the input of the network: `(n, 3, resolution, resolution)`."""
        return self._pipeline(X)

    @cached_property
    def network(self) -> OnnxNetwork:
        return self._source.open()

    @property
    def label(self) -> str:
        """A short readable name."""
        return Path(self.config.name).stem

    @property
    def nbytes(self) -> int:
        """Bytes of the network, without the classifier it was trained with."""
        return self.network.nbytes

    def transform(self, X: Images, progress: Progress = _silent) -> NDArray[np.float32]:
        """Features of flat images, `(n, pixels)` to `(n, n_features)`."""
        return np.concatenate(list(self._blocks(X, progress)))

    def cached(self, X: Images, label: str, progress: Progress = _silent) -> CachedFeatures:
        """Features of flat images from the cache, where they are put if they are not there.

        Args:
            X: `(n, pixels)`; may be memory-mapped, it is read in blocks.
            label: the beginning of the name of the cache file.
            progress: called with the number of images done and in total.
        """

        def make() -> tuple[Blocks, int]:
            return self._blocks(X, progress), self.nbytes

        folder = self._data_dir / "cache" / "features"
        return cached_features(folder, label, self.identity(X), len(X), make)

    def identity(self, X: Images) -> dict[str, Any]:
        """Everything that determines the features of `X`: images and network by content, and the preparation."""
        mean, std = self._mean_std
        return {
            "format": FORMAT,
            "images": _sum(X),
            **self._about,
            **self._source.identity,
            "resolution": self.config.resolution,
            "interpolation": self.config.interpolation,
            "mean": list(mean),
            "std": list(std),
            "greyscale": self.config.greyscale,
        }

    def _blocks(self, X: Images, progress: Progress) -> Iterator[NDArray[np.float32]]:
        """Each thread takes a batch from pixels to features on its own, which keeps all of them busy."""
        threadpoolctl = require("threadpoolctl", "backbones", "a backbone")
        n, batch = len(X), self.network.batch
        stride = max(1, BLOCK // batch) * batch

        def look(some: NDArray) -> NDArray[np.float32]:
            return self.network(self.prepare(some))

        with ThreadPoolExecutor(self._threads) as pool:
            for start in range(0, n, stride):
                block = np.asarray(X[start : start + stride])
                # threads within a small product gain nothing and would compete with ours
                with threadpoolctl.threadpool_limits(1, "blas"):
                    features = list(pool.map(look, [block[i : i + batch] for i in range(0, len(block), batch)]))
                yield np.concatenate(features)
                progress(min(start + stride, n), n)


def _sum(X: Images) -> str:
    """SHA-256 of the samples' type and bytes, read block by block."""
    digest = hashlib.sha256(f"{np.dtype(X.dtype).str} {tuple(X.shape)}".encode())
    for start in range(0, len(X), 1024):
        digest.update(np.ascontiguousarray(X[start : start + 1024]).data)
    return digest.hexdigest()
