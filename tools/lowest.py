"""Print the lowest versions that pyproject.toml declares, as constraints: `python tools/lowest.py data plot test`.

The arguments are extras; what every installation needs is always there.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)>=(?P<version>[\w.]+)")


def lowest(extras: list[str]) -> list[str]:
    """`name==version` for each requirement of the package and the extras."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(r for extra in extras for r in project["optional-dependencies"][extra])]
    lines = []
    for requirement in wanted:
        match = REQUIREMENT.fullmatch(requirement)
        if match is None:
            sys.exit(f"pyproject.toml declares {requirement!r}; the form `name>=version` is wanted.")
        lines.append(f"{match['name']}=={match['version']}")
    return lines


if __name__ == "__main__":
    print("\n".join(lowest(sys.argv[1:])))
