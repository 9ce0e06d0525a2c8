"""Build the package: pyproject.toml says what it is, this compiles its core."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

CORE = Path("src", "kenyon", "core")


def compiler() -> Any:
    """The module that compiles the core, loaded without the package around it."""
    spec = spec_from_file_location("compiler", CORE / "compiler.py")
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class BuildCore(build_ext):
    """Compile the core once for each instruction set, which setuptools by itself does not."""

    def build_extension(self, ext: Extension) -> None:
        kept = Path(self.build_temp, "core")
        kept.mkdir(parents=True, exist_ok=True)
        compiler().compile_core(Path(self.get_ext_fullpath(ext.name)).resolve(), kept=kept.resolve())


sources = sorted(str(path) for path in CORE.rglob("*.[ch]"))
setup(
    ext_modules=[Extension("kenyon.core._core", sources, py_limited_api=True)],
    cmdclass={"build_ext": BuildCore},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
