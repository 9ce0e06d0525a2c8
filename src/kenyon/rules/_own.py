"""User-defined rules as machine code: translated to C, compiled by the installed compiler, cached by content.

A library is named by the digest of its source, of the core's headers and of the compiler's flags, so that an edited
rule is never served by an old one. It is written whole or not at all, in `KENYON_CACHE`, or else where the
system keeps such files, with its checksum beside it: a damaged library would end the process that loads it.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from kenyon import core
from kenyon.core import compiler
from kenyon.rules._source import Program, c_of, entries_of
from kenyon.utils.system import replace_file

SYMBOL = "kenyon_rule"

SOURCE = """#include "host/value.h"
#include "plastic.h"

{rule}

static const kn_entry entries[] = {{
    {entries}
    {{0, 0, 0}},
}};

#ifdef _WIN32
__declspec(dllexport)
#else
__attribute__((visibility("default")))
#endif
extern const kn_table kenyon_rule;
const kn_table kenyon_rule = {{"own", {{entries, 0}}}};
"""

Functions = Mapping[str, Callable[..., int]]


def cache_folder() -> Path:
    """Where compiled rules are kept."""
    given = os.environ.get("KENYON_CACHE")
    if given:
        return Path(given, "rules")
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base, "kenyon", "rules")


def source_of_rule(program: Program) -> str:
    """The C of a rule as a library of its own; raises `Untranslatable` where it has no form in C."""
    return SOURCE.format(rule=c_of("own", program), entries="\n    ".join(entries_of("own", program)))


def kept(source: str) -> Functions | None:
    """The functions of a rule that was compiled before, on this machine or one like it; None where it was not."""
    try:
        path = _library(source)
        whole = _checksum(path) == _beside(path).read_text(encoding="ascii")
        return _loaded(path) if whole else None
    except (OSError, RuntimeError, ValueError):  # nothing is there, no home, or no text: it is compiled again
        return None


def compiled(source: str) -> Functions | None:
    """The functions of a rule, compiled and cached; None where that fails, with a warning if there is a compiler."""
    try:
        compiler.find_compiler()
    except compiler.CompilerError:
        return None
    try:
        path = _library(source)
        _compile(source, path)
        replace_file(_beside(path), _checksum(path).encode(), durable=False)
        return _loaded(path)
    except (OSError, RuntimeError) as error:
        return _compiled_for_now(source, error)


def _compiled_for_now(source: str, reason: Exception) -> Functions | None:
    """Compiled for this process alone, where nothing can be kept."""
    if isinstance(reason, OSError):
        try:
            folder = tempfile.mkdtemp(prefix="kenyon-")
            path = Path(folder, _library_name("rule"))
            _compile(source, path)
            return _loaded(path)
        except (OSError, RuntimeError) as error:
            reason = error
    warnings.warn(f"a rule could not be compiled, so it runs in NumPy: {reason}", stacklevel=2)
    return None


def _compile(source: str, path: Path) -> None:
    flags = compiler.ISAS.get(compiler.machine(), {}).get(core.isa(), [])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rule.c")
        file.write_text(source, encoding="utf-8")
        compiler.compile_library(path, [(file, [f"-I{compiler.FOLDER}", "-fwrapv", *flags])])


def _library(source: str) -> Path:
    digest = hashlib.sha256()
    for part in (source, _sources(), core.isa(), repr(compiler.FLAGS), sys.platform, compiler.machine()):
        digest.update(part.encode() + b"\0")
    return cache_folder() / _library_name(digest.hexdigest()[:32])


def _beside(path: Path) -> Path:
    return path.with_suffix(".sha256")


def _checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _library_name(stem: str) -> str:
    return stem + (".dll" if sys.platform == "win32" else ".so")


@cache
def _sources() -> str:
    """The core's headers, all of them: which a rule includes may change."""
    paths = sorted(compiler.FOLDER.rglob("*.h"))
    return "".join(path.read_text(encoding="utf-8") for path in paths)


def _loaded(path: Path) -> Functions:
    library = ctypes.CDLL(str(path))
    table = ctypes.c_char.in_dll(library, SYMBOL)
    return core.functions_at(ctypes.addressof(table))
