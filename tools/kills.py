"""Runs, searches and sweeps killed at random moments and started again, until they end: `python tools/kills.py --help`.

Whatever was finished when a process was killed has to be there unchanged afterwards, and what comes out in the end has
to be what comes out of a process that nobody disturbs, bit for bit.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

from kenyon.data.streams import Curriculum, load_dataset
from kenyon.lab.evaluation import METRICS, RunConfig, Store, run_dataset
from kenyon.lab.search import SearchFolder, make_objective, search
from kenyon.lab.sweeps import sweep

SPACE = '[rule]\nvalues = ["gen", "mse"]\n[n_hidden]\nlow = 100\nhigh = 300\n[gen.rule__b2]\nlow = -1.0\nhigh = -0.5\n'
MEASURED = [metric.name for metric in METRICS.values() if metric.measured]
MOST_STARTS = 24
LIMIT = 600
"""Seconds after which a process that does not start hangs."""
Work = Callable[[int, Path], None]


def one_run(seed: int, out: Path) -> None:
    """A run with a checkpoint at every pause."""
    scenario = ("class-incremental", "task-free", "task-incremental")[seed % 3]
    options = {"rule": ("gen", "mse")[seed % 2], "n_hidden": 400}
    config = RunConfig("digits", options=options, curriculum=Curriculum(scenario, max_per_task=60))
    folder = Store(out).folder(config, seed)
    with folder.locked(wait=True):
        if not folder.complete:
            often = {"checkpoint_seconds": 0.0, "checkpoint_share": math.inf}
            run_dataset(config, seed, load_dataset("digits"), folder=folder, **often)


def one_search(seed: int, out: Path) -> None:
    """A random search, whose points follow from their numbers."""
    objective = make_objective("digits", "single-task", max_per_task=60)
    search(objective, out, evals=6, method="random", seed=seed, space=SPACE)


def one_sweep(seed: int, out: Path) -> None:
    """Twelve runs of three learners; the first ends when the kernels are loaded, about a third of the way."""
    seeds = list(range(seed, seed + 4))
    values = {"dataset": "digits", "learner": ["ncm", "slda", "kenyon"], "max_per_task": 60, "seeds": seeds}
    sweep(values | {"when": [{"if": {"learner": "kenyon"}, "options": {"n_hidden": 300}}]}, out)


WORKS: dict[str, Work] = {"runs": one_run, "searches": one_search, "sweeps": one_sweep}


def finished(out: Path) -> dict[str, Any]:
    """What has ended well so far, with the moment it did: it may neither change nor be done again."""
    if (out / "evaluations.csv").exists():
        log = (out / "evaluations.csv").read_bytes()
        return {str(number): line for number, line in enumerate(log[: log.rfind(b"\n") + 1].splitlines())}
    files = [run.file("metrics.json") for run in Store(out).runs() if run.complete]
    return {file.parent.name: (file.stat().st_mtime_ns, file.read_bytes()) for file in files}


def content(out: Path) -> dict[str, Any]:
    """What must not depend on how often a process was killed."""
    if (out / "evaluations.csv").exists():
        ended = {
            e.number: (str(e.point), e.outcome.status, e.outcome.accuracy) for e in SearchFolder(out).evaluations()
        }
        return {"evaluations": ended, "lines": len((out / "evaluations.csv").read_bytes().splitlines())}
    found: dict[str, Any] = {}
    for run in Store(out).runs():
        metrics = json.loads(run.file("metrics.json").read_text())
        for name in MEASURED:
            del metrics["metrics"][name]
        names = ("config.toml", "accuracy_matrix.csv", "prequential.npy", "weights.npy")
        files = {name: run.file(name).read_bytes() for name in names}
        found[run.path.name] = {"metrics": metrics, "left": sorted(file.name for file in run.path.iterdir()), **files}
    return found


def processes() -> ForkServerContext:
    """Processes forked from a small server that has the imports done, so that a kill costs little."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["kills", "sklearn.datasets", "kenyon.classifier", "kenyon.learners.baselines"])
    return context


def _begin(work: Work, seed: int, out: Path, ready: Any) -> None:
    ready.set()
    work(seed, out)


def _start(context: ForkServerContext, work: Work, seed: int, out: Path) -> Any:
    ready = context.Event()
    process = context.Process(target=_begin, args=(work, seed, out, ready))
    process.start()
    if not ready.wait(LIMIT):
        raise AssertionError(f"a process did not start within {LIMIT} seconds")
    return process


def kill_until_done(
    context: ForkServerContext, work: Work, seed: int, folder: Path, rng: random.Random
) -> tuple[int, int]:
    """Kill and start again until the work is done, and compare; how many kills, and how many left work half done."""
    whole, killed = folder / "whole", folder / "killed"
    process = _start(context, work, seed, whole)
    begin = time.perf_counter()
    process.join()
    if process.exitcode:
        raise AssertionError(f"seed {seed}: it failed with exit code {process.exitcode} without a kill")
    longest, kept, half_done = 0.9 * (time.perf_counter() - begin), {}, 0
    for kills in range(MOST_STARTS):
        process = _start(context, work, seed, killed)
        process.join(rng.uniform(0.0, longest) if kills < MOST_STARTS - 1 else None)
        if process.exitcode is None:
            os.kill(process.pid, signal.SIGKILL)
            process.join()
        if process.exitcode not in (0, -signal.SIGKILL):
            raise AssertionError(f"seed {seed}: it failed with exit code {process.exitcode} after {kills} kills")
        now = finished(killed)
        if {name: now.get(name) for name in kept} != kept:
            raise AssertionError(f"seed {seed}: what was finished changed, or was done again, after {kills} kills")
        kept = now
        if process.exitcode == 0:
            break
        half_done += any(killed.rglob("checkpoint.safetensors")) or len(now) > 0
    if content(killed) != content(whole):
        raise AssertionError(f"seed {seed}: after {kills} kills something else came out")
    return kills, half_done


def kill_many(wanted: int, seed: int = 0, names: tuple[str, ...] = tuple(WORKS)) -> tuple[Counter[str], int]:
    """At least so many kills, of each kind of work in turn; how many of each, and how many left work half done."""
    context, counts, half_done = processes(), Counter[str](), 0
    number = 0
    while sum(counts.values()) < wanted:
        name = names[number % len(names)]
        folder = Path(tempfile.mkdtemp(prefix="kills-"))
        try:
            rng = random.Random(f"{seed} {number}")
            more = kill_until_done(context, WORKS[name], seed + number, folder, rng)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        counts[name] += more[0]
        half_done += more[1]
        number += 1
        if sys.stderr.isatty():
            print(f"\r{sum(counts.values())} of {wanted} kills ", end="", file=sys.stderr)
    return counts, half_done


def main() -> None:
    parser = argparse.ArgumentParser(description="Kill runs, searches and sweeps at random moments, and compare.")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("works", nargs="*", metavar="WORK", help=f"all unless given: {', '.join(WORKS)}")
    given = parser.parse_args()
    counts, half_done = kill_many(given.kills, given.seed, tuple(given.works) or tuple(WORKS))
    each = ", ".join(f"{count} of {name}" for name, count in counts.items())
    print(f"{sum(counts.values())} kills ({each}; {half_done} left work half done): every result bit for bit the same,")
    print("nothing that was finished was lost or done again")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    import kills  # the processes import the work by this name

    kills.main()
