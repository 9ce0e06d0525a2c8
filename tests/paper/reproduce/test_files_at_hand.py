"""What is a gap for want of files is run where the publishers' files are: E-MNIST, and the paper's wide-ResNet50."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "streams"))

from stream_files import write_layout

from kenyon.data.streams._sources import SOURCES
from kenyon.lab.evaluation import run
from kenyon.lab.tables import Result
from kenyon.paper.reproduce import Setting
from kenyon.paper.reproduce._setting import PAPERS_BACKBONE
from kenyon.paper.reproduce._wanted import Gap, Results, Runs

RULE = {"rule": "mse", "n_hidden": 40}


def test_emnist_is_run_once_its_files_are_there(tmp_path: Path) -> None:
    gap = Setting(tmp_path / "runs", tmp_path).kenyon("emnist-digits", "single-task", RULE, epochs=0.5, paper=(97.0,))
    assert isinstance(gap, Gap) and "kenyon data download emnist-digits" in gap.reason
    write_layout(SOURCES["emnist-digits"], SOURCES["emnist-digits"].layouts[0], tmp_path, per_class=3)
    cell = Setting(tmp_path / "runs", tmp_path).kenyon("emnist-digits", "single-task", RULE, paper=(97.0,))
    assert isinstance(cell, Runs) and cell.command == (gap.command or "").replace(" --epochs 0.5", "")
    run(cell.config, [0], tmp_path / "runs", data_dir=tmp_path)
    assert isinstance(replace(cell, seeds=(0,)).fill(Results(tmp_path / "runs")), Result)


def test_the_papers_network_is_used_once_its_weights_are_there(tmp_path: Path) -> None:
    """A file of the publisher's name and layout is enough for the cell; its content is checked when it is read."""
    torch = pytest.importorskip("torch", reason="needs the extra 'baselines'")
    setting = Setting(tmp_path / "runs", tmp_path)
    setting.__dict__["present"] = frozenset({"cifar10"})
    gap = setting.kenyon("cifar10", "task-incremental", RULE, features=PAPERS_BACKBONE, paper=(94.65,))
    assert isinstance(gap, Gap) and "wide_resnet50_2-95faca4d.pth" in gap.reason
    (tmp_path / "weights").mkdir()
    torch.save({"fc.bias": torch.zeros(1000)}, tmp_path / "weights" / "wide_resnet50_2-95faca4d.pth")
    cell = setting.kenyon("cifar10", "task-incremental", RULE, features=PAPERS_BACKBONE, paper=(94.65,))
    assert isinstance(cell, Runs) and cell.command == gap.command and cell.stand_in is None
    assert cell.config.backbone["name"] == PAPERS_BACKBONE  # type: ignore[index]
    assert np.isclose(cell.paper.mean, 94.65)  # type: ignore[union-attr]
