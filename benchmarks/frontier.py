"""Accuracy at every number of bytes: what a memory budget is worth, one row per data set and budget.

    python benchmarks/frontier.py                    # on held-out training samples
    python benchmarks/frontier.py --test             # on the test set
    python benchmarks/frontier.py --only mnist --budgets 20KB,80KB
    python benchmarks/frontier.py --test --seeds 3 --budgets 5MB    # rows with fewer seeds: docs/results/bytes.md
    python benchmarks/frontier.py --test --only pixels --kept seeds.jsonl    # go on where it was stopped
    python benchmarks/frontier.py --test --only pixels --kept seeds.jsonl --share

Class-incremental, two classes per task (ten for CIFAR-100), one pass, no replay. Every seed draws the features, the
order of the classes and of the samples; held out is the same tenth of the training set every time. Means and standard
deviations over the seeds, of a single seed no deviation; state is what must be kept to go on, working memory what a
process holds. With `--share`, images in colour are learned once for all budgets of a stream, by the widest model, of
which the others are cut (`narrower.py`): the same figures in less time, but for the time itself. With `--test`, what
was measured goes into docs/frontier.json as well, of which `frontier_figure.py` makes the figure and the tables.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon import KenyonClassifier, Patches, SecondOrder, recommend
from kenyon.data.streams import Dataset
from kenyon.features import BLOCK
from kenyon.lab.evaluation import open_dataset
from kenyon.utils.system import replace_file
from narrower import narrower

RESULTS = Path(__file__).resolve().parent.parent / "docs" / "frontier.json"
Samples = tuple[NDArray, NDArray[np.int64]]
FILTER_BYTES = 64
"""Of a filter of 4 x 4 x 3 values in a model's description, in base 64."""

LITE = {"name": "efficientnet-lite0", "resolution": 192, "interpolation": "bicubic"}
FEATURES = {"layer": "second-order", "features": "dense", "features__root": True}
WHOLE = {"layer": "second-order", "features": "identity", "features__root": True}


@dataclass(frozen=True)
class Row:
    """A line of the table: a stream, and how many bytes to spend on it."""

    name: str
    dataset: str
    budget: str
    options: dict[str, Any] = field(default_factory=dict)
    backbone: dict[str, Any] | None = None
    keep: Callable[[NDArray[np.int64]], NDArray[np.bool_]] | None = None
    watched: int | None = None
    tasks: bool = True
    """Whether the classes come in tasks; False for all of them shuffled."""
    filters_of: int = 0
    """How many samples, the first ones, the filters of patches are made of; 0 for filters from the seed."""

    @property
    def learner(self) -> str:
        return "Kenyon, filters of samples" if self.filters_of else "Kenyon"

    @property
    def title(self) -> str:
        """What stands in the first column, and what `--only` looks in."""
        return self.name + (", filters of samples" if self.filters_of else "")


def thin(y: NDArray[np.int64], classes: list[int], n: int) -> NDArray[np.bool_]:
    """The first n samples of some classes, and all of the others."""
    kept = np.ones(len(y), bool)
    for label in classes:
        kept[np.flatnonzero(y == label)[n:]] = False
    return kept


