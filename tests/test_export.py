"""Exports: the table, one from outside, and that what is written predicts the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from kenyon import KenyonClassifier
from kenyon.cli import app
from kenyon.errors import ConfigError
from kenyon.export import EXPORTS, export_model
from making import make, stream

X, Y = stream()


def write(classifier: KenyonClassifier, out: Path, suffix: str = "txt") -> list[Path]:
    """An export from outside the package."""
    path = out / f"labels.{suffix}"
    path.write_text(" ".join(map(str, classifier.classes_)))
    return [path]


@pytest.mark.parametrize(
    "case",
    [
        *("mse", "gen", "inel", "two hidden layers", "identity", "no threshold", "no unit norm", "table", "scaled"),
        "rectified output",
    ],
)
def test_plain_arrays_predict_the_same(case: str, tmp_path: Path) -> None:
    clf = make(case).partial_fit(X, Y)
    export_model(clf, "numpy", tmp_path)
    np.save(tmp_path / "samples.npy", X)
    run = subprocess.run(
        [sys.executable, tmp_path / "predict.py", tmp_path / "samples.npy"], capture_output=True, check=True, text=True
    )
    assert np.mean(np.array(run.stdout.split(), int) == clf.predict(X)) > 0.97  # ties at the rounding of float32


def test_the_command_exports_a_saved_model_and_lists_the_forms(tmp_path: Path) -> None:
    make("mse").partial_fit(X, Y).save(tmp_path / "model.safetensors")
    run = CliRunner().invoke(
        app, ["export", str(tmp_path / "model.safetensors"), "--to", "numpy", "--out", str(tmp_path / "out")]
    )
    assert run.exit_code == 0 and (tmp_path / "out" / "predict.py").exists()
    listed = CliRunner().invoke(app, ["export"])
    assert all(name in listed.stdout for name in EXPORTS)


def test_an_export_from_outside_is_named_like_any_other(tmp_path: Path) -> None:
    clf = make("gen").partial_fit(X, Y)
    (path,) = export_model(clf, f"{__file__}:write", tmp_path, suffix="labels")
    assert path.read_text() == "0 1 2 3 4 5 6"
    with pytest.raises(ConfigError, match=r"unknown export 'nunpy'.*did you mean 'numpy'"):
        export_model(clf, "nunpy", tmp_path)


def test_what_an_export_cannot_hold_is_refused(tmp_path: Path) -> None:
    clf = make("mse").partial_fit(X, Y, task=1)
    with pytest.raises(ConfigError, match="tasks"):
        export_model(clf, "numpy", tmp_path)
