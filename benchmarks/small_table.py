"""The small benchmark: continual learners in C on an emulated Cortex-M4, behind one interface.

    python benchmarks/small_table.py [--sets mnist fsdd hapt] [--methods ncm ...] [--ram 32768] [--write docs/small.md]

Every method is one file of `benchmarks/small/` (`small.h` is the interface). It learns a class-incremental stream, one
sample at a time, and is tested as it goes. Accuracy is that of the same C, compiled for this machine; instructions are
counted on the emulated core, with soft floats, once 100 samples were learned: the mean of five. Flash is code and
tables, as linked; RAM is state, scratch, one sample and the deepest stack.

Wants the packages ziglang and unicorn.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kenyon import KenyonClassifier
from kenyon.data.streams import Curriculum, Stream, load_dataset
from kenyon.export import export_model

sys.path.append(str(Path(__file__).parents[1] / "tools"))
from emulated import ArmMachine, compiled

HERE = Path(__file__).parent / "small"
METHODS = {
    "ncm": "nearest class mean",
    "perceptron": "perceptron",
    "hyperdimensional": "hyperdimensional",
    "nearest": "nearest neighbour in a buffer",
    "slda": "streaming LDA on random projections",
    "kenyon": "Kenyon",
}
SETS = {"mnist": "digits", "fsdd": "spoken digits", "hapt": "motion"}
MOST, POINTS, TESTED, WARM, COUNTED = 6000, 10, 1000, 100, 5


class Task(NamedTuple):
    """A stream as arrays: samples to learn in order, and samples to ask."""

    X: NDArray[np.uint8]
    y: NDArray[np.int32]
    asked: NDArray[np.uint8]
    answers: NDArray[np.int32]
    shape: tuple[int, ...]
    n_classes: int


def open_task(name: str, seed: int) -> Task:
    """Two classes after two, in an order of their own for every seed; at most `MOST` samples."""
    dataset = load_dataset(name)
    n_tasks = dataset.n_classes // 2
    curriculum = Curriculum(seed=seed, class_order="shuffled", n_tasks=n_tasks, max_per_task=MOST // n_tasks)
    stream: Stream = curriculum.open(dataset)
    parts = [episode.train() for episode in stream.episodes]
    asked = np.random.default_rng(seed).permutation(len(dataset.test))[:TESTED]
    X, y = np.concatenate([X for X, _ in parts]), np.concatenate([y for _, y in parts]).astype(np.int32)
    answers = dataset.test.y[asked].astype(np.int32)
    return Task(X, y, np.ascontiguousarray(dataset.test.X[asked]), answers, dataset.shape, dataset.n_classes)


def dimensions(ram: int, n_classes: int) -> int:
    """The projections of streaming LDA that fit: D (D + 1) + 2 D C + 2 D floats and some words."""
    return max(d for d in range(1, 2000) if 4 * (d * (d + 1) + 2 * d * n_classes + 2 * d + 2 * n_classes + 2) <= ram)


def sources(method: str, task: Task, ram: int, folder: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Put what a method needs into a folder; the files to compile, and the options."""
    for file in HERE.iterdir():
        shutil.copy(file, folder)
    options = (f"-DSMALL_INPUTS={task.X.shape[1]}u", f"-DSMALL_CLASSES={task.n_classes}", f"-DSMALL_RAM={ram}")
    if method != "kenyon":
        return (f"{method}.c", "harness.c"), (*options, f"-DSMALL_D={dimensions(ram, task.n_classes)}u")
    budget = {"memory_budget": f"{round(ram * 0.6) // 1000}KB", "shape": task.shape, "expected_classes": task.n_classes}
    clf = KenyonClassifier(**budget, random_state=0).partial_fit(task.X[:50], task.y[:50])
    export_model(clf, "c", folder, start="empty")
    return ("kenyon.c", "kenyon_small.c", "harness.c"), options


