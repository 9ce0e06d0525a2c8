"""MobileNetV2 in the layout of torchvision's weights file.

    block(x) = project(depthwise(expand(x)))  [+ x where neither size nor channels change]

`expand` is a 1x1 convolution to six times the channels (left out in the first block), `depthwise` a 3x3 convolution of
each channel, both with a batch norm and ReLU6; `project` is a 1x1 convolution with a batch norm. The names of the parts
are those of the file.

Reference: Sandler et al., "MobileNetV2: inverted residuals and linear bottlenecks", 2018.
"""

from __future__ import annotations

from torch import Tensor, nn

BLOCKS = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
"""Expansion, channels, how many, and the stride of the first of them."""


def _conv(inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(outputs), nn.ReLU6())


class Block(nn.Module):
    """An inverted residual block."""

    def __init__(self, inputs: int, outputs: int, expansion: int, stride: int) -> None:
        super().__init__()
        wide = inputs * expansion
        expand = [_conv(inputs, wide, 1)] * (expansion > 1)
        project = [nn.Conv2d(wide, outputs, 1, bias=False), nn.BatchNorm2d(outputs)]
        self.conv = nn.Sequential(*expand, _conv(wide, wide, 3, stride, groups=wide), *project)
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        return x + self.conv(x) if self.residual else self.conv(x)


class MobileNetV2(nn.Module):
    """Images to pooled features; the classifier is there for the sake of the weights file."""

    def __init__(self) -> None:
        super().__init__()
        parts: list[nn.Module] = [_conv(3, 32, 3, 2)]
        inputs = 32
        for expansion, outputs, depth, stride in BLOCKS:
            for number in range(depth):
                parts.append(Block(inputs, outputs, expansion, stride if number == 0 else 1))
                inputs = outputs
        self.features = nn.Sequential(*parts, _conv(inputs, 1280, 1))
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(1280, 1000))

    def forward(self, x: Tensor) -> Tensor:
        return self.features(x).mean((2, 3))


def mobilenet_v2() -> MobileNetV2:
    return MobileNetV2()
