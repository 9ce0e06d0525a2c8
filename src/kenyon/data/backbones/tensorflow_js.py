"""ResNet-50 of Keras, from the files of TensorFlow.js to a weights file in torchvision's layout.

    python -m kenyon.data.backbones.tensorflow_js MODEL.json WEIGHTS.pth

A model of TensorFlow.js is a JSON file, which lists its arrays, and binary files, which hold them one after the other
as little-endian float32. Keras' network differs from torchvision's in four points, none of which changes a number:

    kernel (height, width, in, out)      ->  weight (out, in, height, width)
    conv + bias b, then a batch norm     ->  the norm's mean is m - b
    (x - m) / sqrt(v + 0.001)            ->  v + 0.001 - 0.00001, since torchvision's norm adds 0.00001
    channels blue, green, red            ->  the first kernel's input channels turned round

A fifth one is in the network, not in its weights: the first 1x1 convolution of a stage strides (`resnet50_keras`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.data.backbones._table import RESNET_50
from kenyon.errors import ConfigError, DataError, ModelFileError, require

KERAS_EPSILON, TORCH_EPSILON = 1e-3, 1e-5
Arrays = dict[str, NDArray[np.float32]]


def read_arrays(path: Path) -> Arrays:
    """The arrays of a model of TensorFlow.js, by name.

    Args:
        path: its JSON file; the binary files lie beside it.
    """
    try:
        groups = json.loads(path.read_text(encoding="utf-8"))["weightsManifest"]
        listed = [([str(name) for name in group["paths"]], list(group["weights"])) for group in groups]
    except OSError as error:
        raise DataError(f"the model {path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise ModelFileError(f"{path} is not a model of TensorFlow.js: it has no weightsManifest with paths") from error
    arrays: Arrays = {}
    for names, entries in listed:
        held = b"".join(_read(path, name) for name in names)
        start = 0
        for entry in entries:
            name, shape = _entry(path, entry)
            size = 4 * int(np.prod(shape))
            if start + size > len(held):
                raise ModelFileError(f"{path} lists {name!r} up to byte {start + size:,}: its files hold {len(held):,}")
            arrays[name] = np.frombuffer(held, "<f4", size // 4, start).reshape(shape)
            start += size
        if start != len(held):
            raise ModelFileError(f"{path} lists {start:,} bytes of weights: its files hold {len(held):,}")
    return arrays


def _read(path: Path, name: str) -> bytes:
    if Path(name).name != name:
        raise ModelFileError(f"{path} names the file {name!r}: expected one beside it")
    try:
        return (path.parent / name).read_bytes()
    except OSError as error:
        raise DataError(f"the weights {path.parent / name} cannot be read: {error.strerror}") from error


def _entry(path: Path, entry: Any) -> tuple[str, tuple[int, ...]]:
    if not isinstance(entry, dict) or entry.get("dtype") != "float32" or "quantization" in entry:
        raise ModelFileError(f"{path} lists {str(entry)[:120]}: expected an array of float32 that is not quantized")
    shape = entry.get("shape")
    if not isinstance(shape, list) or not all(type(size) is int and size >= 0 for size in shape):
        raise ModelFileError(f"{path} lists {entry.get('name')!r} of shape {shape!r}: expected a list of integers")
    return str(entry["name"]), tuple(shape)


def resnet50_from_keras(arrays: Arrays) -> Arrays:
    """The arrays of Keras' ResNet-50 under torchvision's names."""
    found: Arrays = {}
    for conv, norm, theirs, their_norm in _names():
        kernel, bias = _get(arrays, f"{theirs}/kernel"), _get(arrays, f"{theirs}/bias")
        weight = kernel.transpose(3, 2, 0, 1)
        found[f"{conv}.weight"] = weight[:, ::-1] if theirs == "conv1" else weight
        found[f"{norm}.weight"] = _get(arrays, f"{their_norm}/gamma")
        found[f"{norm}.bias"] = _get(arrays, f"{their_norm}/beta")
        found[f"{norm}.running_mean"] = _get(arrays, f"{their_norm}/moving_mean") - bias
        moved = np.float32(KERAS_EPSILON - TORCH_EPSILON)
        found[f"{norm}.running_var"] = _get(arrays, f"{their_norm}/moving_variance") + moved
    found["fc.weight"] = _get(arrays, "fc1000/kernel").T
    found["fc.bias"] = _get(arrays, "fc1000/bias")
    return {name: np.array(value, np.float32, order="C") for name, value in found.items()}


def _names() -> Iterator[tuple[str, str, str, str]]:
    """Each convolution and its norm, here and there."""
    yield "conv1", "bn1", "conv1", "bn_conv1"
    for stage, depth in enumerate(RESNET_50, start=2):
        for block in range(depth):
            here, there = f"layer{stage - 1}.{block}", f"{stage}{'abcdef'[block]}_branch"
            if block == 0:
                yield f"{here}.downsample.0", f"{here}.downsample.1", f"res{there}1", f"bn{there}1"
            for number, letter in enumerate("abc", start=1):
                yield f"{here}.conv{number}", f"{here}.bn{number}", f"res{there}2{letter}", f"bn{there}2{letter}"


def _get(arrays: Arrays, name: str) -> NDArray[np.float32]:
    if name not in arrays:
        raise ModelFileError(f"the model has no array {name!r}: expected ResNet-50 of Keras")
    return arrays[name]


def convert(model: Path, out: Path) -> None:
    """Write the weights of Keras' ResNet-50 as the backbone `resnet50-keras` reads them."""
    torch = require("torch", "backbones", "converting weights")
    from kenyon.utils.system import replacing

    arrays = resnet50_from_keras(read_arrays(model))
    with replacing(out) as temporary:
        torch.save({name: torch.from_numpy(value) for name, value in arrays.items()}, temporary)


def main(arguments: list[str]) -> None:
    if len(arguments) != 2:
        raise ConfigError(f"{len(arguments)} paths are given: expected the model's JSON file and the weights to write")
    convert(Path(arguments[0]), Path(arguments[1]))


if __name__ == "__main__":
    main(sys.argv[1:])
