"""An exported model as a library for the tools that build for boards.

The files of each kind of package lie in `packages/`; the sources go into `src/` beside them, and the sketch into
`examples/learn/` where the tool takes sketches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable

PACKAGES = {
    "arduino": "a library for the Arduino IDE and arduino-cli",
    "platformio": "a library for PlatformIO",
    "esp-idf": "a component for ESP-IDF",
    "zephyr": "a module for Zephyr",
    "cmake": "a CMake package, with an example for this machine",
}
"""The kinds of packages and what they are."""

SKETCHED = ("arduino", "platformio")
SKETCH = "kenyon_sketch.ino"
NOT_OF_A_LIBRARY = (SKETCH, "Makefile", "kenyon_device.py", "kenyon_module.c")
URL = "https://pypi.org/project/kenyon/"


def as_package(name: str, written: Mapping[str, str]) -> dict[str, str]:
    """The files of a package by their paths.

    Args:
        name: of `PACKAGES`.
        written: the files of a plain export by their names.
    """
    found = {path: _filled(text) for path, text in _files(files("kenyon.export") / "packages" / name)}
    for file, text in written.items():
        if file == "README.md":
            found[file] = text
        elif file not in NOT_OF_A_LIBRARY:
            found[f"src/{file}"] = text
    if name in SKETCHED:
        found["examples/learn/learn.ino"] = written[SKETCH]
    return found


def _files(folder: Traversable, under: str = "") -> Iterator[tuple[str, str]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _files(entry, f"{under}{entry.name}/")
        else:
            yield under + entry.name, entry.read_text(encoding="utf-8")


def _filled(text: str) -> str:
    return text.replace("@VERSION@", version("kenyon")).replace("@URL@", URL)
