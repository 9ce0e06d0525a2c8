"""How many modules of Kenyon a call walks through: `python benchmarks/walk.py`.

Counts the modules in which a function is called, first for the first `partial_fit` of a model, then for a second one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from kenyon import KenyonClassifier


def walked(action: Callable[[], Any]) -> list[str]:
    """The modules of Kenyon in which a function was called during an action, in order."""
    seen: dict[str, None] = {}

    def trace(frame: FrameType, event: str, argument: Any) -> None:
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith("kenyon") and frame.f_code.co_name != "<module>":
            seen.setdefault(name)

    sys.setprofile(trace)
    try:
        action()
    finally:
        sys.setprofile(None)
    return list(seen)


def main() -> None:
    """Print the modules of a first and of a second call."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 256, (64, 64), dtype=np.uint8), rng.integers(0, 5, 64)
    clf = KenyonClassifier("mse", random_state=0)
    for what in ("the first partial_fit", "another one"):
        modules = walked(lambda: clf.partial_fit(X, y))
        print(f"{what}: {len(modules)} modules\n  {', '.join(name.removeprefix('kenyon.') for name in modules)}")


if __name__ == "__main__":
    main()