def accuracy(folder: Path, files: tuple[str, ...], options: tuple[str, ...], task: Task) -> tuple[float, float]:
    """Accuracy at any time (on the classes met so far) and at the end, of the C on this machine."""
    more = ("-O3", "-shared", "-fPIC", "-fno-sanitize=undefined", "-DSMALL_HOST", "-Wno-missing-prototypes")
    library = ctypes.CDLL(str(compiled(folder, "libsmall.so", *options, *more, sources=files)))
    library.small_init()
    curve = []
    for part in np.array_split(np.arange(len(task.y)), POINTS):
        X, y = np.ascontiguousarray(task.X[part]), np.ascontiguousarray(task.y[part])
        library.small_learn_many(X.ctypes, y.ctypes, len(y))
        known = np.isin(task.answers, np.unique(task.y[: part[-1] + 1]))
        asked, guessed = np.ascontiguousarray(task.asked[known]), np.zeros(int(known.sum()), np.int32)
        library.small_predict_many(asked.ctypes, guessed.ctypes, len(guessed))
        curve.append(float((guessed == task.answers[known]).mean()))
    return float(np.mean(curve)), curve[-1]


def costs(folder: Path, files: tuple[str, ...], options: tuple[str, ...], task: Task) -> dict[str, int]:
    """RAM, flash and instructions on the emulated core."""
    plain, counted = (ArmMachine(folder, "m4", files, "small_learn", options, counted=c) for c in (False, True))
    where = plain.call("small_sample")

    def learn(machine: ArmMachine, k: int) -> int:
        machine.put(where, task.X[k].tobytes())
        machine.call("small_learn", where, int(task.y[k]))
        return machine.instructions

    plain.call("small_init")
    some = np.random.default_rng(0).permutation(len(task.y))[: WARM + COUNTED].tolist()
    for k in some[:WARM]:
        learn(plain, k)
    counted.take_over(plain)
    found = {"learn": int(np.mean([learn(counted, k) for k in some[WARM:]]))}
    counted.put(where, task.asked[0].tobytes())
    first = (counted.call("small_predict", where), counted.instructions)[1]
    found["predict"] = (counted.call("small_predict", where), counted.instructions)[1]
    found["solve"] = max(0, first - found["predict"])
    stack = max(plain.stack_of("small_learn", where, int(task.y[0])), plain.stack_of("small_predict", where))
    found["ram"] = plain.call("small_ram") + task.X.shape[1] + stack
    return found | {"flash": plain.code + plain.constants}


def measure(method: str, name: str, ram: int, seeds: int) -> dict[str, Any]:
    """One row: accuracy over the orders, and what the first costs."""
    figures: list[tuple[float, float]] = []
    row: dict[str, Any] = {"method": method, "set": name}
    for seed in range(seeds):
        task = open_task(name, seed)
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            files, options = sources(method, task, ram, folder)
            figures.append(accuracy(folder, files, options, task))
            if seed == 0:
                row |= costs(folder, files, options, task)
    anytime, last = np.array(figures).T
    return row | {"any time": anytime.tolist(), "end": last.tolist()}


def line(row: dict[str, Any]) -> str:
    any_time, end = (f"{100 * np.mean(row[k]):.1f} ± {100 * np.std(row[k], ddof=1):.1f}" for k in ("any time", "end"))
    sizes = " | ".join(f"{row[k]:,}" for k in ("ram", "flash", "learn", "predict", "solve"))
    return f"| {METHODS[row['method']]} | {any_time} | {end} | {sizes} |"


HEAD = "| {} | any time, % | at the end, % | RAM, B | flash, B | learn | predict | solve |\n" + 8 * "|---" + "|"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--ram", type=int, default=32_768, help="bytes of state that a method may have")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--write", type=Path, help="a page whose part between its two marks is replaced")
    given = parser.parse_args()
    tables = []
    for name in given.sets:
        rows = []
        for method in given.methods:
            rows.append(measure(method, name, given.ram, given.seeds))
            print(json.dumps(rows[-1]), flush=True)
        rows.sort(key=lambda row: -float(np.mean(row["any time"])))
        tables.append("\n".join([HEAD.format(SETS[name]), *map(line, rows)]))
    text = "\n\n".join(tables)
    print(text)
    if given.write:
        before, _, rest = given.write.read_text().partition("<!-- tables -->\n")
        after = rest.partition("<!-- end of tables -->")[2]
        given.write.write_text(f"{before}<!-- tables -->\n{text}\n<!-- end of tables -->{after}")


if __name__ == "__main__":
    main()
