"""The learner of the first ablation keeps the promises of every learner and sees Kenyon's own features."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra 'baselines'")

import torch

from kenyon.data.protocol import StreamInfo
from kenyon.data.streams import Curriculum
from kenyon.errors import ConfigError
from kenyon.lab.evaluation import RunConfig, run
from kenyon.learners.baselines import FeatureMLP
from kenyon.testing import check_learner
from making import sparse_units

pytestmark = pytest.mark.slow

NAME = "kenyon.learners.baselines:FeatureMLP"
SMALL = {"n_hidden": 300, "hidden": (32, 32)}


def test_it_is_a_learner() -> None:
    check_learner(partial(FeatureMLP, **SMALL))


def test_the_network_sees_the_sparse_features() -> None:
    info = StreamInfo((8, 8), 10, (tuple(range(10)),), 100, False, (0.0, 16.0))
    learner = FeatureMLP(info, 3, inhibitory=0.5, **SMALL)
    samples = np.random.default_rng(0).integers(0, 17, (150, 64)).astype(np.uint8)
    x_e = learner.normalise(torch.from_numpy(samples)).numpy()
    projection = sparse_units(64, 300, round(0.04 * 64), inhibitory=0.5, threshold=1.257, seed=3)
    for row in (0, 31, 149):
        units, values, counts = projection.activate(samples[row : row + 1], projection.workspace())
        expected = np.zeros(300, np.float32)
        expected[units[0, : counts[0]]] = values[0, : counts[0]]
        np.testing.assert_allclose(x_e[row], expected, atol=1e-6)
    assert np.allclose(np.linalg.norm(x_e, axis=1), 1.0) and (x_e > 0).mean() < 0.25
    assert learner.info == replace(info)


def test_it_learns_the_digits() -> None:
    options = {"n_hidden": 500, "density": 0.1, "hidden": [64, 64]}
    config = RunConfig("digits", NAME, Curriculum("single-task", epochs=3.0), options, tests="last")
    assert (run(config, [0]).summary("accuracy").mean or 0) > 0.85


def test_a_density_that_is_no_share_is_refused() -> None:
    info = StreamInfo((8, 8), 10, (tuple(range(10)),), 100, False, (0.0, 16.0))
    with pytest.raises(ConfigError, match=r"density is 3"):
        FeatureMLP(info, 0, density=3)
