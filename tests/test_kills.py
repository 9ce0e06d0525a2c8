"""Searches and sweeps killed at random moments: nothing finished is lost or repeated, and the same comes out.

`evaluation/test_kill.py` kills runs, `search/test_search.py` a search and `sweeps/test_sweep.py` a sweep; the longest
version of all is `make kills`.
"""

from __future__ import annotations

import sys

import pytest

import kills


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
@pytest.mark.parametrize("work", ["searches", "sweeps"])
def test_work_survives_eighteen_kills(work: str) -> None:
    counts, half_done = kills.kill_many(18, seed=7, names=(work,))
    assert counts[work] >= 18 and half_done >= 1, (counts, half_done)  # a busy machine is no error
