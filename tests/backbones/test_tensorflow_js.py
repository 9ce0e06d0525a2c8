"""Weights from TensorFlow.js: the files, the names, and the network against Keras' arithmetic in plain NumPy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

torch = pytest.importorskip("torch", reason="needs the extra 'baselines'")

from kenyon.data.backbones import BackboneConfig  # noqa: E402
from kenyon.data.backbones._resnet import RESNET_50, resnet50_keras  # noqa: E402
from kenyon.data.backbones._weights import load_weights  # noqa: E402
from kenyon.data.backbones.tensorflow_js import Arrays, convert, main, read_arrays, resnet50_from_keras  # noqa: E402
from kenyon.errors import ConfigError, DataError, ModelFileError  # noqa: E402


def write_model(folder: Path, arrays: Arrays, shard: int, **changed: Any) -> Path:
    """A model as the converter of TensorFlow.js writes it, in files of `shard` bytes."""
    held = b"".join(np.asarray(value, "<f4").tobytes() for value in arrays.values())
    paths = [f"group1-shard{k + 1}.bin" for k in range(-(-len(held) // shard))]
    for k, name in enumerate(paths):
        (folder / name).write_bytes(held[k * shard : (k + 1) * shard])
    entries = [{"name": name, "shape": list(v.shape), "dtype": "float32"} for name, v in arrays.items()]
    entries[0] |= changed
    model = folder / "model.json"
    model.write_text(json.dumps({"weightsManifest": [{"paths": paths, "weights": entries}]}))
    return model


SMALL: Arrays = {"a/kernel": np.arange(12, dtype=np.float32).reshape(3, 4), "b": np.ones(5, np.float32)}


@pytest.mark.parametrize("shard", [7, 16, 1000])
def test_arrays_are_read_across_files(tmp_path: Path, shard: int) -> None:
    read = read_arrays(write_model(tmp_path, SMALL, shard))
    assert list(read) == list(SMALL)
    for name, value in SMALL.items():
        np.testing.assert_array_equal(read[name], value)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"dtype": "uint8"}, "expected an array of float32 that is not quantized"),
        ({"quantization": {"dtype": "uint8"}}, "not quantized"),
        ({"shape": [3, -4]}, r"shape \[3, -4\]: expected a list of integers"),
        ({"shape": [3, 400]}, "lists 'a/kernel' up to byte 4,800: its files hold 68"),
        ({"shape": [3, 1]}, "lists 32 bytes of weights: its files hold 68"),
    ],
)
def test_files_that_do_not_fit_are_refused(tmp_path: Path, changed: dict[str, Any], why: str) -> None:
    with pytest.raises(ModelFileError, match=why):
        read_arrays(write_model(tmp_path, SMALL, 100, **changed))


def test_other_files_are_refused(tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    with pytest.raises(DataError, match=r"model.json cannot be read: No such file"):
        read_arrays(model)
    for text in ("{}", "no json", '{"weightsManifest": [3]}', "[]"):
        model.write_text(text)
        with pytest.raises(ModelFileError, match=r"is not a model of TensorFlow\.js"):
            read_arrays(model)
    model.write_text('{"weightsManifest": [{"paths": ["../secret"], "weights": []}]}')
    with pytest.raises(ModelFileError, match=r"names the file .*secret.: expected one beside it"):
        read_arrays(model)
    model.write_text('{"weightsManifest": [{"paths": ["gone.bin"], "weights": []}]}')
    with pytest.raises(DataError, match=r"gone.bin cannot be read"):
        read_arrays(model)
    with pytest.raises(ModelFileError, match="has no array 'conv1/kernel': expected ResNet-50 of Keras"):
        resnet50_from_keras(SMALL)
    with pytest.raises(ConfigError, match="1 paths are given"):
        main(["model.json"])
    with pytest.raises(ConfigError, match="weights of 'resnet50-keras' are not given: expected a converted file"):
        BackboneConfig("resnet50-keras")


def keras_arrays() -> Arrays:
    """Random weights under Keras' names, with its shapes, that keep the activity in bounds."""
    rng, arrays = np.random.default_rng(0), {}

    def layer(name: str, norm: str, *shape: int) -> None:
        scale = np.float32(np.sqrt(2.0 / np.prod(shape[:3])))
        arrays[f"{name}/kernel"] = rng.standard_normal(shape, dtype=np.float32) * scale
        low = {"gamma": 0.5, "beta": -0.2, "moving_mean": -0.2, "moving_variance": 0.0}
        arrays[f"{name}/bias"] = rng.random(shape[3], dtype=np.float32) - 0.5
        for part, least in low.items():
            arrays[f"{norm}/{part}"] = rng.random(shape[3], dtype=np.float32) * 0.5 + np.float32(least)

    layer("conv1", "bn_conv1", 7, 7, 3, 64)
    inputs = 64
    for stage, depth in enumerate(RESNET_50, start=2):
        width = 64 * 2 ** (stage - 2)
        for letter in "abcdef"[:depth]:
            at = f"{stage}{letter}_branch"
            layer(f"res{at}2a", f"bn{at}2a", 1, 1, inputs, width)
            layer(f"res{at}2b", f"bn{at}2b", 3, 3, width, width)
            layer(f"res{at}2c", f"bn{at}2c", 1, 1, width, 4 * width)
            if letter == "a":
                layer(f"res{at}1", f"bn{at}1", 1, 1, inputs, 4 * width)
            inputs = 4 * width
    return arrays | {
        "fc1000/kernel": rng.standard_normal((2048, 1000), dtype=np.float32),
        "fc1000/bias": np.zeros(1000, np.float32),
    }


