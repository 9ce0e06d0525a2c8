"""Data-set metrics against their definitions, and against the paper on the real sets."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from kenyon.cli import app
from kenyon.data.streams import Dataset, Split, load_dataset
from kenyon.errors import InputError
from kenyon.paper.tables import paper_dimension, paper_distances
from kenyon.paper.transfer import centroid_distances, moments, transfer_coefficient
from kenyon.paper.transfer._metrics import dimension_coefficient, distance_coefficient
from real_sets import data_dir


def dataset(X: np.ndarray, y: np.ndarray, name: str = "made") -> Dataset:
    split = Split(X, y.astype(np.int64))
    names = tuple(map(str, range(int(y.max()) + 1)))
    return Dataset(name, (X.shape[1],), names, split, split)


@given(st.integers(0, 1000))
def test_effective_dimension_is_that_of_the_eigenvalues(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = (rng.random((200, 8)) * rng.random(8) * 255).astype(np.uint8)
    eigenvalues = np.linalg.eigvalsh(np.cov(X.astype(np.float64), rowvar=False))
    expected = eigenvalues.sum() ** 2 / (eigenvalues**2).sum()
    assert np.isclose(moments(dataset(X, np.arange(200) % 3)).dimension, expected, rtol=1e-4)


def test_effective_dimension_of_known_shapes() -> None:
    rng = np.random.default_rng(0)
    y = np.zeros(4000)
    ball = rng.normal(size=(4000, 5)).astype(np.float32)
    assert np.isclose(moments(dataset(ball, y)).dimension, 5, atol=0.05)
    line = np.outer(rng.normal(size=4000), np.ones(5)).astype(np.float32)
    assert np.isclose(moments(dataset(line, y)).dimension, 1, atol=1e-4)
    assert np.isclose(moments(dataset(line + 7, y)).dimension, 1, atol=1e-3)  # centred
    with pytest.raises(InputError, match="covariance is zero"):
        moments(dataset(np.zeros((10, 3), np.float32), np.zeros(10)))


def test_centroid_distances_are_cosines_between_class_means() -> None:
    X = np.array([[1, 0], [3, 0], [0, 2], [1, 1]], np.float32)
    a = moments(dataset(X, np.array([0, 0, 1, 2])))
    assert np.allclose(centroid_distances(a, a), (1 - 1 / np.sqrt(2), 1.0))
    b = moments(dataset(np.array([[5, 0], [5, 0]], np.float32), np.array([0, 0])))
    assert np.allclose(centroid_distances(a, b), (0.0, 1.0))
    wide = moments(dataset(np.eye(3, dtype=np.float32), np.arange(3)))
    with pytest.raises(InputError, match="same number"):
        centroid_distances(a, wide)


def test_the_transfer_coefficient_is_directed() -> None:
    assert transfer_coefficient(30.0, 7.5) == 0.75
    assert transfer_coefficient(7.5, 30.0) == 3.0
    digits = moments(load_dataset("digits"))
    assert dimension_coefficient(digits, digits) == distance_coefficient(digits, digits) == 0.0


@pytest.mark.real_data
def test_the_papers_figures_come_out_of_raw_training_pixels() -> None:
    mnist, fashion = (moments(load_dataset(name, data_dir())) for name in ("mnist", "fashion-mnist"))
    assert round(mnist.dimension, 2) == paper_dimension("mnist") == 30.69
    assert abs(fashion.dimension - paper_dimension("fashion-mnist")) < 0.02  # 7.90 here, 7.91 there
    for a, b in ((mnist, mnist), (fashion, fashion), (mnist, fashion)):
        published = paper_distances(a.name, b.name)
        assert published is not None
        low, high = centroid_distances(a, b)
        assert abs(low - published[0]) < 0.0015 and abs(high - published[1]) < 0.005
    assert np.isclose(distance_coefficient(mnist, fashion), (0.1714 - 0.0736) / 0.0736, atol=0.01)


def test_the_command_gives_numbers(tmp_path) -> None:  # type: ignore[no-untyped-def]
    result = CliRunner().invoke(app, ["distances", "digits", "--json"])
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert np.isclose(answer["effective_dimension"]["digits"], moments(load_dataset("digits")).dimension)
    assert answer["centroid_distances"][0]["datasets"] == ["digits", "digits"]
    shown = CliRunner().invoke(app, ["distances", "digits"])
    assert shown.exit_code == 0 and "effective dimension" in shown.stdout
