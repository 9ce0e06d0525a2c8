"""Windows over time and channels: the worked example, and that exported models predict the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
from numpy.typing import NDArray

from kenyon import KenyonClassifier
from kenyon.errors import ConfigError
from kenyon.export import export_model
from making import composed

EXAMPLE = Path(__file__).parents[1] / "examples" / "series.py"


def motions(n: int, seed: int, length: int = 40) -> tuple[NDArray[np.float64], NDArray]:
    """Three motions of two channels with scales of their own: slow, fast, and fast in one channel only."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 3
    time, start = np.arange(length), rng.uniform(0, 2 * np.pi, n)[:, np.newaxis]
    rates = np.array([[0.2, 0.2], [0.9, 0.9], [0.9, 0.2]])[labels]
    waves = np.sin(rates[:, np.newaxis, :] * time[:, np.newaxis] + start[:, :, np.newaxis])
    return (waves + rng.normal(0, 0.1, waves.shape)) * [100.0, 0.01] + [5.0, 3.0], labels


def as_ts(X: NDArray[np.float64], y: NDArray) -> str:
    rows = [
        ":".join(",".join(f"{v:.5g}" for v in channel) for channel in x.T) + f":m{label}"
        for x, label in zip(X, y, strict=True)
    ]
    return "@problemName Motions\n@data\n" + "\n".join(rows) + "\n"


@pytest.mark.slow
def test_the_example_learns_class_by_class_and_exports_both_models(tmp_path: Path) -> None:
    (tmp_path / "Motions").mkdir()
    for part, (n, seed) in {"TRAIN": (60, 0), "TEST": (30, 1)}.items():
        (tmp_path / "Motions" / f"Motions_{part}.ts").write_text(as_ts(*motions(n, seed)))
    command = [sys.executable, EXAMPLE, "Motions", "--folder", tmp_path, "--out", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    shares = [float(line.split(" %")[0].split(" ")[-1]) for line in done.stdout.splitlines() if " % " in line]
    assert len(shares) == 2 and min(shares) >= 90, done.stdout
    X, _ = motions(30, 1)
    np.save(tmp_path / "samples.npy", X.reshape(30, -1))
    predicted = subprocess.run(
        [sys.executable, tmp_path / "Motions-numpy" / "predict.py", tmp_path / "samples.npy"],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    clf = KenyonClassifier.load(tmp_path / "Motions.safetensors")
    assert predicted == clf.predict(X.reshape(30, -1)).tolist()
    assert (tmp_path / "Motions-c" / "kenyon.c").exists()


@pytest.mark.parametrize(
    ("params", "as_bytes"),
    [
        ({}, False),
        ({"pooling": "max", "root": False}, False),
        ({"threshold": 0.5}, False),
        ({"layer": "plastic", "rule": "mse", "shifts": 2}, False),
        ({}, True),
        ({"layer": "plastic", "rule": "mse", "threshold": 0.8}, True),
        ({"pooling": "sum", "root": False, "shifts": 1}, True),
    ],
)
def test_windows_as_plain_arrays_predict_the_same(params: dict, as_bytes: bool, tmp_path: Path) -> None:
    X, y = motions(90, 2)
    given = {"shape": (40, 2), "axes": "tc", "layer": "second-order", "features": "windows", "n_hidden": 60, **params}
    samples = (X * [0.5, 5_000] + [60, -14_900]).clip(0, 255).astype(np.uint8) if as_bytes else X
    clf = KenyonClassifier(**composed(**given), random_state=1).partial_fit(samples.reshape(90, -1), y)
    export_model(clf, "numpy", tmp_path)
    predicted = run_path(str(tmp_path / "predict.py"))["predict"](samples.reshape(90, -1))
    assert np.mean(predicted == clf.predict(samples.reshape(90, -1))) > 0.97
    assert clf.score(samples.reshape(90, -1), y) > 0.6


def test_a_device_takes_no_scaled_series(tmp_path: Path) -> None:
    X, y = motions(30, 3)
    clf = KenyonClassifier(shape=(40, 2), axes="tc", layer="second-order", n_hidden=40)
    clf.partial_fit(X.reshape(30, -1), y)
    with pytest.raises(ConfigError, match="scaled by moments in floats: expected bytes"):
        export_model(clf, "c", tmp_path)
