"""Libraries for other systems are told apart, wheels are put together, and no C compiler is needed to build one."""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import kenyon.core
from kenyon.core.compiler import FOLDER
from libraries import Library, read_library
from wheels import TARGETS, Target, check_library, for_target, is_here

ROOT = Path(__file__).resolve().parents[2]
SMALL = """
#if defined(_WIN32)
__declspec(dllexport)
#else
__attribute__((visibility("default")))
#endif
void *PyInit__core(void) { return 0; }
"""


def test_the_library_of_this_machine_exports_one_name() -> None:
    here = [target for target in TARGETS if is_here(target)]
    path = next(path for path in FOLDER.glob("_core.*") if path.suffix in (".so", ".pyd"))
    found = read_library(path.read_bytes())
    assert "PyInit__core" in found.exported and kenyon.core.isas()
    assert not here or (found.system, found.machine) == (here[0].system, here[0].machine)
    with pytest.raises(ValueError, match="expected ELF, Mach-O or PE"):
        read_library(b"\x7fELF\x01\x01 of 32 bits")


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.zig)
def test_a_small_library_for_every_target(target: Target, tmp_path: Path) -> None:
    pytest.importorskip("ziglang", reason="needs the extra 'teach'")
    source, made = tmp_path / "small.c", tmp_path / "small"
    source.write_text(SMALL)
    line = [sys.executable, "-m", "ziglang", "cc", "-target", target.zig, "-shared", "-fPIC", "-fvisibility=hidden"]
    subprocess.run([*line[: -1 if target.system == "windows" else None], source, "-o", made], check=True)
    assert read_library(made.read_bytes())[:2] == Library(target.system, target.machine, frozenset())[:2]
    check_library(made.read_bytes(), target)
    others = [other for other in TARGETS if (other.system, other.machine) != (target.system, target.machine)]
    with pytest.raises(SystemExit, match="the library is for"):
        check_library(made.read_bytes(), others[0])


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.zig)
def test_a_wheel_for_another_system(target: Target, tmp_path: Path) -> None:
    wheel = tmp_path / "kenyon-1-cp311-abi3-linux_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("kenyon/__init__.py", "")
        archive.writestr("kenyon/core/_core.abi3.so", "this machine's")
        archive.writestr("kenyon/core/_core.pyi", "")
        archive.writestr("kenyon-1.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: cp311-abi3-linux_x86_64\n")
        archive.writestr("kenyon-1.dist-info/RECORD", "")
    made = for_target(wheel, target, b"another", tmp_path)
    with zipfile.ZipFile(made) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    libraries = [name for name in files if name.startswith("kenyon/core/_core") and not name.endswith(".pyi")]
    assert libraries == [target.library] and files[target.library] == b"another" and "kenyon/core/_core.pyi" in files
    tags = [line for line in files["kenyon-1.dist-info/WHEEL"].decode().splitlines() if line.startswith("Tag: ")]
    assert tags == [f"Tag: cp311-abi3-{tag}" for tag in target.tag.split(".")]
    digest = base64.urlsafe_b64encode(hashlib.sha256(b"another").digest()).rstrip(b"=").decode()
    assert f"{target.library},sha256={digest},7" in files["kenyon-1.dist-info/RECORD"].decode()


@pytest.mark.slow
def test_a_wheel_is_built_without_a_compiler_of_the_system(tmp_path: Path) -> None:
    """Zig's comes from PyPI as a dependency of the build."""
    environment = {name: value for name, value in os.environ.items() if name not in ("CC", "KENYON_CC")}
    environment["PATH"] = str(tmp_path)
    line = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path, ROOT]
    done = subprocess.run(line, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        library = archive.read("kenyon/core/_core.abi3.so")
    assert "PyInit__core" in read_library(library).exported
