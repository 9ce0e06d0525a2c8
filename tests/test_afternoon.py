"""The afternoon of docs/afternoon.md, from two data sets to the table, the figure, the log and the model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def test_the_afternoon_goes_as_it_is_written() -> None:
    for module in ("torch", "tensorboard", "matplotlib", "PIL"):
        pytest.importorskip(module)
    page = str(ROOT / "docs" / "afternoon.md")
    done = subprocess.run([sys.executable, str(ROOT / "tools" / "examples.py"), page], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
