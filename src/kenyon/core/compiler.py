"""Compile C with the system's compiler, or with Zig's from PyPI.

The standard library alone, since a build of the package loads this file before there is a package.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from pathlib import Path

FOLDER = Path(__file__).parent

FLAGS = ["-std=c99", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fvisibility=hidden"]
"""The bits depend on `-ffp-contract=off`: a multiplication and an addition are rounded one after the other."""

WARNINGS = ["-Wall", "-Wextra", "-Wno-psabi", "-Wno-unused-function"]

AVX2 = ["-mavx2", "-mbmi", "-mbmi2", "-mlzcnt", "-mpopcnt"]
AVX512 = [*AVX2, "-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mprefer-vector-width=512"]

ISAS: dict[str, dict[str, list[str]]] = {
    "x86_64": {"baseline": [], "avx2": AVX2, "avx512": AVX512},
    "aarch64": {"baseline": []},
}
"""The instruction sets of a kind of processor, each with its flags; `host/isas.c` chooses among them."""

NAMES = {"amd64": "x86_64", "arm64": "aarch64"}

PROBE = """
#include <stdint.h>
#include <string.h>
typedef float lanes __attribute__((vector_size(32)));
void twice(lanes *a) { *a += *a; }
"""


class CompilerError(RuntimeError):
    """There is no C compiler, or it failed."""


def zig() -> list[str] | None:
    """Zig's compiler, where the package `ziglang` is installed."""
    return [sys.executable, "-m", "ziglang", "cc"] if find_spec("ziglang") else None


@cache
def system_compiler() -> tuple[str, ...] | None:
    """KENYON_CC or CC where they are set, else the first of cc, gcc and clang that works."""
    for name in ("KENYON_CC", "CC"):
        if os.environ.get(name):
            return tuple(shlex.split(os.environ[name]))
    for name in ("cc", "gcc", "clang"):
        path = shutil.which(name)
        if path and _works(path):
            return (path,)
    return None


def find_compiler() -> list[str]:
    """The system's compiler, or else Zig's."""
    system = system_compiler()
    found = list(system) if system else zig()
    if not found:
        raise CompilerError("there is no C compiler: expected cc, gcc or clang, or the package ziglang")
    return found


def machine() -> str:
    """The kind of this processor."""
    name = platform.machine().lower()
    return NAMES.get(name, name)


def compile_core(
    target: Path,
    compiler: Sequence[str] | None = None,
    flags: Sequence[str] = (),
    kind: str = "",
    kept: Path | None = None,
    libraries: Sequence[str] = (),
) -> None:
    """Compile the extension module, once for each instruction set.

    Args:
        target: the file to write.
        compiler: the command; None for the one of this machine.
        flags: further flags for compiler and linker, such as a target or a sanitizer.
        kind: of the processor; empty for this one's.
        kept: a folder in which compiled files are kept, for builds to come that change only some.
        libraries: what is linked beside the C library.
    """
    host = FOLDER / "host"
    units: list[tuple[Path, Sequence[str]]] = [(host / "binding.c", []), (host / "isas.c", [])]
    with tempfile.TemporaryDirectory() as written:
        _run([sys.executable, str(FOLDER / "write_rules.py"), written])
        for isa, own in ISAS.get(kind or machine(), {"baseline": []}).items():
            for part in ("FEATURES", "LAYERS"):
                named = [f"-DKN_ISA={isa}", f"-DKN_{part}", f"-iquote{written}", f"-iquote{FOLDER}"]
                units.append((host / "isa.c", [*named, *own]))
        compile_library(target, units, compiler, flags, kept, libraries)


def compile_library(
    target: Path,
    units: Sequence[tuple[Path, Sequence[str]]],
    compiler: Sequence[str] | None = None,
    flags: Sequence[str] = (),
    kept: Path | None = None,
    libraries: Sequence[str] = (),
) -> None:
    """Compile C files, each with flags of its own, into one shared library, and put it in place when it is whole.

    Args:
        target: the file to write.
        units: files, each with flags of its own.
        compiler, flags, kept, libraries: as in `compile_core`.
    """
    command = list(compiler) if compiler else find_compiler()
    if "ziglang" in command and "-target" not in flags:
        flags = [*flags, "-mcpu=baseline"]  # else it takes the processor at hand
    position = [] if target.suffix in (".pyd", ".dll") else ["-fPIC"]
    shared = ["-shared", "-Wl,-undefined,dynamic_lookup"] if target_is_mac(flags) else ["-shared"]
    with tempfile.TemporaryDirectory() as folder:
        jobs = []
        for source, own in units:
            line = [*command, *FLAGS, *WARNINGS, *position, *flags, *own, str(source)]
            made = (kept or Path(folder)) / f"{_digest(line)}.o"
            jobs.append((made, [*line, "-c", "-o", f"{made}.new"]))
        _run_all([line for made, line in jobs if not made.exists()])
        for made, _ in jobs:
            if not made.exists():
                os.replace(f"{made}.new", made)
        whole = os.path.join(folder, target.name)
        _run([*command, *flags, *shared, *(str(made) for made, _ in jobs), *libraries, "-lm", "-o", whole])
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = target.with_name(f".{target.name}.{os.getpid()}")
        shutil.copyfile(whole, beside)
        os.replace(beside, target)


def target_is_mac(flags: Sequence[str]) -> bool:
    """Whether code is compiled for macOS."""
    if "-target" in flags:
        return "macos" in flags[list(flags).index("-target") + 1]
    return sys.platform == "darwin"


def _digest(line: Sequence[str]) -> str:
    """Of what a command compiles, all that it includes being put in its place, and of its flags."""
    done = subprocess.run([*line, "-E", "-P"], capture_output=True)
    flags = [flag for flag in line if not flag.startswith("-iquote")]
    return hashlib.sha256("\0".join(flags).encode() + done.stdout).hexdigest()[:16]


def _run_all(lines: Sequence[Sequence[str]]) -> None:
    """Run commands side by side, as many as there are processors."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(_run, lines))


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace")
    sys.stderr.write("" if done.returncode else done.stderr)
    if done.returncode:
        raise CompilerError(f"{shlex.join(command)} failed:\n{done.stderr}")


def _works(compiler: str) -> bool:
    """Whether it compiles and links a small library with vectors; some systems have one without its headers."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "probe.c")
        source.write_text(PROBE)
        try:
            _run([compiler, "-shared", "-fPIC", str(source), "-lm", "-o", os.path.join(folder, "probe.so")])
        except (CompilerError, OSError):
            return False
    return True
