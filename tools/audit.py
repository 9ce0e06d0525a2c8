"""Known vulnerabilities of the pinned versions, from a copy of PyPA's advisories: no network, nothing installed.

    git clone --depth 1 https://github.com/pypa/advisory-database
    python tools/audit.py advisory-database constraints.txt constraints-logs.txt

Prints each advisory that a version falls under, and ends with exit code 1 where there is one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

PIN = re.compile(r"(?P<name>[\w.-]+)==(?P<version>[^\s;]+)")


def affects(advisory: dict[str, Any], name: str, version: Version) -> bool:
    """Whether a version of a package is one that the advisory names, or lies in one of its ranges."""
    for affected in advisory.get("affected", ()):
        if canonicalize_name(affected["package"]["name"]) != name:
            continue
        if any(_same(version, named) for named in affected.get("versions", ())):
            return True
        for span in affected.get("ranges", ()):
            if span["type"] == "ECOSYSTEM" and _within(span["events"], version):
                return True
    return False


def _within(events: list[dict[str, str]], version: Version) -> bool:
    """Whether the last event at or before a version leaves it affected."""
    inside = False
    for event in events:
        ((kind, value),) = event.items()
        if kind == "introduced":
            inside |= value == "0" or Version(value) <= version
        elif kind == "fixed":
            inside &= version < Version(value)
        elif kind == "last_affected":
            inside &= version <= Version(value)
    return inside


def _same(version: Version, named: str) -> bool:
    try:
        return Version(named) == version
    except InvalidVersion:
        return False


def found(database: Path, pins: str) -> Iterator[str]:
    """A line for each advisory that a pinned version falls under."""
    for pin in PIN.finditer(pins):
        name, version = canonicalize_name(pin["name"]), Version(pin["version"])
        for path in sorted((database / "vulns" / name).glob("*.yaml")):
            advisory = yaml.safe_load(path.read_text(encoding="utf-8"))
            if "withdrawn" not in advisory and affects(advisory, name, version):
                also = ", ".join(advisory.get("aliases", ()))
                yield f"{name} {version}: {advisory['id']}" + (f" ({also})" if also else "")


def main(database: str, *files: str) -> None:
    vulns = Path(database, "vulns")
    if not vulns.is_dir():
        sys.exit(f"{vulns} is no folder: expected a copy of https://github.com/pypa/advisory-database")
    pins = "\n".join(Path(file).read_text(encoding="utf-8") for file in files)
    lines = list(found(Path(database), pins))
    print("\n".join([*lines, f"{len(PIN.findall(pins))} versions, {len(lines)} advisories"]))
    sys.exit(1 if lines else 0)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
