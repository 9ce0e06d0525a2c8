"""Where compiled code cannot be kept on disk, the classifier works all the same and says so once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kenyon

pytestmark = pytest.mark.slow  # every test compiles in processes of its own

LEARN = """
import numpy as np
from kenyon import KenyonClassifier

X = np.arange(60, dtype=np.uint8).reshape(12, 5)
y = np.arange(12) % 3
model = KenyonClassifier("mse", features="identity", random_state=0).partial_fit(X, y)
print(model.predict(X).shape, __import__("kenyon").__file__)
"""

RACE = """
import sys, time
from pathlib import Path
from numba.core.caching import IndexDataCacheFile
from kenyon.compiling import kernel


def make(n):
    @kernel()
    def add(x):
        return x + n

    return add


class Slow(IndexDataCacheFile):  # as it is, with time to think before the index and before the data are written
    def _save_index(self, overloads):
        time.sleep(float(sys.argv[2]))
        super()._save_index(overloads)

    def _save_data(self, name, data):
        time.sleep(float(sys.argv[3]))
        super()._save_data(name, data)


if sys.argv[1] == "both":
    print([make(n)(1) for n in (10, 20)])
else:
    add = make(int(sys.argv[1]))
    add._cache._cache_file.__class__ = Slow
    Path(f"ready{sys.argv[1]}").touch()
    while len(list(Path().glob("ready*"))) < 2:
        time.sleep(0.01)
    add(1)
"""

# A helper that is too long to be compiled into the kernel that calls it.
HELPER = f"""
import sys
from numba.extending import register_jitable
from kenyon.compiling import kernel


def make(n):
    @register_jitable
    def long(x):
{"".join(f"        x = ((x ^ {i}) + n) % 65521{chr(10)}" for i in range(100))}
        return x

    @kernel()
    def twice(x):
        return long(x) + long(x + 1)

    return twice


print([make(n)(1) == make(n).py_func(1) for n in map(int, sys.argv[1:])])
"""

LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # every larger file fails half way, as on a full disk
"""


def learn(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"} | variables
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)


def test_a_read_only_install_without_a_home_learns_and_says_once_that_nothing_is_kept(tmp_path: Path) -> None:
    site = tmp_path / "site"
    shutil.copytree(Path(kenyon.__file__).parent, site / "kenyon", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [site / "kenyon", *(path for path in (site / "kenyon").rglob("*") if path.is_dir())]:
        (folder / "__pycache__").touch()  # a file in the cache's place: not even root can write into it
    nowhere = str(tmp_path / "file" / "under-a-file")
    (tmp_path / "file").touch()

    done = learn(LEARN, PYTHONPATH=str(site), HOME=nowhere, XDG_CACHE_HOME=nowhere, NUMBA_CACHE_DIR=nowhere)

    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["(12,)", str(site / "kenyon" / "__init__.py")]
    assert done.stderr.count("NUMBA_CACHE_DIR") == 1
    assert "no folder for it can be written" in done.stderr


def test_a_full_disk_is_no_reason_not_to_learn(tmp_path: Path) -> None:
    pytest.importorskip("resource")
    done = learn(LIMITED + LEARN, NUMBA_CACHE_DIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("(12,)")
    assert done.stderr.count("NUMBA_CACHE_DIR") == 1
    assert "File too large" in done.stderr


def test_damaged_cache_files_are_written_anew(tmp_path: Path) -> None:
    first = learn(LEARN, NUMBA_CACHE_DIR=str(tmp_path))
    kept = {path: path.read_bytes() for path in tmp_path.rglob("*.nb[ic]")}
    assert any(path.suffix == ".nbi" for path in kept) and any(path.suffix == ".nbc" for path in kept)
    for path, content in kept.items():
        path.write_bytes(content[: len(content) // 3])

    second = learn(LEARN, NUMBA_CACHE_DIR=str(tmp_path))

    assert (second.returncode, second.stdout, second.stderr) == (0, first.stdout, "")
    for path, content in kept.items():
        assert len(path.read_bytes()) > 0.9 * len(content), path.name  # the numbers in its names are drawn anew


LAYERS = """
import numpy as np
from kenyon.layers import FewBitLayer, PlasticLayer, Samples
from kenyon.modulation import clamp_bounds
from kenyon.rules import MEAN

bounds = clamp_bounds(0.1, "symmetric")
units = np.zeros((1, 5), np.uint32)
active = units, np.zeros((1, 5), np.float32), np.zeros(1, np.int64)
active_bytes = units, np.zeros((1, 5), np.uint8), np.zeros(1, np.int64)
layers = [(PlasticLayer(5, MEAN(), bounds), active), (FewBitLayer(5, MEAN(), bounds, 3, whole=1), active_bytes)]
misses = 0
for layer, activity in layers:
    layer.add_class()
    beta = np.zeros((1, 2 + len(layer.rule.parameters)), np.float32)
    layer.learn(Samples(activity, 0, 1, np.zeros(1, np.int64), None, beta))
    layer.forward(activity, 0, 1)
    kernels = layer._kernels if isinstance(layer, FewBitLayer) else [layer._learn]
    misses += sum(sum(kernel._function.stats.cache_misses.values()) for kernel in kernels)
print(misses)
"""


def test_kernels_that_are_built_around_a_rule_are_compiled_once(tmp_path: Path) -> None:
    """Numba keeps them by what their closures hold, which therefore has to be the same in every process."""
    first, second = (learn(LAYERS, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2))
    assert first.returncode == 0 == second.returncode, first.stderr + second.stderr
    assert int(first.stdout) == 3 and int(second.stdout) == 0


def test_two_processes_that_compile_at_once_do_not_mix_up_their_code(tmp_path: Path) -> None:
    (tmp_path / "race.py").write_text(RACE)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "race.py"]
    first = subprocess.Popen([*command, "10", "1", "3"], cwd=tmp_path, env=environment)
    second = subprocess.Popen([*command, "20", "2", "0"], cwd=tmp_path, env=environment)
    assert (first.wait(), second.wait()) == (0, 0)
    read = subprocess.run([*command, "both"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert read.stdout == "[11, 21]\n"


def test_helpers_of_kernels_that_were_compiled_in_two_processes_are_told_apart_in_a_third(tmp_path: Path) -> None:
    """Numba names machine code by numbers, and a name that is there already is not loaded again."""
    (tmp_path / "helper.py").write_text(HELPER)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for numbers in (["10"], ["20"], ["10", "20"]):
        command = [sys.executable, "helper.py", *numbers]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout == f"{[True] * len(numbers)}\n"
