"""A search on the features of a backbone: the runs see features, and what is left behind names the network."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra 'baselines'")
pytest.importorskip("onnxruntime", reason="needs the extra 'backbones'")

from kenyon.data.streams import Curriculum
from kenyon.lab.evaluation import RunConfig, run
from kenyon.lab.search import DONE, FAILED, evaluate, make_objective, search
from kenyon.paper.transfer import default_targets, load_source, parse_target

pytestmark = pytest.mark.slow

OPTIONS = {"rule": "mse", "n_hidden": 60, "density": 2}
SPACE = '[rule]\nvalues = ["mse"]\n[n_hidden]\nlow = 50\nhigh = 60\n[density]\nvalues = [2]\n'


@pytest.fixture
def backbone(monkeypatch: pytest.MonkeyPatch) -> dict:
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "backbones")
    return {"name": "tiny_net:net", "resolution": 12, "normalisation": "unit"}


@pytest.fixture
def images(backbone: dict, tmp_path: Path) -> str:
    import tiny_net

    ds, path = tiny_net.dataset(400), tmp_path / "blobs.npz"
    shape = (-1, *tiny_net.SHAPE)
    np.savez(
        path,
        X_train=ds.train.X.reshape(shape),
        y_train=ds.train.y,
        X_test=ds.test.X.reshape(shape),
        y_test=ds.test.y,
    )
    return str(path)


def test_an_evaluation_learns_the_features(backbone: dict, images: str, tmp_path: Path) -> None:
    data_dir = str(tmp_path / "data")
    given = {"backbone": backbone, "data_dir": data_dir, "chance_after": 1.0}
    objective = make_objective(images, "single-task", holdout=0.2, **given)
    outcome = evaluate(objective, OPTIONS)
    stream = Curriculum("single-task", epochs=0.5, holdout=0.2)
    wanted = run(RunConfig(images, "kenyon", stream, OPTIONS, backbone=backbone), (0,), data_dir=data_dir)
    assert outcome.status == DONE and outcome.accuracy == wanted.summary("accuracy").mean
    too_many = evaluate(objective, OPTIONS | {"density": 5})  # the network has four features, the images 360 pixels
    assert too_many.status == FAILED and "4" in too_many.reason


def test_the_best_configuration_names_the_network_and_can_be_carried_over(
    backbone: dict, images: str, tmp_path: Path
) -> None:
    objective = make_objective(
        images, "single-task", holdout=0.2, backbone=backbone, data_dir=str(tmp_path / "data"), chance_after=1.0
    )
    result = search(objective, tmp_path / "found", evals=2, method="random", space=SPACE)
    assert result.best is not None
    best = tomllib.loads((tmp_path / "found" / "best.toml").read_text())
    assert best["backbone"] == RunConfig(images, backbone=backbone).backbone
    asked = tomllib.loads((tmp_path / "found" / "search.toml").read_text())
    assert asked["objective"]["backbone"] == backbone
    source = load_source(str(tmp_path / "found" / "best.toml"))
    assert source.backbone == "tiny_net:net"
    assert {target.backbone for target in default_targets([source])} == {"tiny_net:net"}


def test_a_target_with_a_backbone_as_text() -> None:
    target = parse_target("cifar10+efficientnet-lite0/single-task@1")
    assert (target.dataset, target.backbone, target.epochs) == ("cifar10", "efficientnet-lite0", 1.0)
    assert str(target) == "cifar10+efficientnet-lite0/single-task@1"
