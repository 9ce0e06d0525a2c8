"""Searches and sweeps killed at random moments: nothing finished is lost or repeated, and the same comes out.

`evaluation/test_kill.py` kills runs; the long version of both is `make kills`.
"""

from __future__ import annotations

import os
import sys

import pytest

import kills


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
def test_searches_and_sweeps_survive_three_dozen_kills(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # the processes find what this one finds
    counts, half_done = kills.kill_many(36, seed=7, names=("searches", "sweeps"))
    assert counts["searches"] >= 5 and counts["sweeps"] >= 5 and half_done >= 12, (counts, half_done)
