"""Weights, graphs and cached features that were made to do harm."""

from __future__ import annotations

import json
import os
import random
import zipfile
from pathlib import Path

import numpy as np
import pytest

from fuzz.mutate import mutated_bytes
from kenyon.data.backbones import BackboneConfig, DamagedCacheWarning
from kenyon.data.backbones._cache import cached_features
from kenyon.data.backbones._onnx import OnnxNetwork
from kenyon.data.backbones._weights import load_weights, sha256_of
from kenyon.errors import DataError, KenyonError, ModelFileError

pytestmark = pytest.mark.slow

torch = pytest.importorskip("torch", reason="needs the extra 'baselines'")
onnx = pytest.importorskip("onnx", reason="needs the extra 'backbones'")


def _module() -> object:
    return torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
@pytest.mark.parametrize("zipped", [True, False])
def test_damaged_weights_are_refused_by_name(zipped: bool, tmp_path: Path) -> None:
    """PyTorch raises IndexError, OverflowError, UnicodeDecodeError and more over them."""
    path, module = tmp_path / "weights.pth", _module()
    torch.save(module.state_dict(), path, _use_new_zipfile_serialization=zipped)
    whole, rng, refused = path.read_bytes(), random.Random(0), 0
    for _ in range(300):
        path.write_bytes(mutated_bytes(whole, rng))
        try:
            load_weights(module, path, "a net")
        except ModelFileError as error:
            assert str(path) in str(error)
            refused += 1
    assert refused > 100


def test_weights_that_are_packed_or_no_file(tmp_path: Path) -> None:
    path, module = tmp_path / "weights.pth", _module()
    torch.save(module.state_dict(), path)
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(tmp_path / "packed.pth", "w", zipfile.ZIP_DEFLATED) as packed:
        for name in whole.namelist():
            packed.writestr(name, whole.read(name))
    with pytest.raises(ModelFileError, match="compressed"):
        load_weights(module, tmp_path / "packed.pth", "a net")
    os.mkfifo(tmp_path / "pipe.onnx")
    for place in (tmp_path / "pipe.onnx", tmp_path):
        with pytest.raises(DataError, match="expected a file"):
            sha256_of(place)
    with pytest.raises(DataError, match="expected a file"):
        BackboneConfig(str(tmp_path / "pipe.onnx"), resolution=8, normalisation="unit")


@pytest.mark.parametrize("odd", ["sparse", "meta", "expanded"])
def test_tensors_of_odd_kinds_are_refused(odd: str, tmp_path: Path) -> None:
    state = _module().state_dict()
    weight = state["0.weight"]
    odd_tensor = {
        "sparse": lambda: weight.to_sparse(),
        "meta": lambda: weight.to("meta"),
        "expanded": lambda: torch.zeros(1).expand(10**12),
    }[odd]()
    torch.save({**state, "0.weight": odd_tensor}, tmp_path / "weights.pth")
    try:
        load_weights(_module(), tmp_path / "weights.pth", "a net")
    except ModelFileError as error:
        assert "weights.pth" in str(error)


def _graph(depth: int = 0) -> bytes:
    """The mean over the image, behind `depth` branches nested into each other."""
    helper = onnx.helper
    kind = onnx.TensorProto.FLOAT
    images = helper.make_tensor_value_info("images", kind, ["n", 3, 8, 8])
    out = helper.make_tensor_value_info("features", kind, None)
    nodes = [helper.make_node("ReduceMean", ["images"], ["features"], axes=[2, 3], keepdims=0)]
    for level in range(depth):
        name = f"out{level}" if level < depth - 1 else "features"
        inner = helper.make_graph(
            nodes, f"g{level}", [], [helper.make_tensor_value_info(nodes[-1].output[0], kind, None)]
        )
        yes = helper.make_node("Constant", [], [f"yes{level}"], value=helper.make_tensor("v", 9, [], [True]))
        nodes = [yes, helper.make_node("If", [f"yes{level}"], [name], then_branch=inner, else_branch=inner)]
    graph = helper.make_graph(nodes, "g", [images], [out])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString()


def test_graphs_that_are_damaged_or_nested_are_refused_or_run() -> None:
    whole, rng = _graph(), random.Random(0)
    images = np.zeros((2, 3, 8, 8), np.float32)
    assert OnnxNetwork(whole, 8, "net.onnx")(images).shape == (2, 3)
    for content in [*(mutated_bytes(whole, rng) for _ in range(150)), _graph(9), b"", b"\x0a" * 10_000]:
        try:
            OnnxNetwork(content, 8, "net.onnx")(images)
        except KenyonError as error:
            assert "net.onnx" in str(error)


def test_cached_features_nested_deep_are_made_again(tmp_path: Path) -> None:
    def features() -> np.ndarray:
        made = iter([np.ones((4, 3), np.float32)])
        return cached_features(tmp_path, "set", {"a": 1}, 4, lambda: (made, 10)).X

    features()
    (file,) = tmp_path.glob("*.safetensors")
    whole, rng = file.read_bytes(), random.Random(0)
    texts = [b"[" * 100_000, b"[" * 60 + b"]" * 60]
    for shape in ([1e400, 1], [2**63, 2**63], ["a", 3], [4, 3, 2], [-4, -3], [4.0, 3.0]):
        texts.append(json.dumps({"__metadata__": {"sha256": ""}, "features": {"shape": shape}}).encode())
    damaged = [len(text).to_bytes(8, "little") + text for text in texts]
    damaged += [content for _ in range(100) if (content := mutated_bytes(whole, rng)) != whole]
    for content in damaged:
        file.write_bytes(content)
        with pytest.warns(DamagedCacheWarning, match=str(file)):
            assert features().tolist() == [[1.0] * 3] * 4
        assert file.read_bytes() == whole
