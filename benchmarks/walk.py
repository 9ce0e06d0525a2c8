"""How many modules of Kenyon a call walks through: `python benchmarks/walk.py`.

Counts the modules in which a function is called: for the first `partial_fit` of a model, for a second one, and for
`kenyon run` with one seed, of which it also says how often the identity is computed and the data set hashed.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from kenyon import KenyonClassifier

COUNTED = ("kenyon.lab.evaluation._identity.identity", "kenyon.data.streams._load.content_sum")
"""Functions whose calls are counted."""


def walked(action: Callable[[], Any], counts: Counter[str] | None = None) -> list[str]:
    """The modules of Kenyon in which a function was called during an action, in order."""
    seen: dict[str, None] = {}

    def trace(frame: FrameType, event: str, argument: Any) -> None:
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith("kenyon") and frame.f_code.co_name != "<module>":
            seen.setdefault(name)
            if counts is not None and (called := f"{name}.{frame.f_code.co_name}") in COUNTED:
                counts[called] += 1

    sys.setprofile(trace)
    try:
        action()
    finally:
        sys.setprofile(None)
    return list(seen)


def kenyon_run(folder: str, limit: int) -> None:
    """`kenyon run` on a part of the digits."""
    from typer.testing import CliRunner

    from kenyon.cli import app

    words = ["run", "--dataset", "digits", "--seeds", "1", "--max-per-task", str(limit), "--out", folder]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output


def main() -> None:
    """Print the modules of a first and of a second call, and of `kenyon run`."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 256, (64, 64), dtype=np.uint8), rng.integers(0, 5, 64)
    clf = KenyonClassifier("mse", random_state=0)
    for what in ("the first partial_fit", "another one"):
        modules = walked(lambda: clf.partial_fit(X, y))
        print(f"{what}: {len(modules)} modules\n  {', '.join(name.removeprefix('kenyon.') for name in modules)}")
    with tempfile.TemporaryDirectory() as folder:
        kenyon_run(folder, 60)  # another run, for the imports
        counts: Counter[str] = Counter()
        modules = walked(lambda: kenyon_run(folder, 50), counts)
    print(f"kenyon run: {len(modules)} modules\n  {', '.join(name.removeprefix('kenyon.') for name in modules)}")
    print(", ".join(f"{name.rpartition('.')[2]} called {counts[name]} times" for name in COUNTED))


if __name__ == "__main__":
    main()
