"""Write the rules as C, from their Python, when the core is compiled: `python write_rules.py FOLDER`.

The files of `kenyon.rules` that do so are loaded without the package around them, which needs the core.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

PACKAGE = Path(__file__).resolve().parents[1]

if __name__ == "__main__":
    for name, folder in (("kenyon", PACKAGE), ("kenyon.rules", PACKAGE / "rules")):
        sys.modules[name] = ModuleType(name)
        sys.modules[name].__path__ = [str(folder)]
    text = import_module("kenyon.rules._source").source_of_the_package(PACKAGE)
    Path(sys.argv[1], "rules.h").write_text(text, encoding="utf-8")
