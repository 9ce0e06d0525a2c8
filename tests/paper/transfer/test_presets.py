"""Every preset that is shipped: a whole description, and a classifier that learns."""

from __future__ import annotations

import csv
import tomllib
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from kenyon import KenyonClassifier
from kenyon.data.streams import SCENARIOS, load_dataset
from kenyon.errors import ConfigError
from kenyon.lab.evaluation import RunConfig
from kenyon.lab.search import SPACES, default_space, with_budget
from kenyon.lab.search._search import KAPPA, N_INITIAL
from kenyon.model.presets import load_preset, preset_names
from real_sets import data_dir

SEARCHES = Path(__file__).resolve().parents[3] / "docs" / "searches"


def test_there_are_presets() -> None:
    assert {"mnist", "fashion-mnist", "cifar10", "split-mnist", "split-cifar10"} <= set(preset_names())


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_says_where_it_comes_from_and_learns(name: str) -> None:
    preset = load_preset(name)
    assert preset.scenario in SCENARIOS
    assert {"command", "seed", "evaluations", "held_out_accuracy"} <= set(preset.search)
    assert preset.search["command"].startswith("kenyon search ") and 0.5 < preset.search["held_out_accuracy"] < 1
    RunConfig(preset.dataset, options=preset.options, backbone=preset.backbone)
    units = 100 if "memory_budget" in preset.options else 500
    classifier = KenyonClassifier.from_preset(name, random_state=0, n_hidden=units)
    assert classifier.n_hidden == units and classifier.random_state == 0
    assert KenyonClassifier.from_preset(name).n_hidden == preset.options.get("n_hidden", "auto")
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.integers(0, 60, (60, preset.n_features), dtype=np.uint8)
    X[y == 1, : preset.n_features // 2] += 180
    X[y == 0, preset.n_features // 2 :] += 180
    assert classifier.fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize("name", preset_names())
def test_the_command_of_a_preset_is_that_of_the_search_that_is_kept(name: str) -> None:
    words = load_preset(name).search["command"].split()
    given = dict(pairwise(words))
    kept = SEARCHES / name
    search = tomllib.loads((kept / "search.toml").read_text())
    assert search["seed"] == int(given.get("--seed", 0)) == load_preset(name).search["seed"]
    assert search["kappa"] == float(given.get("--kappa", KAPPA))
    assert search["n_initial"] == int(given.get("--n-initial", N_INITIAL))
    space = tomllib.loads((kept / "space.toml").read_text())
    if (shipped := given.get("--space", "rules")) in SPACES:
        text = default_space(shipped)
        text = with_budget(text, given["--memory-budget"]) if "--memory-budget" in given else text
        assert space == tomllib.loads(text)
    else:
        assert shipped == f"docs/searches/{name}/space.toml"
    best = max(float(row["accuracy"] or 0) for row in csv.DictReader((kept / "evaluations.csv").open()))
    assert best == pytest.approx(load_preset(name).search["held_out_accuracy"], abs=1e-4)


@pytest.mark.real_data
def test_the_mnist_preset_learns_mnist() -> None:
    mnist = load_dataset("mnist", data_dir())
    classifier = KenyonClassifier.from_preset("mnist", random_state=0)
    order = np.random.default_rng(0).permutation(len(mnist.train))[:10_000]
    classifier.partial_fit(mnist.train.X[order], mnist.train.y[order])
    assert classifier.score(mnist.test.X[:2000], mnist.test.y[:2000]) > 0.91


def test_an_unknown_preset_is_named() -> None:
    with pytest.raises(ConfigError, match="did you mean 'split-mnist'"):
        KenyonClassifier.from_preset("split-mnits")
