"""Weights files: round trips, and every way in which one can be the wrong one."""

from __future__ import annotations

import hashlib
import pickle
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra 'baselines'")
pytest.importorskip("onnxruntime", reason="needs the extra 'backbones'")

from kenyon.data.backbones import BACKBONES, BackboneConfig, Pretrained  # noqa: E402
from kenyon.data.backbones._resnet import resnet18, wide_resnet50_2  # noqa: E402
from kenyon.data.backbones._weights import find_weights, load_weights  # noqa: E402
from kenyon.errors import ConfigError, DataError, MissingExtraError, ModelFileError  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ResNet-18 with random weights as a `.pth` file."""
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("weights") / "resnet18.pth"
    torch.save(resnet18().state_dict(), path)
    return path


def small(path: Path, **options: object) -> Pretrained:
    return Pretrained({"name": "resnet18", "weights": str(path), "resolution": 32, **options}, (3, 8, 8))


IMAGES = np.random.default_rng(0).integers(0, 256, (3, 192), dtype=np.uint8)


def test_a_weights_file_comes_back_as_the_network_it_was(saved: Path) -> None:
    module = resnet18()
    module.load_state_dict(torch.load(saved, weights_only=True))
    mean, std = (torch.tensor(v)[:, None, None] for v in ((123.675, 116.28, 103.53), (58.395, 57.12, 57.375)))
    shown = torch.nn.functional.interpolate(
        torch.tensor(IMAGES.reshape(-1, 3, 8, 8)).float(), (32, 32), mode="bilinear"
    )
    with torch.no_grad():
        wanted = module.eval()((shown - mean) / std).numpy()
    np.testing.assert_allclose(small(saved).transform(IMAGES), wanted, rtol=1e-3, atol=1e-5)


def test_the_wide_networks_file_round_trips(tmp_path: Path) -> None:
    torch.manual_seed(0)
    module, path = wide_resnet50_2(), tmp_path / "wide.pth"
    torch.save(module.state_dict(), path)
    assert path.stat().st_size > 4 * 68_883_240
    other = wide_resnet50_2()
    load_weights(other, path, "wide_resnet50_2")
    assert all(torch.equal(a, b) for a, b in zip(module.parameters(), other.parameters(), strict=True))


def test_files_without_batch_counters_load(saved: Path, tmp_path: Path) -> None:
    state = torch.load(saved, weights_only=True)
    torch.save({k: v for k, v in state.items() if not k.endswith("num_batches_tracked")}, tmp_path / "old.pth")
    np.testing.assert_array_equal(small(tmp_path / "old.pth").transform(IMAGES), small(saved).transform(IMAGES))


def test_another_architecture_is_refused_by_its_parts(saved: Path) -> None:
    with pytest.raises(ModelFileError, match=r"not of a resnet50: .*layer1.0.*expected.* and \d+ more"):
        Pretrained({"name": "resnet50", "weights": str(saved)}, (3, 8, 8)).transform(IMAGES)


@pytest.mark.parametrize("kept", [0, 100, 0.5, 0.999])
def test_a_file_cut_short_is_refused(saved: Path, tmp_path: Path, kept: float) -> None:
    content, path = saved.read_bytes(), tmp_path / "cut.pth"
    path.write_bytes(content[: int(kept if kept > 1 else kept * len(content))])
    with pytest.raises(ModelFileError, match=r"cut\.pth is cut short, damaged"):
        small(path).transform(IMAGES)


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
def test_nothing_in_a_file_is_run(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple:
            return Path.touch, (tmp_path / "ran",)

    for name, write in (("zip.pth", torch.save), ("old.pth", lambda o, p: p.write_bytes(pickle.dumps(o)))):
        write({"conv1.weight": Bomb()}, tmp_path / name)
        with pytest.raises(ModelFileError, match="no plain dictionary of tensors"):
            small(tmp_path / name).transform(IMAGES)
    torch.save([1, 2], tmp_path / "list.pth")
    with pytest.raises(ModelFileError, match="holds no dictionary of tensors"):
        small(tmp_path / "list.pth").transform(IMAGES)
    assert not (tmp_path / "ran").exists()


def test_checksums_are_checked_and_filled_in(saved: Path, tmp_path: Path) -> None:
    right = hashlib.sha256(saved.read_bytes()).hexdigest()
    assert BackboneConfig("resnet18", weights=str(saved)).sha256 == right
    assert BackboneConfig("resnet18", weights=str(saved), sha256=right[:8].upper()).sha256 == right
    with pytest.raises(ModelFileError, match=f"{right}, {'ab' * 4} was expected"):
        BackboneConfig("resnet18", weights=str(saved), sha256="ab" * 4)
    moved = tmp_path / "moved.pth"
    moved.write_bytes(saved.read_bytes())
    backbone = small(moved)
    moved.write_bytes(moved.read_bytes()[:-1] + b"x")  # replaced between the check and the use
    with pytest.raises(ModelFileError, match="was expected: it is damaged or another file"):
        backbone.transform(IMAGES)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"name": "resnet81"}, "unknown backbone 'resnet81'.*did you mean 'resnet18'"),
        ({"name": 3}, "backbone is 3"),
        ({"weigths": "x"}, "unknown backbone key 'weigths'.*did you mean 'weights'"),
        ({"sha256": "abc"}, "8 to 64 hexadecimal"),
        ({"sha256": "a" * 64}, "without a weights file"),
        ({"resolution": 0}, "resolution is 0"),
        ({"resolution": 32.5}, "resolution is 32.5"),
        ({"interpolation": "linear"}, "did you mean 'bilinear'"),
        ({"normalisation": "imagnet"}, "did you mean 'imagenet'"),
        ({"greyscale": "repeated"}, "did you mean 'repeat'"),
        ({"name": "a:b", "resolution": 32}, "normalisation is not given: say what 'a:b'"),
        ({"name": "a:b", "normalisation": "unit"}, "resolution is not given"),
        ({"name": "a:b", "weights": "x"}, "brings its own"),
    ],
)
def test_a_configuration_that_makes_no_sense(values: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        BackboneConfig.from_value(values)


def test_a_configuration_names_what_the_network_was_trained_with() -> None:
    lite = BackboneConfig.from_value("efficientnet-lite0")
    assert (lite.resolution, lite.normalisation, lite.interpolation) == (128, "tensorflow", "bilinear")
    wide = BackboneConfig.from_value({"name": "wide_resnet50_2", "resolution": 64})
    assert (wide.resolution, wide.normalisation) == (64, "imagenet")
    assert BackboneConfig.from_value(wide.to_dict()) == wide


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.pth cannot be read"):
        BackboneConfig("resnet18", weights=str(tmp_path / "none.pth"))
    spec = replace(BACKBONES["efficientnet-lite0"], package="no_such_package")
    with pytest.raises(MissingExtraError, match=r"no_such_package.*kenyon\[backbones\]"):
        find_weights(spec, tmp_path)


# ---- downloading, from a server of our own


@pytest.fixture
def server(saved: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(saved.parent))) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_address[1]}"
        http.shutdown()


def test_weights_are_fetched_once_and_checked(server: str, saved: Path, tmp_path: Path) -> None:
    pytest.importorskip("pooch", reason="needs the extra 'data'")
    right = hashlib.sha256(saved.read_bytes()).hexdigest()
    spec = replace(BACKBONES["resnet18"], url=f"{server}/resnet18.pth", sha256=right[:8])
    path = find_weights(spec, tmp_path)
    assert path == tmp_path / "weights" / spec.file
    assert path.read_bytes() == saved.read_bytes()
    assert find_weights(replace(spec, url="http://127.0.0.1:9/none"), tmp_path) == path
    assert [entry.name for entry in path.parent.iterdir()] == [spec.file]


@pytest.mark.parametrize("url", ["{server}/resnet18.pth", "{server}/none.pth", "http://127.0.0.1:9/none"])
def test_a_failed_download_leaves_nothing_and_says_what_to_do(server: str, tmp_path: Path, url: str) -> None:
    pytest.importorskip("pooch", reason="needs the extra 'data'")
    spec = replace(BACKBONES["resnet18"], url=url.format(server=server), sha256="0" * 8)
    with pytest.raises(DataError, match="--backbone-weights resnet18-"):
        find_weights(spec, tmp_path)
    assert list((tmp_path / "weights").iterdir()) == []
