"""The networks that InstAParam gates: blocks of units of an MLP, and the authors' ResNet of nested kernels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from kenyon.learners.baselines._networks import CNN, MLP, Network

ACTIONS = 4
"""Kernels of a block of the ResNet: 7x7, 5x5, 3x3 and 1x1, each the middle of the one before."""


class GatedMLP(MLP):
    """An MLP whose hidden layers are split into blocks of units, with a gate each."""

    def __init__(self, n_features: int, hidden: Sequence[int], n_classes: int, blocks: int) -> None:
        super().__init__(n_features, hidden, n_classes)
        self.gates = (len(hidden), blocks)

    def gated(self, x: Tensor, gates: Tensor) -> Tensor:
        """The output under `gates`, (n, layers, blocks); the same scale whether few or many are open."""
        for number, a in enumerate(gates.unbind(1)):
            h = F.relu(self.body[2 * number](x)).reshape(len(x), a.shape[1], -1)
            share = a / a.mean(1, keepdim=True).clamp(min=1.0 / a.shape[1])
            x = (h * share[:, :, None]).flatten(1)
        return self.head(x)


class NestedBlock(nn.Module):
    """Two convolutions whose kernels are the middles of one 7x7 kernel each; group normalisation; a shortcut."""

    def __init__(self, n: int, m: int, stride: int) -> None:
        super().__init__()
        self.stride = stride
        self.conv1 = nn.Conv2d(n, m, 7, stride, 3, bias=False, groups=4)
        self.conv2 = nn.Conv2d(m, m, 7, 1, 3, bias=False, groups=4)
        self.norm1, self.norm2 = nn.GroupNorm(2, m), nn.GroupNorm(2, m)
        self.same = stride == 1 and n == m
        self.shortcut = nn.Sequential() if self.same else nn.Sequential(nn.Conv2d(n, m, 1, stride), nn.GroupNorm(2, m))

    def action(self, x: Tensor, number: int) -> Tensor:
        """The block with the kernel of this number, 0 for the largest."""
        middle, padding = slice(number, 7 - number), 3 - number
        first, second = (conv.weight[:, :, middle, middle] for conv in (self.conv1, self.conv2))
        out = F.relu(self.norm1(F.conv2d(x, first, None, self.stride, padding, groups=4)))
        out = self.norm2(F.conv2d(out, second, None, 1, padding, groups=4))
        return F.relu(out + self.shortcut(x))

    def forward(self, x: Tensor, gates: Tensor) -> Tensor:
        """The sum of the open actions of each sample; without one, the sample passes (by the 3x3 where it cannot)."""
        outputs = torch.stack([self.action(x, number) for number in range(ACTIONS)], 1)
        total = (outputs * gates[:, :, None, None, None]).sum(1)
        shut = (gates.sum(1) == 0)[:, None, None, None]
        return torch.where(shut, x if self.same else outputs[:, 2], total)


class GatedResNet(Network):
    """ResNet-18's eight blocks, four kernels to choose from in each; `width` filters (a multiple of 4) doubling."""

    gates = (8, ACTIONS)

    def __init__(self, shape: tuple[int, ...], width: int, n_classes: int) -> None:
        super().__init__()
        self.shape = shape
        self.stem, self.norm = nn.Conv2d(shape[0], width, 3, 1, 1, bias=False), nn.GroupNorm(2, width)
        sizes = [width, width, width, 2 * width, 2 * width, 4 * width, 4 * width, 8 * width, 8 * width]
        self.blocks = nn.ModuleList(NestedBlock(n, m, 1 if n == m else 2) for n, m in pairwise(sizes))
        self.head = nn.Linear(sizes[-1], n_classes)

    def gated(self, x: Tensor, gates: Tensor) -> Tensor:
        """The output under `gates`, (n, blocks, actions)."""
        x = F.relu(self.norm(self.stem(x.reshape(-1, *self.shape))))
        for block, own in zip(self.blocks, gates.unbind(1), strict=True):
            x = block(x, own)
        return self.head(x.mean((2, 3)))


def controller_network(n_features: int, shape: tuple[int, ...], hidden: int, gates: tuple[int, int]) -> nn.Sequential:
    """A network that gives the probability of every gate: one hidden layer, or two convolutions for images."""
    n = gates[0] * gates[1]
    first: list[nn.Module] = (
        [CNN(shape, max(hidden // 4, 1), n)]
        if shape
        else [nn.Linear(n_features, hidden), nn.ReLU(), nn.Linear(hidden, n)]
    )
    return nn.Sequential(*first, nn.Sigmoid(), nn.Unflatten(1, gates))
