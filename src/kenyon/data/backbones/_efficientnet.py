"""EfficientNet-Lite, as the package `efficientnet-lite-pytorch` defines it.

The features are the mean over the image of the last convolution's 1280 channels.

References: Tan and Le, "EfficientNet: rethinking model scaling for convolutional neural networks", 2019;
Liu, "Higher accuracy on vision models with EfficientNet-Lite", 2020.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from kenyon.errors import require


class Lite(nn.Module):
    """Images to pooled features; loads and saves the weights of the network inside."""

    def __init__(self, number: int) -> None:
        super().__init__()
        package = require("efficientnet_lite_pytorch", "backbones", "EfficientNet-Lite")
        self.network = package.EfficientNet.from_name(f"efficientnet-lite{number}")

    def forward(self, x: Tensor) -> Tensor:
        return self.network.extract_features(x).mean((2, 3))

    def state_dict(self, *args: Any, **options: Any) -> Any:
        return self.network.state_dict(*args, **options)

    def load_state_dict(self, *args: Any, **options: Any) -> Any:
        return self.network.load_state_dict(*args, **options)


def lite0() -> Lite:
    return Lite(0)


def lite1() -> Lite:
    return Lite(1)


def lite2() -> Lite:
    return Lite(2)
