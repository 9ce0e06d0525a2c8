"""`kenyon card`: what a model is, and the run that it lies in."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from kenyon import KenyonClassifier
from kenyon.cli import app
from kenyon.errors import BudgetWarning
from kenyon.lab.evaluation import RunConfig, run


def card(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["card", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_card_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.safetensors"
    model = KenyonClassifier(shape=(2, 2), memory_budget="20KB")
    X = np.random.default_rng(0).integers(0, 256, (60, 4), dtype=np.uint8)
    with pytest.warns(BudgetWarning):
        model.partial_fit(X, [f"class {k % 30}" for k in range(60)]).save(path)
    text = card(path)
    assert text.startswith("# Model card: mine.safetensors\n")
    for words in (
        "4 numbers of shape (2, 2)",
        "| Samples learned | 60 |",
        "| Memory budget | 20.0 KB |",
        sha256(path.read_bytes()).hexdigest(),
        "30: class 0, class 1,",
        "and 10 more.",
        "The file does not say on what it was trained.",
    ):
        assert words in text, words
    assert card(path, "--out", tmp_path / "card.md").strip().endswith("card.md")
    assert (tmp_path / "card.md").read_text() == text


def test_the_card_of_a_run(tmp_path: Path) -> None:
    report = run(RunConfig("digits"), [0], tmp_path, save_model=True)
    folder = report.results[0].folder
    assert folder is not None
    text = card(folder)
    assert (
        "1,438 samples of `digits`, class-incremental, 5 tasks, seed 0. Tested on the test set (359 samples)." in text
    )
    assert f"| final accuracy, mean of tasks, % | {100 * report.results[0].metrics.accuracy:.2f} |" in text
    assert f"kenyon run --config {folder / 'config.toml'}" in text


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["card", str(tmp_path)])
    assert result.exit_code != 0 and "model.safetensors" in result.output
