"""The C sources of a model and what they are compiled to for the page.

The module of the default model lies in the package, built by `tools/build_learner.py`; beside it stands a digest of its
sources. A model with other sources is compiled here, by the compiler of the package `ziglang`.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from kenyon.classifier import KenyonClassifier
from kenyon.errors import ConfigError, KenyonError, require
from kenyon.export import export_model

COMPILED = ("kenyon.c", "kenyon.h", "kenyon_model.h", "kenyon_module.c", "kenyon_front.c", "kenyon_front.h")
"""Sources that the module is made of, the last two with a front end; others are for those who take them along."""

FUNCTIONS = (
    "init", "clear", "learn", "predict", "scores", "add_class", "forget_class", "save", "load", "activity", "weight",
    "the_model", "the_sample", "the_numbers", "the_buffer", "size", "samples", "trained",
)  # fmt: skip
"""What the page calls, after `kenyon_`."""

HEARING = ("feed", "gap", "the_samples", "window_of", "frame_of", "event_of")
"""What it calls besides, with a front end."""

FLAGS = (
    "-std=c99",
    "-O3",
    "-target",
    "wasm32-freestanding",
    "-mcpu=generic+simd128+bulk_memory",
    "-DKENYON_WIDE",
    "-Wl,--no-entry",
    "-Wl,--strip-all",
    *(f"-Wl,--export=kenyon_{name}" for name in FUNCTIONS),
)

WASM, DIGEST = "learner-{}.wasm", "learners.json"
"""A module for each sense of the page, and what their sources were."""


class Module(NamedTuple):
    """A learner for the page.

    Attributes:
        code: WebAssembly.
        sources: every file of the export, by name.
        room: how many classes there is room for.
    """

    code: bytes
    sources: Mapping[str, str]
    room: int

    @property
    def weight_unit(self) -> int:
        """What `kenyon_weight` gives for a weight that adds 1 to the score of a class."""
        return 2 ** (8 + self.number("SCORE_SHIFT"))

    def number(self, name: str) -> int:
        """A constant of the model's header; 0 where it has none of that name."""
        found = re.search(rf"#define KENYON_{name} (\d+)", self.sources["kenyon_model.h"])
        return int(found[1]) if found else 0


def module_for(model: KenyonClassifier, room: int) -> Module:
    """The module of a model: the one in the package where it fits, otherwise compiled now.

    Args:
        model: fitted.
        room: classes to make room for, unless it has more.
    """
    room = max(room, len(model.classes_))
    sources = sources_of(model, room)
    shipped = json.loads(files("kenyon.apps.teach").joinpath(DIGEST).read_text(encoding="utf-8"))
    digest = digest_of(sources)
    for sense, known in shipped["sources"].items():
        if known == digest:
            return Module(files("kenyon.apps.teach").joinpath(WASM.format(sense)).read_bytes(), sources, room)
    return Module(compile_module(sources), sources, room)


def sources_of(model: KenyonClassifier, room: int) -> dict[str, str]:
    """The C sources of a model that begins with nothing learned, without the names of its classes."""
    with TemporaryDirectory() as folder:
        paths = export_model(model, "c", folder, classes=room, start="empty")
        sources = {path.name: path.read_text(encoding="utf-8") for path in paths}
    names = r"/\* Classes by their number on the device:.*?\*/"
    if "#define KENYON_LEARNS 1\n" not in sources["kenyon_model.h"]:
        raise ConfigError(
            "the model learns with arithmetic='float': expected 'integer', which a page can continue with"
        )
    header = re.sub(
        names, "/* labels.json has the names of the classes. */", sources["kenyon_model.h"], flags=re.DOTALL
    )
    return sources | {"kenyon_model.h": header}


def digest_of(sources: Mapping[str, str]) -> str:
    """What a module is known by: all it is made of, and how."""
    total = hashlib.sha256("\n".join(FLAGS).encode())
    for name in _parts(sources):
        total.update(f"|{name}|{sources[name]}".encode())
    return total.hexdigest()


def _parts(sources: Mapping[str, str]) -> list[str]:
    return [name for name in COMPILED if name in sources]


def compile_module(sources: Mapping[str, str]) -> bytes:
    """WebAssembly of these sources; the same bytes from the same compiler."""
    require("ziglang", "teach", "a page for this model has to be compiled to WebAssembly")
    with TemporaryDirectory() as folder:
        names = _parts(sources)
        for name in names:
            (Path(folder) / name).write_text(sources[name], encoding="utf-8")
        more = [f"-Wl,--export=kenyon_{name}" for name in HEARING] if "kenyon_front.c" in sources else []
        code = [name for name in names if name.endswith(".c")]
        command = [sys.executable, "-m", "ziglang", "cc", *FLAGS, *more, "-o", "learner.wasm", *code]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise KenyonError(
                f"the C sources of the model could not be compiled to WebAssembly:\n{done.stderr.strip()}"
            )
        return (Path(folder) / "learner.wasm").read_bytes()
