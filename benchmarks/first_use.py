"""What the first use costs: processor time of a new process in a new installation, and the bytes of that installation.

    python benchmarks/first_use.py [--wheel dist/kenyon-0.1.0-cp311-abi3-linux_x86_64.whl] [--times 5]

The package (this checkout, or a wheel) is installed with what it depends on into a new environment. A process imports
it, learns 1,000 digits and predicts 300, with each of three models; another one imports NumPy alone. The figure is the
difference of their processor times, user and system, the median of a few. `as installed` has the bytecode that pip
leaves, `without bytecode` compiles every module again. Wanted: at most 0.5 s each, and at most 120 MB.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_SECONDS, MOST_BYTES = 0.5, 120e6

MODELS = {
    "20 KB budget": "KenyonClassifier(memory_budget='20KB', shape=(8, 8), random_state=0).partial_fit(X, y).predict(T)",
    "a table": "KenyonClassifier(random_state=0).partial_fit(X.astype(float), y).predict(T.astype(float))",
    "the paper's rule": "KenyonClassifier('mse', n_hidden=11_000, random_state=0).partial_fit(X, y).predict(T)",
}
USE = """
from importlib.resources import files
import numpy as np
from kenyon import KenyonClassifier

with files("kenyon.data.streams").joinpath("digits.npz").open("rb") as file, np.load(file) as digits:
    X, T, y = digits["X"][:1000], digits["X"][1000:1300], digits["y"][:1000].astype(int)
"""


def installed(folder: Path, package: str) -> tuple[Path, int]:
    """A new environment with the package in it: its interpreter, and the bytes that the installation added."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    before = size_of(folder)
    line = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", package]
    subprocess.run([*line, "--constraint", ROOT / "constraints.txt"], check=True)
    return python, size_of(folder) - before


def size_of(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def seconds(python: Path, code: str, bytecode: bool, times: int) -> float:
    """Processor time of a new process, the median of a few."""
    taken = []
    for _ in range(times):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "KENYON"))}
        with tempfile.TemporaryDirectory() as nothing:
            prefix = {} if bytecode else {"PYTHONPYCACHEPREFIX": nothing}
            process = subprocess.Popen([python, "-c", code], env=environment | prefix, cwd=nothing)
            _, status, used = os.wait4(process.pid, 0)
        if status:
            sys.exit("the process failed")
        taken.append(used.ru_utime + used.ru_stime)
    return statistics.median(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", default=str(ROOT), help="what is installed; this checkout unless it is given")
    parser.add_argument("--times", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        python, size = installed(Path(folder), arguments.wheel)
        print(f"installation with all it depends on: {size / 1e6:.0f} MB (wanted: at most {MOST_BYTES / 1e6:.0f})")
        print(f"{'processor time beyond NumPy, s':32} {'as installed':>14} {'without bytecode':>18}")
        bare = [seconds(python, "import numpy", bytecode, arguments.times) for bytecode in (True, False)]
        for name, model in MODELS.items():
            used = [seconds(python, USE + model, bytecode, arguments.times) for bytecode in (True, False)]
            first, second = (one - own for one, own in zip(used, bare, strict=True))
            print(f"{name:32} {first:14.2f} {second:18.2f}   (wanted: at most {MOST_SECONDS})")
        print(f"{'Python and NumPy alone':32} {bare[0]:14.2f} {bare[1]:18.2f}")


if __name__ == "__main__":
    main()
