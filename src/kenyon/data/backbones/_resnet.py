"""Residual networks in the layout of torchvision's weights files: ResNet-18, ResNet-50 (two of them), wide ResNet-50-2.

    block(x) = ReLU(F(x) + shortcut(x))

F is two 3x3 convolutions (basic) or 1x1, 3x3, 1x1 (bottleneck, four times as wide at its end). "Wide" doubles
the channels of the middle convolution. Where a stage halves the image, the 3x3 convolution of a bottleneck strides, in
Keras' network the 1x1 before it. The names of the parts are those of the files, so that these load.

References: He et al., "Deep residual learning for image recognition", 2016; Zagoruyko and Komodakis, "Wide
residual networks", 2016.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from kenyon.data.backbones._table import RESNET_50


def _conv(inputs: int, outputs: int, kernel: int, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False)


class Residual(nn.Module):
    """A chain of convolutions, each with its batch norm, around which the input is carried.

    Args:
        inputs: channels that come in.
        widths: channels after each convolution.
        kernels: their sizes.
        strides: their strides.
    """

    def __init__(self, inputs: int, widths: list[int], kernels: list[int], strides: list[int]) -> None:
        super().__init__()
        self._n = len(widths)
        channels = [inputs, *widths]
        for i in range(self._n):
            setattr(self, f"conv{i + 1}", _conv(channels[i], channels[i + 1], kernels[i], strides[i]))
            setattr(self, f"bn{i + 1}", nn.BatchNorm2d(channels[i + 1]))
        stride = max(strides)
        if stride > 1 or inputs != widths[-1]:
            self.downsample: nn.Module = nn.Sequential(_conv(inputs, widths[-1], 1, stride), nn.BatchNorm2d(widths[-1]))
        else:
            self.downsample = nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        y = x
        for i in range(1, self._n + 1):
            y = getattr(self, f"bn{i}")(getattr(self, f"conv{i}")(y))
            if i < self._n:
                y = torch.relu(y)
        return torch.relu(y + self.downsample(x))


class ResNet(nn.Module):
    """Images to pooled features; the classifier `fc` is there for the sake of the weights file.

    Args:
        depths: blocks in each of the four stages.
        bottleneck: blocks of three convolutions, not two.
        width: channels of a bottleneck's middle convolution, as a multiple of the usual ones.
        first_strides: whether the first convolution of a bottleneck strides, not the middle one.
    """

    def __init__(
        self, depths: tuple[int, int, int, int], bottleneck: bool, width: int = 1, first_strides: bool = False
    ) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 64, 7, 2, padding=3, bias=False), nn.BatchNorm2d(64)
        self.maxpool = nn.MaxPool2d(3, 2, padding=1)
        inputs = 64
        for stage, depth in enumerate(depths):
            base, blocks = 64 * 2**stage, []
            for number in range(depth):
                stride = 2 if stage and number == 0 else 1
                if bottleneck:
                    strides = [stride, 1, 1] if first_strides else [1, stride, 1]
                    block = Residual(inputs, [base * width, base * width, 4 * base], [1, 3, 1], strides)
                else:
                    block = Residual(inputs, [base, base], [3, 3], [stride, 1])
                blocks.append(block)
                inputs = 4 * base if bottleneck else base
            setattr(self, f"layer{stage + 1}", nn.Sequential(*blocks))
        self._stages = len(depths)
        self.fc = nn.Linear(inputs, 1000)

    def forward(self, x: Tensor) -> Tensor:
        x = self.maxpool(torch.relu(self.bn1(self.conv1(x))))
        for stage in range(self._stages):
            x = getattr(self, f"layer{stage + 1}")(x)
        return x.mean((2, 3))


def resnet18() -> ResNet:
    return ResNet((2, 2, 2, 2), bottleneck=False)


def resnet50() -> ResNet:
    return ResNet(RESNET_50, bottleneck=True)


def resnet50_keras() -> ResNet:
    return ResNet(RESNET_50, bottleneck=True, first_strides=True)


def wide_resnet50_2() -> ResNet:
    return ResNet(RESNET_50, bottleneck=True, width=2)
