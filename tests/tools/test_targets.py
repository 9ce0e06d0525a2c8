"""The make targets that the workflow and the documentation name are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
NAMED = r"(?:`|run: |^)make ((?:[a-z-]+ ?)+)"


@pytest.mark.parametrize("page", [".github/workflows/ci.yml", "CONTRIBUTING.md", "README.md", "CHANGELOG.md"])
def test_every_target_that_is_named_exists(page: str) -> None:
    named = {
        target
        for targets in re.findall(NAMED, (ROOT / page).read_text(encoding="utf-8"), re.M)
        for target in targets.split()
    }
    assert named and named <= TARGETS
