"""What a sweep costs beyond its runs, and how long a large store takes to be shown: `python benchmarks/sweeps.py`.

The overhead is what two workers had besides the runs: their time in all, less the seconds of the runs, by the seconds
of the runs. Starting the processes, opening the data set in each and handing runs over are part of it; so are idle
seconds at the end, when one run is left.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from kenyon.data.streams import Curriculum
from kenyon.lab.evaluation import RunConfig, run_all
from kenyon.lab.sweeps import Sweep, sweep

WORKERS = 2
REPEATS = 3


def overhead(folder: Path) -> None:
    # 144 runs, as many as in docs/afternoon.md, each of them long enough to be worth a worker.
    values = {
        "dataset": "digits",
        "epochs": 30.0,
        "seeds": 24,
        "options": {"n_hidden": [4000, 6000, 8000], "rule": ["gen", "mse"]},
    }
    result = sweep(Sweep.from_dict(values), folder / "runs", workers=WORKERS)
    runs, wall = result.run_seconds, result.seconds
    share = (WORKERS * wall - runs) / runs
    count = sum(len(report.results) for report in result.reports)
    print(f"{count} runs of {runs / count:.1f} s on {WORKERS} workers took {wall:.1f} s")
    print(f"overhead: {100 * share:.1f} % of the runs' time (wanted: below 5 %)")


def show(folder: Path) -> None:
    configs = [
        RunConfig("digits", "ncm", Curriculum(max_per_task=2 + number, label_noise=noise))
        for number in range(20)
        for noise in (0.0, 0.1, 0.2, 0.3, 0.4)
    ]
    run_all(configs, range(10), folder)
    walls, processors = [], []
    for _ in range(REPEATS):
        begin, before = perf_counter(), _children()
        done = subprocess.run([sys.executable, "-m", "kenyon.cli", "show", str(folder)], capture_output=True, text=True)
        walls.append(perf_counter() - begin)
        processors.append(_children() - before)
        assert done.returncode == 0 and len(done.stdout.splitlines()) == 1 + len(configs) + 2, done.stderr
    print(f"kenyon show of 1,000 runs: {min(walls):.2f} s, the start of Python included (wanted: below 2 s)")
    print(f"of that on a processor: {min(processors):.2f} s; the rest is waiting for one")


def _children() -> float:
    used = os.times()
    return used.children_user + used.children_system


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        if "--show" not in sys.argv:
            overhead(Path(folder) / "sweep")
        if "--overhead" not in sys.argv:
            show(Path(folder) / "store")


if __name__ == "__main__":
    main()
