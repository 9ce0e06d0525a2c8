"""The worked example: five devices in C learn two digits each, and the merged model knows all ten."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[1] / "examples" / "five_devices" / "run.py"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="it needs a C compiler")
def test_five_devices_make_one_model() -> None:
    said = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, check=True).stdout
    assert len(sizes := re.findall(r"device \d learned .* ([\d,]+) bytes", said)) == 5
    assert all(int(size.replace(",", "")) <= 20_000 for size in sizes)
    assert "the same as merged in Python, sample by sample: True" in said
    merged, single = (float(share) for share in re.findall(r": ([\d.]+) %", said))
    assert merged > single - 1.5
