"""The memory gauge sees what a run allocates, and not the data set's mapped pages."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from kenyon.evaluation._memory import MemoryGauge

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process set its peak back")
MB = 1 << 20


@linux
def test_a_block_that_came_and_went_is_seen() -> None:
    gauge = MemoryGauge()
    block = np.ones(64 * MB, np.uint8)
    del block
    assert 60 * MB < gauge.peak_growth() < 90 * MB
    assert MemoryGauge().peak_growth() < 20 * MB, "an earlier peak was counted again"


@linux
def test_a_mapped_file_is_not(tmp_path: Path) -> None:
    np.save(tmp_path / "data.npy", np.ones(64 * MB, np.uint8))
    gauge = MemoryGauge()
    data = np.load(tmp_path / "data.npy", mmap_mode="r")
    assert data.sum() == 64 * MB
    assert gauge.peak_growth() < 20 * MB
