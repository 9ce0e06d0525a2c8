"""Which modules of Kenyon a call goes through: what a newcomer has to open to follow it.

    python benchmarks/walk.py            both walks, the number of modules and the most frequent calls
    python benchmarks/walk.py --modules  the modules by name, too

A module counts if one of its functions runs during the call; importing it does not count. The walks are the first
`partial_fit` of a new classifier, and `kenyon run` with one seed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

COUNTED = {
    "identity": ("lab/evaluation/_identity.py", "identity"),
    "content_sum": ("data/streams/_content.py", "content_sum"),
    "settle": ("model/build.py", "settle"),
}
"""Functions whose calls are counted: file and name."""


def walk(call: Callable[[], Any]) -> tuple[list[str], Counter[str]]:
    """The modules that a call goes through, in the order of first use, and how often the counted functions ran."""
    seen: dict[str, None] = {}
    counts: Counter[str] = Counter()
    names = {(file, name): key for key, (file, name) in COUNTED.items()}

    def trace(frame: FrameType, event: str, _: Any) -> None:
        if event != "call":
            return
        code = frame.f_code
        file = code.co_filename.replace("\\", "/").partition("/kenyon/")[2]
        if "/src/kenyon/" not in code.co_filename.replace("\\", "/") or code.co_name == "<module>":
            return
        seen.setdefault(file, None)
        if key := names.get((file, code.co_name)):
            counts[key] += 1

    sys.setprofile(trace)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(seen), counts


def first_partial_fit() -> Callable[[], Any]:
    from kenyon import KenyonClassifier

    X, y = np.random.default_rng(0).integers(0, 256, (100, 64), dtype=np.uint8), np.arange(100) % 5
    KenyonClassifier(n_hidden=300).partial_fit(X, y)  # for the imports
    return lambda: KenyonClassifier(n_hidden=200).partial_fit(X, y)


def kenyon_run(folder: Path) -> Callable[[], Any]:
    from typer.testing import CliRunner

    from kenyon.cli import app

    words = ["run", "--dataset", "digits", "--seeds", "1", "--out", str(folder)]

    def call(limit: int = 50) -> None:
        result = CliRunner().invoke(app, [*words, "--max-per-task", str(limit)])
        assert result.exit_code == 0, result.output

    call(60)  # another run, for the imports
    return call


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--modules", action="store_true", help="name the modules")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, call in (("partial_fit", first_partial_fit()), ("kenyon run", kenyon_run(Path(folder) / "runs"))):
            modules, counts = walk(call)
            told = ", ".join(f"{key} {counts[key]}" for key in COUNTED)
            print(f"{name}: {len(modules)} modules; calls: {told}")
            if arguments.modules:
                print("".join(f"  {module}\n" for module in modules), end="")


if __name__ == "__main__":
    main()
