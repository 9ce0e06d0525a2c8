"""The networks of RPS-Net: layers of parallel modules, of which the active ones are summed.

h_l = ReLU( sum over active m of module_lm(h_{l-1})  + h_{l-1} where the shapes agree )
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from kenyon.learners.baselines._networks import Network


class PathNetwork(Network):
    """Layers of parallel modules.

    `active[l, m]` says which modules are summed, `frozen[l, m]` which belong to earlier tasks: those stay in evaluation
    mode, so that their batch normalisation does not move either.

    Args:
        layers: the modules of each layer.
        width: how many features the last layer gives.
        shape: of an image that is made of a flat sample; `()` where samples stay flat.
    """

    active: Tensor
    frozen: Tensor

    def __init__(
        self, layers: Sequence[Sequence[nn.Module]], width: int, n_classes: int, shape: tuple[int, ...] = ()
    ) -> None:
        super().__init__()
        self.shape = shape
        self.layers = nn.ModuleList(nn.ModuleList(layer) for layer in layers)
        self.head = nn.Linear(width, n_classes)
        size = (len(layers), len(layers[0]))
        self.register_buffer("active", torch.ones(size, dtype=torch.bool))
        self.register_buffer("frozen", torch.zeros(size, dtype=torch.bool))

    def module(self, layer: int, number: int) -> nn.Module:
        return self.get_submodule(f"layers.{layer}.{number}")

    def features(self, x: Tensor) -> Tensor:
        x = x.reshape(-1, *self.shape) if self.shape else x
        for layer, used in enumerate(self.active.tolist()):
            total = torch.stack([self.module(layer, m)(x) for m, on in enumerate(used) if on]).sum(0)
            x = F.relu(total + x if total.shape == x.shape else total)
        return x.mean((2, 3)) if self.shape else x

    def train(self, mode: bool = True) -> PathNetwork:
        super().train(mode)
        if self.frozen.device.type != "meta":
            for place in torch.nonzero(self.frozen).tolist():
                self.module(*place).eval()
        return self


def mlp_paths(n_features: int, hidden: Sequence[int], modules: int, n_classes: int) -> PathNetwork:
    """Modules `ReLU(W x + b)`."""
    layers = [
        [nn.Sequential(nn.Linear(n, m), nn.ReLU()) for _ in range(modules)] for n, m in pairwise([n_features, *hidden])
    ]
    return PathNetwork(layers, hidden[-1], n_classes)


def conv_paths(shape: tuple[int, ...], width: int, modules: int, n_classes: int) -> PathNetwork:
    """The nine layers of the original: a convolution, then blocks of two, `width` filters doubling every two blocks."""
    sizes = [width, width, width, 2 * width, 2 * width, 4 * width, 4 * width, 8 * width, 8 * width]
    layers: list[list[nn.Module]] = [[_convolution(shape[0], width, 1) for _ in range(modules)]]
    for n, m in pairwise(sizes):
        layers.append([_block(n, m) for _ in range(modules)])
    return PathNetwork(layers, sizes[-1], n_classes, shape)


def _convolution(n: int, m: int, stride: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(n, m, 3, stride, 1), nn.BatchNorm2d(m))


def _block(n: int, m: int) -> nn.Sequential:
    return nn.Sequential(*_convolution(n, m, 1 if n == m else 2), nn.ReLU(), *_convolution(m, m, 1))
