"""Motions of a smart watch, learned class by class: windows over time and channels.

The series come in the wheel of aeon, whose files are read without importing it (`pip install --no-deps aeon`):

    python examples/series.py BasicMotions
    python examples/series.py JapaneseVowels

Two models learn them. One takes the numbers as they are and is exported as arrays for NumPy; the other takes bytes, as
a microcontroller reads them from its sensors, learns in integers, and is exported as C that keeps learning.
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kenyon import KenyonClassifier
from kenyon.export import export_model


def read(path: Path) -> tuple[NDArray[np.float64], NDArray]:
    """Series of a `.ts` file, (samples, time, channels), and their labels."""
    lines = path.read_text(encoding="utf-8").split("@data", 1)[1].split()
    rows = [line.split(":") for line in lines]
    X = np.array([[np.array(channel.split(","), float) for channel in row[:-1]] for row in rows])
    return X.transpose(0, 2, 1), np.array([row[-1] for row in rows])


def bundled() -> Path:
    """The folder of the series in the wheel of aeon."""
    found = find_spec("aeon")
    if found is None or found.origin is None:
        raise SystemExit("the series come with aeon: pip install --no-deps aeon")
    return Path(found.origin).parent / "datasets" / "data"


def in_bytes(X: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.uint8]:
    """What a converter of 8 bits reads, one range for each channel."""
    return np.clip(255 * (X - low) / (high - low), 0, 255).astype(np.uint8)


def learn(clf: KenyonClassifier, X: NDArray, y: NDArray) -> KenyonClassifier:
    """One class after the other."""
    for label in np.unique(y):
        clf.partial_fit(X[y == label].reshape(-1, X[0].size), y[y == label])
    return clf


def main(name: str, folder: Path, out: Path) -> None:
    stem = f"{name}_eq" if (folder / name / f"{name}_eq_TRAIN.ts").exists() else name
    (X, y), (tested, wanted) = (read(folder / name / f"{stem}_{part}.ts") for part in ("TRAIN", "TEST"))
    series = {"shape": X.shape[1:], "axes": "tc", "layer": "second-order", "random_state": 0}

    clf = learn(KenyonClassifier(**series, n_hidden=200), X, y)
    print(f"{name}: {100 * clf.score(tested.reshape(len(tested), -1), wanted):.1f} % of {len(wanted)} series")
    clf.save(out / f"{name}.safetensors")
    export_model(clf, "numpy", out / f"{name}-numpy")
    print(f"{clf.state_bytes:,} bytes of state in {name}.safetensors; {name}-numpy predicts with NumPy alone")

    first = X[y == y[0]].reshape(-1, X.shape[2])  # the range of the sensors, from one class
    low, high = first.min(axis=0), first.max(axis=0)
    small = KenyonClassifier(**series, memory_budget="20KB", expected_classes=len(np.unique(y)))
    learn(small, in_bytes(X, low, high), y)
    share = small.score(in_bytes(tested, low, high).reshape(len(tested), -1), wanted)
    export_model(small, "c", out / f"{name}-c")
    print(f"as bytes: {100 * share:.1f} % with {small.state_bytes:,} bytes of state; {name}-c keeps learning in C")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?", default="BasicMotions")
    parser.add_argument("--folder", type=Path, help="where the series are; those of aeon where it is not given")
    parser.add_argument("--out", type=Path, default=Path(), help="where models go")
    given = parser.parse_args()
    main(given.name, given.folder or bundled(), given.out)