def odd_at_a_tenth(y: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Every tenth of the odd digits."""
    kept = np.ones(len(y), bool)
    for label in range(1, 10, 2):
        where = np.flatnonzero(y == label)
        kept[where] = np.arange(len(where)) % 10 == 0
    return kept


ROWS = [
    *(Row("Split-MNIST", "mnist", budget) for budget in ("20KB", "80KB", "160KB", "1MB", "5MB", "8MB", "32MB")),
    Row("Split-MNIST, odd digits at a tenth", "mnist", "20KB", keep=odd_at_a_tenth),
    Row("Split-MNIST, digit 9 with 20 samples", "mnist", "20KB", keep=lambda y: thin(y, [9], 20), watched=9),
    *(Row("Split-Fashion-MNIST", "fashion-mnist", budget) for budget in ("20KB", "160KB", "1MB", "5MB", "8MB")),
    *(Row("Split-CIFAR-10, pixels", "cifar10", budget) for budget in ("160KB", "1MB", "5MB", "32MB")),
    Row("Split-CIFAR-10, pixels", "cifar10", "5MB", filters_of=1000),
    *(Row("Split-CIFAR-100, pixels", "cifar100", budget) for budget in ("5MB", "32MB")),
    Row("Split-CIFAR-10, features", "cifar10", "20KB", FEATURES | {"layer__bits": 16}, LITE),
    Row("Split-CIFAR-10, features", "cifar10", "50KB", FEATURES | {"layer__bits": 24}, LITE),
    Row("Split-CIFAR-10, features", "cifar10", "160KB", FEATURES, LITE),
    Row("Split-CIFAR-10, features", "cifar10", "1MB", FEATURES | {"layer__bits": 24}, LITE),
    Row("Split-CIFAR-10, features", "cifar10", "4MB", WHOLE, LITE),
    Row("Split-CIFAR-100, features", "cifar100", "20KB", FEATURES | {"layer__bits": 16}, LITE),
    Row("Split-CIFAR-100, features", "cifar100", "160KB", FEATURES | {"layer__bits": 24}, LITE),
    Row("Split-CIFAR-100, features", "cifar100", "250KB", FEATURES, LITE),
    Row("Split-CIFAR-100, features", "cifar100", "1MB", FEATURES | {"layer__bits": 24}, LITE),
    Row("Split-CIFAR-100, features", "cifar100", "4MB", WHOLE, LITE),
    *(Row("Tiny ImageNet, pixels", "tiny-imagenet", budget) for budget in ("5MB", "32MB")),
    Row("Tiny ImageNet, features", "tiny-imagenet", "1MB", FEATURES | {"layer__bits": 24}, LITE),
    Row("Tiny ImageNet, features", "tiny-imagenet", "5MB", WHOLE, LITE),
    Row("MNIST, single task", "mnist", "8MB", tasks=False),
    Row("Fashion-MNIST, single task", "fashion-mnist", "8MB", tasks=False),
]


def split(dataset: Dataset, test: bool) -> tuple[Samples, Samples]:
    """What is learned, and what is asked for."""
    X, y = np.asarray(dataset.train.X), np.asarray(dataset.train.y, np.int64)
    X = X.reshape(len(X), -1)
    if test:
        asked = np.asarray(dataset.test.X)
        return (X, y), (asked.reshape(len(asked), -1), np.asarray(dataset.test.y, np.int64))
    order = np.random.default_rng(0).permutation(len(X))
    held, rest = np.sort(order[: len(X) // 10]), np.sort(order[len(X) // 10 :])
    return (X[rest], y[rest]), (X[held], y[held])


def stream_of(y: NDArray[np.int64], seed: int, tasks: bool = True) -> list[NDArray[np.int64]]:
    """The samples of each task, in the order of this seed; of all classes in one where there are no tasks."""
    rng, n_classes = np.random.default_rng(seed), int(y.max()) + 1
    classes, per_task = rng.permutation(n_classes), 2 if n_classes == 10 else 10
    per_task = per_task if tasks else n_classes
    found = []
    for first in range(0, n_classes, per_task):
        where = np.flatnonzero(np.isin(y, classes[first : first + per_task]))
        found.append(where[rng.permutation(len(where))])
    return found


def run(row: Row, dataset: Dataset, learned: Samples, asked: Samples, seed: int) -> dict[str, float]:
    """One seed of a row."""
    (measured,) = run_together([row], dataset, learned, asked, seed)
    return measured


def run_together(
    rows: list[Row], dataset: Dataset, learned: Samples, asked: Samples, seed: int
) -> list[dict[str, float]]:
    """One seed of rows of a stream: the last, which has the largest budget, learns; the others are cut from it."""
    (X, y), row = learned, rows[-1]
    params = {"expected_classes": int(y.max()) + 1, "random_state": seed, **row.options}
    params |= {} if row.backbone else {"shape": dataset.shape}
    if row.filters_of:
        first = stream_of(y, seed, row.tasks)[0][: row.filters_of]
        params["features"] = with_filters(X[first], dataset.shape, row.budget, params["expected_classes"], seed)
    clf = KenyonClassifier(memory_budget=row.budget, **params)
    seconds, n_learned = 0.0, 0
    for where in stream_of(y, seed, row.tasks):
        if row.keep is not None:
            where = where[row.keep(y[where])]
        begin = time.perf_counter()
        clf.partial_fit(X[where], y[where])
        seconds += time.perf_counter() - begin
        n_learned += len(where)
    found = []
    for other in rows[:-1]:
        how = {"memory_budget": other.budget, **params}
        found.append(measure(narrower(clf, **how), other, asked, np.nan))
        learns = narrower(clf, **how).partial_fit(X[:BLOCK], y[:BLOCK])  # working memory is that of a model that learns
        learns.predict(asked[0][:BLOCK])
        found[-1]["working"] = learns.working_bytes
    return [*found, measure(clf, row, asked, 1e6 * seconds / n_learned)]


def with_filters(X: NDArray, shape: tuple[int, ...], budget: str, n_classes: int, seed: int) -> Patches:
    """Patches with filters of these samples, as many as a budget holds together with the filters."""
    how: dict[str, Any] = {"shape": shape, "n_classes": n_classes}
    alone = recommend(X.shape[1], memory_budget=budget, **how)
    room = int(alone.memory_budget or 0) - FILTER_BYTES * alone.n_units
    part: Any = recommend(X.shape[1], memory_budget=room, **how).features
    return part.fit_filters(X, seed)


def measure(clf: KenyonClassifier, row: Row, asked: Samples, microseconds: float) -> dict[str, float]:
    """What a classifier knows, and takes."""
    predicted = clf.predict(asked[0])
    watched = asked[1] == row.watched
    return {
        "accuracy": 100 * float(np.mean(predicted == asked[1])),
        "recall": 100 * float(np.mean(predicted[watched] == row.watched)) if watched.any() else np.nan,
        "state": clf.state_bytes,
        "working": clf.working_bytes,
        "microseconds": microseconds,
    }


def companions(row: Row, rows: list[Row], dataset: Dataset, n_classes: int) -> list[Row]:
    """Those of the rows that are cut from one model, in the order of their budgets: patches with exact sums."""
    rows = [other for other in rows if other.name == row.name]
    specs = {
        other.budget: recommend(
            int(np.prod(dataset.shape)), shape=dataset.shape, memory_budget=other.budget, n_classes=n_classes
        )
        for other in rows
        if not other.options and other.backbone is None and not other.filters_of and len(dataset.shape) == 3
    }
    exact = [
        budget
        for budget, spec in specs.items()
        if isinstance(spec.features, Patches) and isinstance(spec.layer, SecondOrder) and spec.layer.bits == 32
    ]
    together = [other for other in rows if other.budget in exact and not other.filters_of]
    return together if row in together else [row]


def record(row: dict[str, Any], path: Path = RESULTS) -> None:
    """Put a row in the place of the one with the same learner, stream and budget."""
    rows = json.loads(path.read_text()) if path.exists() else []
    key = ("learner", "stream", "budget")
    rows = [old for old in rows if any(old[name] != row[name] for name in key)] + [row]
    rows.sort(key=lambda one: (one["stream"], one["learner"], one["state_bytes"]))
    text = ",\n".join(json.dumps(one) for one in rows)
    replace_file(path, f"[\n{text}\n]\n".encode())


def run_or_kept(kept: Path | None, test: bool, shared: list[Row], row: Row, *how: Any) -> dict[str, float]:
    """One seed of a row, or what a file has of it; new ones are added to the file, those of the shared rows too."""
    dataset, (_, y), _, seed = how
    lines = kept.read_text().splitlines() if kept is not None and kept.exists() else []

    def key(one: Row) -> dict[str, Any]:
        more = {"filters_of": one.filters_of} if one.filters_of else {}
        return {"row": one.name, "budget": one.budget, "test": test, "seed": seed, **more}

    for line in map(json.loads, lines):
        if {name: line[name] for name in line if name != "measured"} == key(row):
            return line["measured"]
    together = companions(row, shared, dataset, int(y.max()) + 1) if shared else [row]
    measured = run_together(together, *how)
    if kept is not None:
        lines = kept.read_text().splitlines() if kept.exists() else []  # another process may have added to it
        lines += [json.dumps(key(one) | {"measured": what}) for one, what in zip(together, measured, strict=True)]
        replace_file(kept, "".join(f"{line}\n" for line in lines).encode())
    return measured[together.index(row)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--test", action="store_true", help="ask for the test set instead of held-out samples")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", help="rows whose name holds this, in lower case")
    parser.add_argument("--budgets", help="only these, such as 20KB,80KB")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--kept", type=Path, help="a file of seeds that were run, which are not run again")
    parser.add_argument("--share", action="store_true", help="learn images in colour once for all budgets; with --kept")
    arguments = parser.parse_args()
    if arguments.share and arguments.kept is None:
        parser.error("--share is given without --kept: expected a file for the seeds of all budgets")
    print(f"{'test set' if arguments.test else 'held-out training samples'}, {arguments.seeds} seeds and class orders")
    print("| | budget | accuracy, % | state | working memory | us a sample |")
    print("|---|---|---|---|---|---|", flush=True)
    rows = [row for row in ROWS if arguments.only is None or arguments.only.lower() in row.title.lower()]
    rows = [row for row in rows if arguments.budgets is None or row.budget in arguments.budgets.split(",")]
    for row in rows:
        dataset = open_dataset(row.dataset, backbone=row.backbone)
        learned, asked = split(dataset, arguments.test)
        how = (arguments.kept, arguments.test, rows if arguments.share else [], row, dataset, learned, asked)
        seeds = [run_or_kept(*how, seed) for seed in range(arguments.seeds)]
        mean = {key: float(np.mean([one[key] for one in seeds])) for key in seeds[0]}
        spread = f" ± {np.std([one['accuracy'] for one in seeds], ddof=1):.2f}" if len(seeds) > 1 else ""
        if arguments.test:
            record(
                {
                    "learner": row.learner,
                    "stream": row.name,
                    "budget": row.budget,
                    "accuracy": [round(one["accuracy"], 3) for one in seeds],
                    "state_bytes": round(mean["state"]),
                    "working_bytes": round(mean["working"]),
                }
                | ({"recall": round(mean["recall"], 2)} if row.watched is not None else {}),
                arguments.results,
            )
        recall = f" (recall {mean['recall']:.1f})" if row.watched is not None else ""
        pace = "-" if np.isnan(mean["microseconds"]) else f"{mean['microseconds']:.0f}"
        print(
            f"| {row.title} | {row.budget} | {mean['accuracy']:.2f}{spread}{recall} | {mean['state']:,.0f} | "
            f"{mean['working'] / 1e6:.1f} MB | {pace} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
