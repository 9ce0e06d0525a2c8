"""The page as one self-contained HTML file: learner, digits, style and script are inside it."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib.resources import files
from math import prod
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory
from typing import Any

from kenyon.apps.teach._digits import HELD_OUT, SIDE, STREAM, TASKS, packed_digits
from kenyon.apps.teach._module import Module, module_for, sources_of
from kenyon.apps.teach._view import description_of, front_of, shape_of, tensors_of, units_of
from kenyon.classifier import KenyonClassifier
from kenyon.errors import unknown
from kenyon.features import Windows
from kenyon.features.front import FrontPart, Motion, Spectra
from kenyon.layers import SecondOrder
from kenyon.model.options import OPTIONS
from kenyon.utils.system import replace_file

SCRIPTS = (
    "base", "sha256", "zip", "safetensors", "state", "learner", "model", "network", "pad", "bars", "chart", "replay",
    "player", "inside", "senses", "ear", "files", "page", "main",
)  # fmt: skip
"""The files of the script, in order; together they are the body of one function."""

BUDGET, CLASSES, SEED = "20KB", 36, 0
"""What a page learns with where no model is given: room for ten digits and an alphabet."""

SENSES: dict[str, tuple[FrontPart | None, int]] = {
    "draw": (None, CLASSES),
    "sound": (Spectra(rate=8000), 16),
    "motion": (Motion(inputs=6), 16),
}
"""What a page takes in: the front end, and room for how many classes."""

LICENCE = (
    "The handwritten digits are part of MNIST by Yann LeCun and Corinna Cortes, under the Creative Commons "
    "Attribution-Share Alike 3.0 licence. Everything else: Kenyon, Apache-2.0."
)


OWN_LICENCE = "Kenyon, Apache-2.0."

LISTENING = """for event in model.listen(chunks):   # int16 samples as they come
    print(event.label)"""


def default_model(sense: str = "draw") -> KenyonClassifier:
    """The model of a page that was given none, before it learned anything.

    Args:
        sense: what the page takes in: "draw", "sound" or "motion".

    Example:
        >>> default_model().memory_budget
        '20KB'
    """
    if sense not in SENSES:
        raise unknown("sense", sense, SENSES)
    front, classes = SENSES[sense]
    takes: dict[str, Any] = {"features": Windows(shape=(SIDE, SIDE))} if front is None else {"front": front}
    return KenyonClassifier(
        layer=SecondOrder(arithmetic="integer"),
        memory_budget=BUDGET,
        expected_classes=classes,
        random_state=SEED,
        **takes,
    )


def write_page(path: Path, model: KenyonClassifier | None = None, sense: str = "draw") -> None:
    """Write the page, as a whole or not at all.

    Args:
        path: the file, in a folder that is made where it does not exist.
        model: one that learns in integers and takes images or has a front end, to continue from; None for an empty one
            of 20 KB.
        sense: what an empty one takes in: "draw", "sound" or "motion".

    Example:
        >>> from pathlib import Path
        >>> write_page(Path("teach.html"))
        >>> Path("teach.html").stat().st_size < 4_000_000
        True
    """
    text = page_html(model, sense)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, text.encode())


def page_html(model: KenyonClassifier | None = None, sense: str = "draw") -> str:
    """The text of the page. Its policy allows our script alone, by its hash, and no request to anywhere.

    Example:
        >>> page_html().startswith("<!doctype html>")
        True
    """
    fitted = model if model is not None else _started(sense)
    shape, front = shape_of(fitted), fitted.spec_.front
    module = module_for(fitted, SENSES[sense][1] if model is None else CLASSES if front is None else 16)
    script = _script()
    return Template(_read("index.html")).substitute(
        policy=_policy(script),
        style=_read("page.css"),
        script=script,
        data=_embedded(_data(fitted, shape, module, has_learned=model is not None)),
        usage=f"model.predict(images)   # bytes, {prod(shape)} to a row" if front is None else LISTENING,
        stream=f"{STREAM:,}",
        licence=escape(LICENCE if front is None else OWN_LICENCE),
    )


def default_sources(sense: str = "draw") -> dict[str, str]:
    """The C sources of a default model, from which the module in the package is built."""
    return sources_of(_started(sense), SENSES[sense][1])


def _started(sense: str = "draw") -> KenyonClassifier:
    """A default model with its features and layer made, which happens when the first sample is learned."""
    import numpy as np

    model = default_model(sense)
    front = SENSES[sense][0]
    width = SIDE * SIDE if front is None else prod(front.shape)
    return model.partial_fit(np.zeros((1, width), np.uint8), ["blank"])


def _data(model: KenyonClassifier, shape: tuple[int, int], module: Module, has_learned: bool) -> dict[str, Any]:
    description, after = description_of(model)
    return {
        "shape": shape,
        "module": _text(module.code),
        "sources": module.sources,
        "learner": {
            "inputs": prod(shape),
            "units": model.parts()[0].n_outputs,
            "room": module.room,
            "unlabelled": model.get_params()["unlabelled"],
            "tensors": tensors_of(model),
            "weightUnit": module.weight_unit,
            "front": front_of(model),
        },
        "model": {
            "description": description,
            "after": after,
            "budget": OPTIONS["memory_budget"].check(model.get_params()["memory_budget"]),
        },
        "state": _text(_saved(model)) if has_learned else None,
        "most": module.number("SAVE_BYTES"),
        "units": units_of(model),
        "digits": _digits(shape) if model.spec_.front is None else None,
        "front": front_of(model),
    }


def _digits(shape: tuple[int, int]) -> dict[str, Any]:
    """The stream of the replay, in the size of the model's images."""
    return {
        "packed": _text(packed_digits(shape)),
        "stream": STREAM,
        "heldOut": HELD_OUT,
        "tasks": TASKS,
        "shape": shape,
    }


def _saved(model: KenyonClassifier) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        model.save(path)
        return path.read_bytes()


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _read(name: str) -> str:
    return files("kenyon.apps.teach").joinpath("page", name).read_text(encoding="utf-8")


def _script() -> str:
    parts = "\n".join(_read(f"{name}.js") for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}\n}})();'


def _policy(script: str) -> str:
    """No request to anywhere; the script by its hash, and the learner it compiles."""
    digest = base64.b64encode(hashlib.sha256(f"\n{script}\n".encode()).digest()).decode()
    scripts = f"script-src 'sha256-{digest}' 'wasm-unsafe-eval'"
    own = f"{scripts}; style-src 'unsafe-inline'; img-src data:; media-src mediastream:"
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"


def _embedded(data: dict[str, Any]) -> str:
    """The data as JSON in which no markup can begin or end."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
