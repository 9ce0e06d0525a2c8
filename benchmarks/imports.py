"""What importing the classifier costs: seconds and resident memory, beside another checkout in the same run.

    python benchmarks/imports.py --against ../kenyon-before

`--against` is the root of another checkout; its figures are taken in turns with ours, on the same machine.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

IMPORT = """
import time
start = time.perf_counter()
from kenyon import KenyonClassifier
seconds = time.perf_counter() - start
resident = next(line for line in open("/proc/self/status") if line.startswith("VmRSS"))
print(seconds, int(resident.split()[1]) / 1024)
"""


def measure(root: Path) -> tuple[float, float]:
    """(seconds, MB) of one import in a new process."""
    environment = os.environ | {"PYTHONPATH": str(root / "src")}
    words = subprocess.run([sys.executable, "-c", IMPORT], env=environment, capture_output=True, check=True, text=True)
    seconds, megabytes = map(float, words.stdout.split())
    return seconds, megabytes


def main() -> None:
    """Print the medians, and the ratios where there is another checkout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--times", type=int, default=9)
    arguments = parser.parse_args()
    roots = {"here": Path(__file__).parents[1]} | ({"there": arguments.against} if arguments.against else {})
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in roots}
    for _ in range(arguments.times + 1):
        for name, root in roots.items():
            taken[name].append(measure(root))
    medians = {
        name: tuple(statistics.median(column) for column in zip(*rows[1:], strict=True)) for name, rows in taken.items()
    }
    for name, (seconds, megabytes) in medians.items():
        print(f"{name:6} {seconds:6.3f} s  {megabytes:6.1f} MB")
    if arguments.against:
        (here, _), (there, _) = medians["here"], medians["there"]
        print(f"import time, here / there: {here / there:.2f}")


if __name__ == "__main__":
    main()
