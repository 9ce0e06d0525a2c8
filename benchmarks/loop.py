"""What the loop costs: its overhead over the learner's own time, and whether memory grows with the stream.

    python benchmarks/loop.py [--data-dir DIR] [--dataset mnist] [--learner kenyon]

Prints one line of JSON for each measurement and a sentence about it.

- overhead: one seed of Split-<data set>, class-incremental, into a store with checkpoints and curves.
  (everything but the learner: stream, metrics, curves, checkpoints, store) / (time inside the learner). How much of
  it is the stream, opened and read once more by itself, is told beside it.
- memory: peak resident growth of one pass and of ten, each in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from kenyon.data.streams import Curriculum, Dataset, load_dataset
from kenyon.lab.evaluation import RunConfig, RunFolder, run_dataset
from kenyon.lab.evaluation._loop import CHUNK, TEST_BLOCK
from kenyon.learners import make_learner

MOST_OVERHEAD = 0.05
MOST_GROWTH = 8 << 20  # bytes by which ten passes may exceed one: allocator noise, far below ten passes' samples


def measure_overhead(dataset_name: str, learner: str, data_dir: str | None, repeats: int = 3) -> dict[str, object]:
    """The run with the least overhead of a few, after a short one that compiles and warms up."""
    dataset = load_dataset(dataset_name, data_dir=data_dir)
    config = RunConfig(dataset_name, learner)
    run_dataset(RunConfig(dataset_name, learner, Curriculum(max_per_task=600)), 0, dataset)
    info = config.curriculum.open(dataset).info
    rows = []
    for _ in range(repeats):
        begin = perf_counter()
        make_learner(learner, info, 0, config.curriculum.scenario, **config.options)
        build = perf_counter() - begin
        with tempfile.TemporaryDirectory() as folder:
            begin = perf_counter()
            result = run_dataset(config, 0, dataset, folder=RunFolder(Path(folder)))
            wall = perf_counter() - begin
        m = result.metrics
        inside = m.learn_seconds + m.test_seconds
        rows.append(
            {
                "benchmark": "loop overhead",
                "dataset": dataset_name,
                "learner": learner,
                "samples": info.n_train,
                "learn_seconds": round(m.learn_seconds, 4),
                "test_seconds": round(m.test_seconds, 4),
                "build_seconds": round(build, 4),
                "wall_seconds": round(wall, 4),
                "stream_seconds": round(read_alone(config, dataset), 4),
                "overhead": round((wall - build - inside) / inside, 4),
                "most": MOST_OVERHEAD,
            }
        )
    return min(rows, key=lambda row: float(str(row["overhead"])))


def read_alone(config: RunConfig, dataset: Dataset) -> float:
    """Seconds to open the stream and read it once, with nobody learning."""
    begin = perf_counter()
    stream = config.curriculum.open(dataset)
    for episode in stream.episodes:
        for start in range(0, episode.n_train, CHUNK):
            episode.train(start, min(start + CHUNK, episode.n_train))
        for start in range(0, episode.n_test, TEST_BLOCK):
            episode.test(start, min(start + TEST_BLOCK, episode.n_test))
    return perf_counter() - begin


def measure_peak(dataset_name: str, learner: str, data_dir: str | None, epochs: float) -> int:
    """Peak growth of a run of so many passes, in this process."""
    dataset = load_dataset(dataset_name, data_dir=data_dir)
    with tempfile.TemporaryDirectory() as folder:
        # A short run first, so that what is compiled and cached once does not count as growth.
        run_dataset(RunConfig(dataset_name, learner, Curriculum(max_per_task=600)), 0, dataset)
        config = RunConfig(dataset_name, learner, Curriculum(epochs=epochs))
        return run_dataset(config, 0, dataset, folder=RunFolder(Path(folder))).metrics.peak_memory_bytes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir")
    parser.add_argument("--dataset", default="mnist")
    parser.add_argument("--learner", default="kenyon")
    parser.add_argument("--peak-of", type=float, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peak_of:
        print(measure_peak(args.dataset, args.learner, args.data_dir, args.peak_of))
        return 0

    row = measure_overhead(args.dataset, args.learner, args.data_dir)
    print(json.dumps(row))
    inside = float(str(row["learn_seconds"])) + float(str(row["test_seconds"]))
    stream = float(str(row["stream_seconds"])) / inside
    print(f"The loop adds {100 * float(str(row['overhead'])):.1f} % to the learner's own time (at most 5 %),", end=" ")
    print(f"{100 * stream:.1f} % of it for the samples themselves.", flush=True)

    peaks = []
    for epochs in (1, 10):
        command = [sys.executable, *sys.argv, "--peak-of", str(epochs)]
        peaks.append(int(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    grown = peaks[1] - peaks[0]
    memory = {"benchmark": "loop memory", "dataset": args.dataset, "learner": args.learner}
    memory |= {"peak_bytes_1_pass": peaks[0], "peak_bytes_10_passes": peaks[1], "growth": grown, "most": MOST_GROWTH}
    print(json.dumps(memory))
    print(f"Ten passes peak at {peaks[1] / 1e6:.1f} MB above the start, one at {peaks[0] / 1e6:.1f} MB.")
    return 0 if float(str(row["overhead"])) < MOST_OVERHEAD and grown < MOST_GROWTH else 1


if __name__ == "__main__":
    sys.exit(main())
