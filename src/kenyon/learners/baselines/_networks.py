"""The networks of the comparison: an MLP for MNIST-like data, ResNet-18 for small colour images, and a small
convolutional network for memories that are too small for either.

All take flat, normalised samples, give `n_classes` logits, and show `features(x)` (the input of the last layer) and
`head` (the last layer).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from kenyon.data.protocol import StreamInfo
from kenyon.errors import ConfigError, unknown

NETWORKS = ("auto", "mlp", "cnn", "resnet18")
Net = TypeVar("Net", bound=nn.Module)


class Network(nn.Module):
    """Features, then one linear layer."""

    head: nn.Linear

    def features(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.features(x))


class MLP(Network):
    """`x -> [Linear -> ReLU] * len(hidden) -> Linear`."""

    def __init__(self, n_features: int, hidden: Sequence[int], n_classes: int) -> None:
        super().__init__()
        layers = [layer for n, m in pairwise([n_features, *hidden]) for layer in (nn.Linear(n, m), nn.ReLU())]
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear([n_features, *hidden][-1], n_classes)

    def features(self, x: Tensor) -> Tensor:
        return self.body(x)


class CNN(Network):
    """Two convolutions with stride 2 (`width` filters of 5x5, twice as many of 3x3), 2x2 average pooling, Linear."""

    def __init__(self, shape: tuple[int, ...], width: int, n_classes: int) -> None:
        super().__init__()
        self.shape = shape
        self.conv1 = nn.Conv2d(shape[0], width, 5, 2, 2)
        self.conv2 = nn.Conv2d(width, 2 * width, 3, 2, 1)
        places = [max((side + 3) // 4 // 2, 1) for side in shape[1:]]
        self.head = nn.Linear(2 * width * places[0] * places[1], n_classes)

    def features(self, x: Tensor) -> Tensor:
        x = F.relu(self.conv2(F.relu(self.conv1(x.reshape(-1, *self.shape)))))
        return F.avg_pool2d(x, [min(side, 2) for side in x.shape[2:]]).flatten(1)


class Block(nn.Module):
    """Two 3x3 convolutions with batch normalisation and a shortcut (He et al., 2016, Fig. 2)."""

    def __init__(self, n: int, m: int, stride: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(n, m, 3, stride, 1, bias=False), nn.BatchNorm2d(m)
        self.conv2, self.bn2 = nn.Conv2d(m, m, 3, 1, 1, bias=False), nn.BatchNorm2d(m)
        same = stride == 1 and n == m
        self.shortcut = (
            nn.Sequential() if same else nn.Sequential(nn.Conv2d(n, m, 1, stride, bias=False), nn.BatchNorm2d(m))
        )

    def forward(self, x: Tensor) -> Tensor:
        out = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(out + self.shortcut(x))


class ResNet18(Network):
    """Four stages of two blocks, `width` filters doubling at each, after a 3x3 stem; average pooling; Linear.

    The form used for 32x32 images in the online continual learning literature (Lopez-Paz & Ranzato, 2017, with
    width 20; Buzzega et al., 2020, with width 64).
    """

    def __init__(self, shape: tuple[int, ...], width: int, n_classes: int) -> None:
        super().__init__()
        self.shape = shape
        self.stem, self.bn = nn.Conv2d(shape[0], width, 3, 1, 1, bias=False), nn.BatchNorm2d(width)
        stages = [width, width, 2 * width, 4 * width, 8 * width]
        self.stages = nn.Sequential(
            *(
                nn.Sequential(Block(n, m, 1 if i == 0 else 2), Block(m, m, 1))
                for i, (n, m) in enumerate(pairwise(stages))
            )
        )
        self.head = nn.Linear(stages[-1], n_classes)

    def features(self, x: Tensor) -> Tensor:
        x = F.relu(self.bn(self.stem(x.reshape(-1, *self.shape))))
        return self.stages(x).mean((2, 3))


def build_network(
    name: str, info: StreamInfo, generator: torch.Generator, *, hidden: Sequence[int], width: int
) -> Network:
    """The network called `name` for the stream, its weights drawn from `generator`."""
    if name not in NETWORKS:
        raise unknown("network", name, NETWORKS)
    image = len(info.shape) == 3
    if name == "auto":
        name = "resnet18" if image and info.shape[0] == 3 else "mlp"
    if name != "mlp" and not image and len(info.shape) != 2:
        raise ConfigError(f"network {name!r} needs images, but a sample has shape {info.shape}: use 'mlp'")
    if any(n < 1 for n in (*hidden, width)):
        raise ConfigError(f"hidden is {tuple(hidden)} and width is {width}: expected numbers above 0")

    def make() -> Network:
        if name == "mlp":
            return MLP(info.n_features, hidden, info.n_classes)
        return (CNN if name == "cnn" else ResNet18)(info.shape if image else (1, *info.shape), width, info.n_classes)

    net = drawn(make, generator)
    # The same weights in another order in memory are faster (benchmarks/resnet_batch.py). With AVX2 alone, the backward
    # pass of PyTorch 2.13 then writes beyond its buffers in narrow networks, and the process dies.
    if isinstance(net, ResNet18) and torch.backends.cpu.get_cpu_capability() == "AVX512":
        for weights in (p for p in net.parameters() if p.dim() == 4):
            weights.data = weights.data.contiguous(memory_format=torch.channels_last)
    return net


def convolutional(name: str, info: StreamInfo) -> bool:
    """Whether a method with networks of its own uses its convolutional one: as asked, or for three-channel images."""
    if name not in ("auto", "mlp", "cnn"):
        raise unknown("network", name, ("auto", "mlp", "cnn"))
    images = len(info.shape) == 3
    if name == "cnn" and not images:
        raise ConfigError(f"network 'cnn' needs images, but a sample has shape {info.shape}: use 'mlp'")
    return name == "cnn" or (name == "auto" and images and info.shape[0] == 3)


def drawn(make: Callable[[], Net], generator: torch.Generator) -> Net:
    """A network on the host whose weights come from `generator`; nothing is drawn from PyTorch's own."""
    with torch.device("meta"):
        net = make()
    net = net.to_empty(device="cpu")
    initialise(net, generator)
    return net


def initialise(net: nn.Module, generator: torch.Generator) -> None:
    """PyTorch's usual initial weights (uniform, bound 1/sqrt(fan in)), from the generator given."""
    for module in net.modules():
        if isinstance(module, nn.Linear | nn.Conv2d | nn.ConvTranspose2d):
            bound = 1.0 / math.sqrt(module.weight[0].numel())
            nn.init.uniform_(module.weight, -bound, bound, generator=generator)
            if module.bias is not None:
                nn.init.uniform_(module.bias, -bound, bound, generator=generator)
        elif isinstance(module, nn.BatchNorm2d):
            module.reset_running_stats()
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)
        elif isinstance(module, nn.GroupNorm):
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)
