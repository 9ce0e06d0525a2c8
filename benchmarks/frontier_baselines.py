"""ER, DER++, iCaRL and NCM at the sizes of Kenyon's frontier, class-incremental, one pass.

    python benchmarks/frontier_baselines.py [--out runs-frontier] [--seeds 3] [--only STREAM]

`within_bytes.py` divides a number of bytes between a network and remembered samples. Each method gets eight evaluations
for each stream and size, on a tenth of the training samples that is held out, after a third of every task, in an order
of the classes that is not used again: three networks, then two other learning rates, two and one other values of the
share of the memory and of replay, each step from the best so far. NCM has nothing but its metric and its inputs
to choose. What was chosen then learns the whole stream once per seed, the classes in an order of the seed's own, and is
asked for the test set once. Runs are kept, so that a stopped command resumes where it stopped. Images in colour have
convolutional networks alone, and five evaluations: two sides of an image, two other learning rates, more replay.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from frontier import LITE, RESULTS, record
from kenyon.data.streams import Curriculum
from kenyon.errors import ConfigError
from kenyon.lab.evaluation import RunConfig, run

SIZES = {"20KB": 20_000, "1MB": 1_000_000, "160KB": 160_000, "5MB": 5_000_000, "32MB": 32_000_000}
METHODS = {"er": "ER", "der++": "DER++", "icarl": "iCaRL", "ncm": "NCM"}
TUNING = Curriculum("class-incremental", class_order="shuffled", holdout=0.1, epochs=1 / 3)
TUNING_SEED = 100
TESTING = Curriculum("class-incremental", class_order="shuffled")
Options = dict[str, Any]


class Stream(NamedTuple):
    """A stream by the name it has in the tables."""

    name: str
    dataset: str
    backbone: dict[str, Any] | None = None
    flags: int = 0
    """Bytes to set aside for iCaRL's flags of classes, where there are many of these."""

    @property
    def colour(self) -> bool:
        return self.name.endswith("pixels")


STREAMS = [
    Stream("Split-MNIST", "mnist"),
    Stream("Split-Fashion-MNIST", "fashion-mnist"),
    Stream("Split-CIFAR-10, pixels", "cifar10"),
    Stream("Split-CIFAR-100, pixels", "cifar100", flags=300),
    Stream("Split-CIFAR-10, features", "cifar10", LITE),
    Stream("Split-CIFAR-100, features", "cifar100", LITE, flags=300),
]
IMAGES = {"20KB": [("cnn", 14), ("cnn", 28), ("mlp", 14)], "1MB": [("cnn", 28), ("mlp", 28), ("mlp", 14)]}
COLOUR = {"20KB": [("cnn", 16), ("cnn", 8)], "1MB": [("cnn", 32), ("cnn", 16)]}
VECTORS = {
    "20KB": [("linear", 0), ("mlp", 32), ("mlp", 64)],
    "160KB": [("linear", 0), ("mlp", 128), ("mlp", 256)],
    "1MB": [("linear", 0), ("mlp", 256), ("mlp", 0)],
}
"""The networks to start with, and their inputs, by size; a size without a line takes the one of the next smaller."""


def networks(stream: Stream, size: str) -> list[Options]:
    """What the first evaluations try."""
    table = VECTORS if stream.backbone else COLOUR if stream.colour else IMAGES
    fitting = [name for name in table if SIZES[name] <= SIZES[size]]
    line = table[max(fitting, key=SIZES.__getitem__)]
    return [{"network": network, "inputs": inputs} for network, inputs in line]


def steps(method: str, stream: Stream, size: str) -> Iterator[list[Options]]:
    """Changes to try, one list after the other."""
    if method == "ncm":
        inputs = [0, 640] if stream.backbone else [32, 16] if stream.colour else [28, 14]
        yield [{"network": "linear", "inputs": n, "metric": m} for n in inputs for m in ("euclidean", "cosine")]
        return
    yield networks(stream, size)
    yield [{"lr": 0.03}, {"lr": 0.01 if stream.colour else 0.3}]
    if stream.colour:
        yield [{"replay_size": 30}]
        return
    if SIZES[size] < 1_000_000:
        yield [{"share": 0.25}, {"share": 0.75}]
        yield [{"replay_size": 30}]
    else:  # the network is as large as it gets; what is remembered can be learned more often
        yield [{"replay_size": 30}, {"replay_size": 60}]
        yield [{"share": 0.9}]


def config(stream: Stream, curriculum: Curriculum, options: Options) -> RunConfig:
    return RunConfig(
        stream.dataset, "within_bytes:WithinBytes", curriculum, options,
        tests="last", weights_every=0, backbone=stream.backbone,
    )  # fmt: skip


def tune(method: str, stream: Stream, size: str, store: Path) -> tuple[Options, float, int]:
    """The options with the best held-out accuracy, that accuracy, and how many were evaluated."""
    budget = SIZES[size] - (stream.flags if method == "icarl" else 0)
    best: Options = {"method": method, "memory_budget": budget}
    score, n_evaluated = -1.0, 0
    for changes in steps(method, stream, size):
        start = best
        for change in changes:
            tried = start | change
            try:
                result = run(config(stream, TUNING, tried), [TUNING_SEED], store).results[0]
            except ConfigError:  # this network has no room
                continue
            n_evaluated += 1
            if (result.metrics.accuracy or 0.0) > score:
                best, score = tried, result.metrics.accuracy or 0.0
    return best, score, n_evaluated


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs-frontier"), help="where runs are kept")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="streams whose name holds this, in lower case")
    parser.add_argument("--sizes", default="20KB,1MB,160KB,5MB")
    parser.add_argument("--methods", default=",".join(METHODS))
    arguments = parser.parse_args()
    print("| stream | learner | budget | accuracy, % | state, bytes | held out, % | chosen |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for size in arguments.sizes.split(","):
        for stream in STREAMS:
            if arguments.only.lower() not in stream.name.lower():
                continue
            for method in arguments.methods.split(","):
                label = METHODS[method]
                chosen, score, n_evaluated = tune(method, stream, size, arguments.out)
                if not n_evaluated:
                    continue
                results = run(config(stream, TESTING, chosen), range(arguments.seeds), arguments.out).results
                assert all(result.metrics.state_bytes <= SIZES[size] for result in results), (
                    "more bytes than the budget"
                )
                accuracy = [100 * (result.metrics.accuracy or 0.0) for result in results]
                row = {
                    "learner": label,
                    "stream": stream.name,
                    "budget": size,
                    "accuracy": [round(value, 3) for value in accuracy],
                    "state_bytes": max(result.metrics.state_bytes for result in results),
                    "held_out": round(100 * score, 2),
                    "evaluations": n_evaluated,
                    "options": {key: value for key, value in chosen.items() if key not in ("method", "memory_budget")},
                }
                record(row, arguments.results)
                options = ", ".join(f"{key} {value}" for key, value in row["options"].items())
                spread = f" ± {np.std(accuracy, ddof=1):.2f}" if len(accuracy) > 1 else ""
                print(
                    f"| {stream.name} | {label} | {size} | {np.mean(accuracy):.2f}{spread} | "
                    f"{row['state_bytes']:,} | {row['held_out']} | {options} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
