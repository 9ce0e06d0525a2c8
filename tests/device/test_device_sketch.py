"""The Arduino sketch: what it keeps survives a loss of power after any byte."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from building import HERE, exported, make, stream

from cases import needs_compiler
from emulated import compiled

pytestmark = needs_compiler

PLUS = ("-std=c++11", "-I.", "-fno-exceptions", "-fno-rtti", "-Wno-unused-function")


@pytest.fixture(scope="module", params=["EEPROM", "flash"])
def sketch(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """The sketch of a small model, compiled for this machine with a memory of its own."""
    X, y = stream(20)
    folder = exported(make("gen", n_hidden=12).partial_fit(X, y), tmp_path_factory.mktemp("sketch"), classes=8)
    shutil.copy(HERE / "sketch.cpp", folder)
    for name in ("EEPROM.h", "FlashIAP.h"):
        (folder / name).write_text("")
    board = ("-DARDUINO_ARCH_MBED",) if request.param == "flash" else ()
    compiled(folder, "kenyon.o", "-c", sources=("kenyon.c",))
    return compiled(folder, "sketch", "kenyon.o", *PLUS, *board, sources=("-x", "c++", "sketch.cpp"))


@pytest.mark.parametrize("sequence", [0, 2**31 - 3, 2**32 - 3])
def test_a_loss_of_power_after_any_byte_leaves_the_older_or_the_newer_state(sketch: Path, sequence: int) -> None:
    """At the ends of the sequence numbers too, and whatever becomes of the byte that was being written."""
    done = subprocess.run([sketch, str(sequence)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    older, newer, neither = map(int, done.stdout.split())
    assert neither == 0
    assert older > 500 and newer >= 15, "the power was cut at too few places"
