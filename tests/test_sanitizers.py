"""The core under AddressSanitizer and UndefinedBehaviorSanitizer: a few tests of it, run in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cases import slow
from kenyon.core.compiler import CompilerError, compile_core, system_compiler

HERE = Path(__file__).parent
FLAGS = ["-O0", "-DKN_BASELINE", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
LESS = "-fno-sanitize=null,alignment,object-size,pointer-overflow"
"""What takes half of the time to compile, and finds little that AddressSanitizer does not; `make test-all` has it."""
TESTS = ["test_core.py", "test_kernels.py"]
MORE_TESTS = ["test_reference.py", "test_merging.py", "test_one_at_once.py"]


@pytest.fixture(scope="module")
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The core with sanitizers; compiled files are kept in build/, since compiling takes most of the time."""
    if not sys.platform.startswith("linux") or not system_compiler():
        pytest.skip("sanitizers: needs Linux and a C compiler of the system")
    made, kept = tmp_path_factory.mktemp("sanitized") / "_core.abi3.so", HERE.parent / "build" / "sanitized"
    kept.mkdir(parents=True, exist_ok=True)
    try:
        compile_core(made, flags=[*FLAGS, *request.param], kind="baseline", kept=kept)
    except CompilerError as error:
        pytest.skip(f"sanitizers: the compiler has none ({str(error).splitlines()[-1]})")
    return made


def runtime() -> str:
    """The library of AddressSanitizer, which has to be loaded before everything else."""
    compiler = system_compiler()
    assert compiler
    line = [*compiler, "-print-file-name=libasan.so"]
    path = subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip()
    if not os.path.isabs(path):
        pytest.skip("sanitizers: the compiler's library of AddressSanitizer was not found")
    return path


@pytest.mark.parametrize(("library", "tests"), [([LESS], TESTS), slow([], TESTS + MORE_TESTS)], indirect=["library"])
def test_the_core_under_sanitizers(library: Path, tests: list[str]) -> None:
    environment = os.environ | {"LD_PRELOAD": runtime(), "ASAN_OPTIONS": "detect_leaks=0"}
    line = [sys.executable, HERE / "sanitized.py", library, "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = subprocess.run([*line, *(HERE / name for name in tests)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]


@pytest.mark.parametrize("library", [[LESS]], indirect=True)
def test_sanitizers_are_at_work(library: Path) -> None:
    """An entry that is given too short an array reads beyond its end."""
    code = (
        f"import sys; sys.argv = ['', {str(library)!r}]; sys.path.insert(0, {str(HERE)!r}); import sanitized\n"
        "import numpy as np; from kenyon import core; one = np.ones((1, 1), np.float32)\n"
        "core.sum_inputs(np.full((1, 1), 3, np.int32), one, one.copy())"
    )
    environment = os.environ | {"LD_PRELOAD": runtime(), "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode != 0 and "AddressSanitizer" in done.stderr
