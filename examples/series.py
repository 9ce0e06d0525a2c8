"""Motions of a smart watch, learned class by class: windows over time and channels.

The series come in the wheel of aeon, whose files are read without importing it (`pip install --no-deps aeon`):

    python examples/series.py BasicMotions
    python examples/series.py JapaneseVowels
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kenyon import KenyonClassifier


def read(path: Path) -> tuple[NDArray[np.float64], NDArray]:
    """Series of a `.ts` file, (samples, time, channels), and their labels."""
    lines = path.read_text(encoding="utf-8").split("@data", 1)[1].split()
    rows = [line.split(":") for line in lines]
    X = np.array([[np.array(channel.split(","), float) for channel in row[:-1]] for row in rows])
    return X.transpose(0, 2, 1), np.array([row[-1] for row in rows])


def main(name: str) -> None:
    found = find_spec("aeon")
    if found is None or found.origin is None:
        raise SystemExit("the series come with aeon: pip install --no-deps aeon")
    folder = Path(found.origin).parent / "datasets" / "data" / name
    stem = f"{name}_eq" if (folder / f"{name}_eq_TRAIN.ts").exists() else name
    X, y = read(folder / f"{stem}_TRAIN.ts")
    tested, wanted = read(folder / f"{stem}_TEST.ts")
    shape = X.shape[1:]
    clf = KenyonClassifier(shape=shape, axes="tc", layer="second-order", n_hidden=200, random_state=0)
    for label in np.unique(y):  # one class after the other
        clf.partial_fit(X[y == label].reshape(-1, X[0].size), y[y == label])
    print(f"{name}: {100 * clf.score(tested.reshape(len(tested), -1), wanted):.1f} % of {len(wanted)} series")
    clf.save(f"{name}.safetensors")
    print(f"{name}.safetensors holds {clf.state_bytes:,} bytes of state")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "BasicMotions")
