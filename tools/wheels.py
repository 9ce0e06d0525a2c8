"""Wheels for every platform, one each for all Pythons from 3.11 on, compiled on this machine by Zig.

    python tools/wheels.py [--out dist] [--only linux] [--keep build/wheels]

The package is built once as usual; then its library is compiled for each target and takes the place of this machine's.
Each library is checked: its format, its processor, and that it exports PyInit__core and nothing else of ours. The
wheel of this machine is installed into a new environment and used (tools/smoke.py). Needs `build` and `ziglang`.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import platform
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from libraries import read_library

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "src" / "kenyon" / "core"
ZIG = [sys.executable, "-m", "ziglang"]
INITIAL = "PyInit__core"


class Target(NamedTuple):
    """A platform: Zig's name of it, the tag of a wheel, the library's system and processor."""

    zig: str
    tag: str
    system: str
    machine: str

    @property
    def library(self) -> str:
        return "kenyon/core/_core.pyd" if self.system == "windows" else "kenyon/core/_core.abi3.so"


TARGETS = [
    Target("x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64.manylinux2014_x86_64", "linux", "x86_64"),
    Target("aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64.manylinux2014_aarch64", "linux", "aarch64"),
    Target("x86_64-linux-musl", "musllinux_1_2_x86_64", "linux", "x86_64"),
    Target("aarch64-linux-musl", "musllinux_1_2_aarch64", "linux", "aarch64"),
    Target("aarch64-macos.11.0", "macosx_11_0_arm64", "macos", "aarch64"),
    Target("x86_64-macos.11.0", "macosx_11_0_x86_64", "macos", "x86_64"),
    Target("x86_64-windows-gnu", "win_amd64", "windows", "x86_64"),
]


def compile_for(target: Target, kept: Path) -> bytes:
    """The core's library for a target, checked."""
    sys.path.insert(0, str(CORE))
    from compiler import compile_core  # type: ignore[import-not-found]

    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, Path(target.library).name)
        libraries = [str(python_library(Path(folder)))] if target.system == "windows" else []
        flags = ["-target", target.zig, "-Wl,-s"] if target.system == "linux" else ["-target", target.zig]
        compile_core(made, [*ZIG, "cc"], flags, target.machine, kept, libraries)
        data = made.read_bytes()
    check_library(data, target)
    return data


def check_library(data: bytes, target: Target) -> None:
    """That a library is for the target, and exports what Python looks for and nothing else."""
    found = read_library(data)
    if (found.system, found.machine) != (target.system, target.machine):
        sys.exit(f"{target.tag}: the library is for {found.system} on {found.machine}")
    ours = {name for name in found.exported if name.lower().startswith(("pyinit", "kn_", "entry_"))}
    if ours != {INITIAL}:
        sys.exit(f"{target.tag}: the library exports {sorted(ours)}, expected {INITIAL} alone")
    newest = max((int(minor) for minor in re.findall(rb"GLIBC_2\.(\d+)", data)), default=0)
    if newest > 17:
        sys.exit(f"{target.tag}: the library wants glibc 2.{newest}, expected 2.17 at most")


def python_library(folder: Path) -> Path:
    """What the linker for Windows wants: an import library of python3.dll with the names that the binding uses."""
    text = (CORE / "host" / "python.h").read_text(encoding="utf-8")
    names = []
    for line in re.findall(r"^PYTHON (.*);$", text, re.MULTILINE):
        data = line.startswith("extern")
        found = re.findall(r"\b(_?Py\w+)(?=[,;]|$)", line) if data else re.findall(r"\b(Py\w+)\(", line)[:1]
        names += [f"{name} DATA" if data else name for name in found]
    definition, library = folder / "python3.def", folder / "python3.lib"
    definition.write_text("\n".join(["LIBRARY python3.dll", "EXPORTS", *names, ""]))
    line = [*ZIG, "dlltool", "-m", "i386:x86-64", "-d", str(definition), "-D", "python3.dll", "-l", str(library)]
    subprocess.run(line, check=True)
    return library


def build_here(out: Path) -> Path:
    """The wheel as this machine builds it."""
    subprocess.run([sys.executable, "-m", "build", "--wheel", "--outdir", out, ROOT], check=True, stdout=sys.stderr)
    return next(out.glob("*.whl"))


def for_target(wheel: Path, target: Target, library: bytes, out: Path) -> Path:
    """The same wheel with another library and another tag."""
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    info = next(name.split("/")[0] for name in files if name.endswith(".dist-info/WHEEL"))
    files = {name: data for name, data in files.items() if not name.endswith((".so", ".pyd"))}
    files[target.library] = library
    lines = [line for line in files[f"{info}/WHEEL"].decode().splitlines() if line and not line.startswith("Tag:")]
    tags = [f"Tag: cp311-abi3-{tag}" for tag in target.tag.split(".")]
    files[f"{info}/WHEEL"] = "\n".join([*lines, *tags, ""]).encode()
    files[f"{info}/RECORD"] = record(files, f"{info}/RECORD")
    made = out / f"{info.removesuffix('.dist-info')}-cp311-abi3-{target.tag}.whl"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files, key=lambda name: (info in name, name)):
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), files[name], zipfile.ZIP_DEFLATED)
    return made


def record(files: Mapping[str, bytes], own: str) -> bytes:
    """What each file is: its digest and its size."""
    lines = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{own},," if name == own else f"{name},sha256={digest},{len(data)}")
    return "\n".join([*lines, ""]).encode()


def is_here(target: Target) -> bool:
    """Whether this machine runs what is compiled for a target."""
    here = {"Linux": "linux", "Darwin": "macos", "Windows": "windows"}[platform.system()]
    machine = platform.machine().lower().replace("amd64", "x86_64").replace("arm64", "aarch64")
    libc = platform.libc_ver()[0] == "glibc"
    return (target.system, target.machine) == (here, machine) and ("gnu" in target.zig) == (libc or here == "windows")


def use(wheel: Path) -> None:
    """Install a wheel into a new environment and learn something with it."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = Path(folder, "Scripts" if platform.system() == "Windows" else "bin", "python")
        line = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", wheel]
        subprocess.run([*line, "--constraint", ROOT / "constraints.txt"], check=True)
        subprocess.run([python, ROOT / "tools" / "smoke.py"], check=True, cwd=folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--only", default="", help="part of a target's name")
    parser.add_argument("--keep", type=Path, default=ROOT / "build" / "wheels", help="where compiled files are kept")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        wheel = build_here(Path(folder))
        for target in TARGETS:
            if arguments.only in target.zig:
                made = for_target(wheel, target, compile_for(target, arguments.keep), arguments.out)
                print(f"{made.name}: {made.stat().st_size / 1e6:.1f} MB", flush=True)
                if is_here(target):
                    use(made)


if __name__ == "__main__":
    main()
