"""Run pytest with another library in place of the core's: python sanitized.py LIBRARY [arguments of pytest]."""

from __future__ import annotations

import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location

import pytest

NAME = "kenyon.core._core"

spec = spec_from_file_location(NAME, sys.argv[1], loader=ExtensionFileLoader(NAME, sys.argv[1]))
assert spec and spec.loader
sys.modules[NAME] = module = module_from_spec(spec)
spec.loader.exec_module(module)

if __name__ == "__main__":
    sys.exit(pytest.main(sys.argv[2:]))
