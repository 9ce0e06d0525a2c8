"""The constraints of `make test-lowest` are the lower bounds of pyproject.toml."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_declared_bound_is_tried() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    command = [sys.executable, ROOT / "tools/lowest.py", "data"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    declared = project["dependencies"] + project["optional-dependencies"]["data"]
    assert printed == [requirement.replace(">=", "==") for requirement in declared]
