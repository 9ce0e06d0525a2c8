"""Small networks for the tests of backbones, and images to show them."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from kenyon.data.streams import Dataset, from_arrays

SHAPE = (3, 12, 10)


class Tiny(nn.Module):
    """A convolution with its batch norm, pooled to four features."""

    def __init__(self, seed: int = 0, pooled: bool = True) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.conv, self.bn, self.pooled = nn.Conv2d(3, 4, 3, 2), nn.BatchNorm2d(4), pooled
        for value in self.state_dict().values():
            if value.dtype == torch.float32:
                value.copy_(torch.rand(value.shape, generator=generator) + 0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.bn(self.conv(x)))
        return y.mean((2, 3)) if self.pooled else y


def net() -> nn.Module:
    return Tiny()


def map_net() -> nn.Module:
    """The same network without its pooling."""
    return Tiny(pooled=False)


def other_net() -> nn.Module:
    return Tiny(seed=1)


def broken_net() -> nn.Module:
    """Takes vectors, not images."""
    return nn.Linear(7, 2)


def endless_net() -> nn.Module:
    """A network whose features are not numbers."""
    module = Tiny()
    module.bn.weight.data.fill_(torch.nan)
    return module


def no_net() -> str:
    return "not a network"


def images(n: int, seed: int = 0, shape: tuple[int, ...] = SHAPE) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, (n, *shape), dtype=np.uint8).reshape(n, -1)


def dataset(n: int = 60, shape: tuple[int, ...] = SHAPE) -> Dataset:
    """Random images of six classes, each class of its own brightness."""
    y = np.arange(n) % 6
    X = images(n, 0, shape) // 4 + (30 * y).astype(np.uint8)[:, None]
    return from_arrays(X.reshape(n, *shape), y, X[: n // 2].reshape(-1, *shape), y[: n // 2], name="blobs")
