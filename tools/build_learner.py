"""Compile the learners of the page `kenyon teach` for the models that it has by default.

    python tools/build_learner.py [FOLDER]

writes `learner-SENSE.wasm` for each sense and, as `learners.json`, digests of their sources and the compiler's version.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

import kenyon.apps.teach
from kenyon.apps.teach._module import DIGEST, WASM, compile_module, digest_of
from kenyon.apps.teach._page import SENSES, default_sources


def build() -> dict[str, bytes]:
    """The files by name."""
    sources = {sense: default_sources(sense) for sense in SENSES}
    known = {"sources": {sense: digest_of(own) for sense, own in sources.items()}, "ziglang": version("ziglang")}
    modules = {WASM.format(sense): compile_module(own) for sense, own in sources.items()}
    return {**modules, DIGEST: (json.dumps(known, indent=1) + "\n").encode()}


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(kenyon.apps.teach.__file__).parent)
    for name, content in build().items():
        (folder / name).write_bytes(content)
        print(f"{len(content):>9,} bytes  {folder / name}")
