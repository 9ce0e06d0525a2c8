"""The small benchmark: its methods in C against the same in Python, and one row of its table."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import numpy as np
import pytest

from cases import needs

ROOT = Path(__file__).parents[2]
pytestmark = [needs("ziglang"), pytest.mark.slow]


@pytest.fixture(scope="module")
def table():
    pytest.importorskip("unicorn")
    sys.path.append(str(ROOT / "benchmarks"))
    import small_table

    return small_table


def made(table) -> object:
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, 4, 200)).astype(np.int32)
    X = (40 * y[:, None] + rng.integers(0, 60, (200, 64))).astype(np.uint8)
    return table.Task(X, y, X[::2].copy(), y[::2].copy(), (8, 8), 4)


@pytest.mark.parametrize("method", ["ncm", "perceptron", "hyperdimensional", "nearest", "slda", "kenyon"])
def test_every_method_learns_and_fits(method: str, table, tmp_path: Path) -> None:
    task = made(table)
    files, options = table.sources(method, task, 16_384, tmp_path)
    any_time, end = table.accuracy(tmp_path, files, options, task)
    assert any_time > 0.8 or method == "perceptron"
    assert end > 0.25
    found = table.costs(tmp_path, files, options, task)
    assert found["learn"] > 0 and found["predict"] > 0 and found["flash"] > 0
    assert found["ram"] < 16_384 + 64 + 4096


def test_nearest_class_mean_is_that_of_numpy(table, tmp_path: Path) -> None:
    task = made(table)
    files, options = table.sources("ncm", task, 16_384, tmp_path)
    library = ctypes.CDLL(
        str(table.compiled(tmp_path, "libncm.so", *options, "-shared", "-fPIC", "-DSMALL_HOST", sources=files))
    )
    library.small_init()
    library.small_learn_many(task.X.ctypes, task.y.ctypes, len(task.y))
    guessed = np.zeros(len(task.asked), np.int32)
    library.small_predict_many(task.asked.ctypes, guessed.ctypes, len(guessed))
    means = np.floor(np.array([task.X[task.y == c].sum(0) / (task.y == c).sum() for c in range(4)]) + 0.5)
    distances = ((task.asked[:, None].astype(float) - means) ** 2).sum(2)
    np.testing.assert_array_equal(guessed, distances.argmin(1))
