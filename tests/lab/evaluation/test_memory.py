"""The memory gauge sees what a run allocates, and not the data set's mapped pages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kenyon.lab.evaluation._machine import MemoryGauge

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process set its peak back")
MB = 1 << 20


CAME_AND_WENT = """
import numpy as np
from kenyon.lab.evaluation._machine import MemoryGauge
gauge = MemoryGauge()
block = np.ones(64 << 20, np.uint8)
del block
print(gauge.peak_growth() >> 20, MemoryGauge().peak_growth() >> 20)
"""


@linux
def test_a_block_that_came_and_went_is_seen() -> None:
    # in a process of its own: what other tests left to the allocator can come back to it in the middle
    said = subprocess.run([sys.executable, "-c", CAME_AND_WENT], capture_output=True, text=True, check=True).stdout
    first, second = map(int, said.split())
    assert 60 < first < 90
    assert second < 20, "an earlier peak was counted again"


@linux
def test_a_mapped_file_is_not(tmp_path: Path) -> None:
    np.save(tmp_path / "data.npy", np.ones(64 * MB, np.uint8))
    gauge = MemoryGauge()
    data = np.load(tmp_path / "data.npy", mmap_mode="r")
    assert data.sum() == 64 * MB
    assert gauge.peak_growth() < 20 * MB
