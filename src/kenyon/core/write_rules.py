"""Write the rules as C, from their Python, when the core is compiled: `python write_rules.py FOLDER`.

The files of `kenyon.rules` that do so are loaded without the package around them, which needs the core.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

PACKAGE = Path(__file__).resolve().parents[1]

if __name__ == "__main__":
    for name, folder in (("kenyon", PACKAGE), ("kenyon.rules", PACKAGE / "rules")):
        sys.modules[name] = ModuleType(name)
        sys.modules[name].__path__ = [str(folder)]
    from kenyon.rules._source import source_of_the_package

    Path(sys.argv[1], "rules.h").write_text(source_of_the_package(PACKAGE), encoding="utf-8")
