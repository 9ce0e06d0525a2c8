"""Exports: the table, and that what is written predicts the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
from typer.testing import CliRunner

from kenyon.cli import app
from kenyon.errors import ConfigError
from kenyon.export import EXPORTS, export_model
from making import make, stream

X, Y = stream()


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
    assert (
        np.mean(run_path(str(tmp_path / "predict.py"))["predict"](X) == clf.predict(X)) > 0.97
    )  # ties at the rounding of float32


def test_plain_arrays_are_a_program(tmp_path: Path) -> None:
    clf = make("mse").partial_fit(X, Y)
    export_model(clf, "numpy", tmp_path)
    np.save(tmp_path / "samples.npy", X)
    run = subprocess.run(
        [sys.executable, tmp_path / "predict.py", tmp_path / "samples.npy"], capture_output=True, check=True, text=True
    )
    assert np.array(run.stdout.split(), int).tolist() == run_path(str(tmp_path / "predict.py"))["predict"](X).tolist()


def test_the_command_exports_a_saved_model_and_lists_the_forms(tmp_path: Path) -> None:
    make("mse").partial_fit(X, Y).save(tmp_path / "model.safetensors")
    run = CliRunner().invoke(
        app, ["export", str(tmp_path / "model.safetensors"), "--to", "numpy", "--out", str(tmp_path / "out")]
    )
    assert run.exit_code == 0 and (tmp_path / "out" / "predict.py").exists()
    listed = CliRunner().invoke(app, ["export"])
    assert all(name in listed.stdout for name in EXPORTS)


def test_what_an_export_cannot_hold_is_refused(tmp_path: Path) -> None:
    clf = make("mse").partial_fit(X, Y, task=1)
    with pytest.raises(ConfigError, match="tasks"):
        export_model(clf, "numpy", tmp_path)
