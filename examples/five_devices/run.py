"""Five devices in C learn two digits each; their buffers travel, and the merged model knows all ten.

    python examples/five_devices/run.py                  8 x 8 digits, which need no download
    python examples/five_devices/run.py --dataset mnist

A model is exported as C sources and compiled with `device.c`. Each device is a process of its own that begins with
nothing, is given the samples of two digits, and sends back the bytes of `kenyon_save`. A sixth merges the five buffers
by `kenyon_merge` and is asked about samples of every digit; Python merges the same models and must agree on each.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kenyon import KenyonClassifier
from kenyon.data import load_dataset
from kenyon.errors import MergeWarning
from kenyon.export import export_model

HERE = Path(__file__).parent


def packed(X: NDArray[np.uint8], y: NDArray[np.int64]) -> bytes:
    """Samples as a device reads them: a byte for the label, then the features."""
    return np.column_stack([y.astype(np.uint8), X]).tobytes()


def compiled(model: Path, folder: Path) -> Path:
    """The program of a device."""
    export_model(model, "c", folder)
    program, sources = folder / "device", [folder / "kenyon.c", HERE / "device.c"]
    subprocess.run(["cc", "-O2", "-std=c99", f"-I{folder}", *sources, "-o", program], check=True)
    return program


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="digits")
    parser.add_argument("--budget", default="20KB")
    arguments = parser.parse_args()
    data = load_dataset(arguments.dataset)
    X, y = np.asarray(data.train.X[:]), data.train.y
    more, labels = np.asarray(data.test.X[:]), data.test.y
    pairs = [np.flatnonzero(y // 2 == device) for device in range(5)]

    def fresh() -> KenyonClassifier:
        return KenyonClassifier(memory_budget=arguments.budget, shape=data.shape, random_state=0)

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        fresh().partial_fit(X[:1], y[:1], classes=range(10)).save(folder / "model")
        device, buffers = compiled(folder / "model", folder / "c"), []
        for number, some in enumerate(pairs):
            learned = subprocess.run([device, "learn"], input=packed(X[some], y[some]), capture_output=True, check=True)
            buffers.append(folder / f"buffer-{number}")
            buffers[-1].write_bytes(learned.stdout)
            print(f"device {number} learned {len(some):,} samples of {2 * number} and {2 * number + 1}: ", end="")
            print(f"{len(learned.stdout):,} bytes")
        asked = subprocess.run([device, "ask", *buffers], input=packed(more, labels), capture_output=True, check=True)
    found = np.frombuffer(asked.stdout, np.uint8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MergeWarning)  # few bits: the merge is statistical
        merged = fresh().partial_fit(X[pairs[0]], y[pairs[0]])
        for some in pairs[1:]:
            merged.merge(fresh().partial_fit(X[some], y[some]))
    single = fresh().partial_fit(X, y)
    print(f"merged on a device: {100 * np.mean(found == labels):.2f} % of {len(labels):,} samples of all digits")
    print(f"the same as merged in Python, sample by sample: {np.array_equal(found, merged.predict(more))}")
    print(f"a single model that saw everything: {100 * single.score(more, labels):.2f} %")


if __name__ == "__main__":
    main()
