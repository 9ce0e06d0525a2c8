"""Compile the learner of the page `kenyon teach` for the model that it has by default.

    python tools/build_learner.py [FOLDER]

writes `learner.wasm` and, as `learner.json`, a digest of its sources and the compiler's version.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

import kenyon.apps.teach
from kenyon.apps.teach._module import DIGEST, WASM, compile_module, digest_of
from kenyon.apps.teach._page import default_sources


def build() -> dict[str, bytes]:
    """The two files by name."""
    sources = default_sources()
    known = {"sources": digest_of(sources), "ziglang": version("ziglang")}
    return {WASM: compile_module(sources), DIGEST: (json.dumps(known, indent=1) + "\n").encode()}


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(kenyon.apps.teach.__file__).parent)
    for name, content in build().items():
        (folder / name).write_bytes(content)
        print(f"{len(content):>9,} bytes  {folder / name}")
