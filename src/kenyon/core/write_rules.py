"""Write the rules as C, from their Python, when the core is compiled: `python write_rules.py FOLDER`.

The translation is that of `kenyon.rules`, loaded without the package around it.
"""

from __future__ import annotations

import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]

if __name__ == "__main__":
    sys.path.insert(0, str(PACKAGE / "rules"))
    from _source import source_of_the_package

    Path(sys.argv[1], "rules.h").write_text(source_of_the_package(PACKAGE), encoding="utf-8")
