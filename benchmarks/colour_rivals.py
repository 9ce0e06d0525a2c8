"""SLDA, RanDumb and FlyModel on images in colour, in the same bytes as Kenyon: on the pixels, and on Kenyon's patches.

    python benchmarks/colour_rivals.py --kept rivals.jsonl            # on held-out training samples: choose options
    python benchmarks/colour_rivals.py --kept rivals.jsonl --test     # on the test set, with what was chosen
    python benchmarks/colour_rivals.py --stream "Split-CIFAR-100, pixels" --sizes 5MB ...

Class-incremental, one pass, streams as in `frontier.py`. Options are chosen on a tenth of the training samples that is
held out, from 8,000 samples of the rest and 1 MB, up to eight sets of options for each learner; the best has all
sizes. With `--test` it learns the whole stream once per seed and is asked for the test set once, and the row goes into
docs/frontier.json. Seeds that were run are kept, so that a stopped command goes on.

Bytes: SLDA and RanDumb keep a triangle of float32 and class means, so that they have as many inputs as fit; images are
averaged down where 3,072 pixels do not fit. FlyModel keeps a float32 weight for each cell and class. Random projections
and patches are drawn from a seed, as Kenyon's are, and count as that seed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frontier import RESULTS, Samples, record, split, stream_of
from kenyon.data.protocol import StreamInfo
from kenyon.data.streams import Dataset
from kenyon.features import BLOCK, PatchUnits
from kenyon.lab.evaluation import open_dataset
from kenyon.learners import make_learner
from kenyon.utils.system import replace_file

SIZES = {"1MB": 1_000_000, "5MB": 5_000_000, "32MB": 32_000_000}
DATASETS = {"Split-CIFAR-10, pixels": "cifar10", "Split-CIFAR-100, pixels": "cifar100"}
LABELS = {"slda": "SLDA", "randumb": "RanDumb", "flymodel": "FlyModel"}
INPUTS = ("pixels", "patches")
SMALL = 256
"""Bytes of counters and seeds."""

OPTIONS = {
    ("slda", "pixels"): {"shrinkage": [1e-4, 1e-3, 1e-2, 1e-1]},
    ("slda", "patches"): {"shrinkage": [1e-6, 1e-5, 1e-4, 1e-3]},
    ("randumb", "pixels"): {"gamma": [0.001, 0.005], "shrinkage": [1e-4, 1e-3, 1e-2, 1e-1]},
    ("randumb", "patches"): {"gamma": [0.01, 0.05], "shrinkage": [1e-4, 1e-3, 1e-2, 1e-1]},
    ("flymodel", "pixels"): {"winners": [0.01], "rate": [0.01, 0.001], "fan_in": [0.1, 0.01]},
    ("flymodel", "patches"): {"winners": [0.01], "rate": [0.01, 0.001], "fan_in": [0.1, 0.01]},
}
TUNING, TUNING_SIZE, TUNING_SEED = 8_000, "1MB", 100
View = Callable[[NDArray], NDArray]


def width_within(budget: int, n_classes: int) -> int:
    """Inputs whose triangle of float32, class means and counts fit into a budget."""
    width = int(np.sqrt(budget / 2))
    while 4 * (width * (width + 1) // 2 + width * n_classes) + 8 * n_classes + SMALL > budget:
        width -= 1
    return width


def averaged(most: int) -> tuple[View, int]:
    """Images of three planes, averaged over blocks until they have at most so many values."""
    block = next(block for block in (1, 2, 4, 8) if 3 * (32 // block) ** 2 <= most)
    side = 32 // block

    def view(X: NDArray) -> NDArray[np.float32]:
        return X.reshape(-1, 3, side, block, side, block).mean((3, 5), dtype=np.float32).reshape(len(X), -1)

    return view, 3 * side * side


def patches(units: int, seed: int) -> tuple[View, int]:
    """The patches of a Kenyon model of that seed and so many units."""
    features = PatchUnits((3, 32, 32), units, views=3, seed=seed)
    workspace = features.workspace()

    def view(X: NDArray) -> NDArray[np.uint8]:
        out = np.zeros((len(X), units), np.uint8)
        for start in range(0, len(X), BLOCK):
            some = np.ascontiguousarray(X[start : start + BLOCK])
            active, values, counts = features.activate(some, workspace)
            for row in range(len(some)):
                out[start + row, active[row, : counts[row]]] = values[row, : counts[row]]
        return out

    return view, units


class Rival:
    """One learner on one kind of inputs in a number of bytes."""

    def __init__(self, learner: str, inputs: str, size: str, n_classes: int) -> None:
        self.learner, self.inputs, self.size, self.n_classes = learner, inputs, size, n_classes
        self.width = width_within(SIZES[size], n_classes)

    def view(self, seed: int) -> tuple[View, int]:
        if self.inputs == "patches":
            return patches(self.width, seed)
        return averaged(self.width if self.learner == "slda" else 3072)

    def make(self, n_inputs: int, n_train: int, seed: int, options: dict[str, float]) -> Any:
        tasks = (tuple(range(self.n_classes)),)
        info = StreamInfo((n_inputs,), self.n_classes, tasks, n_train, task_heads=False)
        more = {
            "slda": {},
            "randumb": {"n_features": self.width},
            "flymodel": {"n_hidden": (SIZES[self.size] - SMALL) // (4 * self.n_classes)},
        }[self.learner]
        return make_learner(self.learner, info, seed, "class-incremental", **more, **options)

    def state_bytes(self, n_inputs: int) -> int:
        if self.learner == "flymodel":
            return (SIZES[self.size] - SMALL) // (4 * self.n_classes) * 4 * self.n_classes + 8 * self.n_classes + 8
        width = n_inputs if self.learner == "slda" else self.width
        return 4 * (width * (width + 1) // 2 + width * self.n_classes) + 8 * self.n_classes + 8


def scores(rival: Rival, learned: Samples, asked: Samples, seed: int, every: list[dict[str, float]]) -> list[float]:
    """Accuracy in % with each set of options; a shrinkage is changed after learning, which it has no part in."""
    view, n_inputs = rival.view(seed)
    held, out, learner, before = view(asked[0]), [], None, None
    seen = view(learned[0])
    for options in every:
        drawn = {name: value for name, value in options.items() if name != "shrinkage"}
        if learner is None or drawn != before or "shrinkage" not in options:
            learner, before = rival.make(n_inputs, len(seen), seed, options), drawn
            for where in stream_of(learned[1], seed):
                learner.learn(seen[where], learned[1][where])
        else:
            learner.shrinkage = options["shrinkage"]
            learner.restore(learner.state())
        out.append(100 * float(np.mean(learner.predict(held) == asked[1])))
    return out


def tune(learner: str, inputs: str, dataset: Dataset) -> tuple[dict[str, float], float, int]:
    """The options with the best accuracy on held-out samples, that accuracy, and how many were tried."""
    (X, y), asked = split(dataset, test=False)
    some = np.sort(np.random.default_rng(1).permutation(len(X))[:TUNING])
    names, values = zip(*OPTIONS[learner, inputs].items(), strict=True)
    every = [dict(zip(names, each, strict=True)) for each in product(*values)]
    rival = Rival(learner, inputs, TUNING_SIZE, int(y.max()) + 1)
    found = scores(rival, (X[some], y[some]), asked, TUNING_SEED, every)
    best = int(np.argmax(found))
    return every[best], found[best], len(every)


def kept_or(kept: Path, key: dict[str, Any], work: Callable[[], Any]) -> Any:
    """What a file has of this key, or the result of the work, which is added to the file."""
    lines = kept.read_text().splitlines() if kept.exists() else []
    for line in map(json.loads, lines):
        if line["key"] == key:
            return line["result"]
    result = work()
    lines = kept.read_text().splitlines() if kept.exists() else []  # another process may have added to it
    replace_file(kept, "".join(f"{line}\n" for line in [*lines, json.dumps({"key": key, "result": result})]).encode())
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--test", action="store_true", help="ask for the test set instead of held-out samples")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--stream", default="Split-CIFAR-10, pixels", choices=DATASETS)
    parser.add_argument("--sizes", default="1MB,5MB")
    parser.add_argument("--learners", default=",".join(LABELS))
    parser.add_argument("--inputs", default=",".join(INPUTS))
    parser.add_argument("--kept", type=Path, required=True, help="a file of what was run")
    parser.add_argument("--results", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    dataset = open_dataset(DATASETS[arguments.stream])
    learned, asked = split(dataset, arguments.test)
    n_classes = int(learned[1].max()) + 1
    print("| learner | inputs | budget | accuracy, % | state, bytes | chosen |")
    print("|---|---|---|---|---|---|", flush=True)
    for learner, inputs, size in product(
        arguments.learners.split(","), arguments.inputs.split(","), arguments.sizes.split(",")
    ):
        key: dict[str, Any] = {"learner": learner, "inputs": inputs, "stream": arguments.stream}
        options, score, n_tried = kept_or(arguments.kept, key, lambda: tune(learner, inputs, dataset))  # noqa: B023
        rival = Rival(learner, inputs, size, n_classes)
        accuracy = [
            kept_or(
                arguments.kept,
                key | {"size": size, "test": arguments.test, "seed": seed},
                lambda: scores(rival, learned, asked, seed, [options])[0],  # noqa: B023
            )
            for seed in range(arguments.seeds)
        ]
        n_inputs = rival.width if inputs == "patches" or learner != "slda" else averaged(rival.width)[1]
        row = {
            "learner": LABELS[learner] + (" on patches" if inputs == "patches" else ""),
            "stream": arguments.stream,
            "budget": size,
            "accuracy": [round(one, 3) for one in accuracy],
            "state_bytes": rival.state_bytes(n_inputs),
            "held_out": round(score, 2),
            "evaluations": n_tried,
            "options": options,
        }
        if arguments.test:
            record(row, arguments.results)
        spread = f" ± {np.std(accuracy, ddof=1):.2f}" if len(accuracy) > 1 else ""
        text = ", ".join(f"{name} {value}" for name, value in options.items())
        print(
            f"| {LABELS[learner]} | {inputs} | {size} | {np.mean(accuracy):.2f}{spread} | {row['state_bytes']:,} | "
            f"{text} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