def keras_layers(arrays: Arrays, image: NDArray) -> dict[str, NDArray]:
    """What Keras computes for an image (height, width, blue-green-red): the output of some layers, by name."""

    def conv(x: NDArray, at: str, norm: str, stride: int = 1, pad: int = 0) -> NDArray:
        kernel = arrays[f"{at}/kernel"].astype(np.float64)
        height, width = kernel.shape[:2]
        x = np.pad(x, ((pad, pad), (pad, pad), (0, 0)))
        rows, columns = (x.shape[0] - height) // stride + 1, (x.shape[1] - width) // stride + 1
        y = np.zeros((rows, columns, kernel.shape[3])) + arrays[f"{at}/bias"]
        for i in range(height):
            for j in range(width):
                y += (
                    x[i : i + rows * stride : stride, j : j + columns * stride : stride][:rows, :columns] @ kernel[i, j]
                )
        part = {name: arrays[f"{norm}/{name}"].astype(np.float64) for name in ("gamma", "beta")}
        mean, variance = arrays[f"{norm}/moving_mean"], arrays[f"{norm}/moving_variance"].astype(np.float64)
        return (y - mean) / np.sqrt(variance + 1e-3) * part["gamma"] + part["beta"]

    outputs = {}
    x = outputs["conv1"] = np.maximum(conv(image, "conv1", "bn_conv1", 2, 3), 0)
    padded = np.pad(x, ((1, 1), (1, 1), (0, 0)))
    n = (padded.shape[0] - 3) // 2 + 1
    x = np.max([padded[i : i + 2 * n : 2, j : j + 2 * n : 2][:n, :n] for i in range(3) for j in range(3)], axis=0)
    for stage, depth in enumerate(RESNET_50, start=2):
        for letter in "abcdef"[:depth]:
            at, first = f"{stage}{letter}_branch", letter == "a"
            stride = 2 if first and stage > 2 else 1
            y = np.maximum(conv(x, f"res{at}2a", f"bn{at}2a", stride), 0)
            y = np.maximum(conv(y, f"res{at}2b", f"bn{at}2b", 1, 1), 0)
            y = conv(y, f"res{at}2c", f"bn{at}2c")
            x = np.maximum(y + (conv(x, f"res{at}1", f"bn{at}1", stride) if first else x), 0)
        outputs[f"stage {stage}"] = x
    return outputs | {"features": x.mean((0, 1))}


@pytest.mark.slow
def test_the_converted_network_is_that_of_keras(tmp_path: Path) -> None:
    """Layer by layer: the first convolution, the end of every stage, the pooled features."""
    arrays = keras_arrays()
    weights = tmp_path / "weights.pth"
    convert(write_model(tmp_path, arrays, 1 << 22), weights)
    net = resnet50_keras().eval()
    load_weights(net, weights, "resnet50-keras")
    image = np.random.default_rng(1).standard_normal((64, 64, 3))  # red, green, blue
    seen: dict[str, NDArray] = {}
    for name, module in [("conv1", net.bn1), *((f"stage {k + 1}", getattr(net, f"layer{k}")) for k in range(1, 5))]:
        module.register_forward_hook(lambda _, __, out, name=name: seen.update({name: out[0].relu().numpy()}))
    with torch.no_grad():
        features = net(torch.from_numpy(image.transpose(2, 0, 1)[None]).float())[0].numpy()
    wanted = keras_layers(arrays, image[:, :, ::-1])
    for name, maps in seen.items():
        difference = maps.transpose(1, 2, 0) - wanted[name]
        assert np.linalg.norm(difference) <= 1e-4 * np.linalg.norm(wanted[name]), name
    assert np.linalg.norm(features - wanted["features"]) <= 1e-4 * np.linalg.norm(wanted["features"])
    assert set(seen) == {"conv1", "stage 2", "stage 3", "stage 4", "stage 5"}
