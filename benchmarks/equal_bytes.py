"""What each part gives at equal bytes, and other methods in the bytes and bits that ours has.

    python benchmarks/equal_bytes.py [parts] [rivals] [replay] [bound] [--budget 160KB] [--seeds 5] [--test]

Class-incremental, two classes per task, one pass; every seed has its own order of the classes and samples. Whatever has
a number to choose (learning rate, shrinkage, kernel width) gets three values, each tried on a third of every task in an
order of its own; the best then learns the seeds. Accuracy is that on a held-out tenth of the training samples, with
--test that on the test set.

parts: {sparse, windows, patches} x {GEN, MSE, counting, second order}, each as large as the budget allows.
rivals: SLDA's statistics are a shared covariance and class means, which is what our second-order layer keeps. So SLDA
    is that layer on raw pixels, averaged down to the largest image that fits; RanDumb is that layer on as many random
    cosines as fit; on our windows, SLDA is our own layer. All with 16, 24 and 32 bits an entry. FlyModel has as many
    cells as fit, its weights in 32 or 16 bits.
replay: ER and DER++ with samples in bytes and weights in 32, 16 and 8 bits (`within_bytes.py`), as tuned for
    Split-MNIST at that size but for the learning rate.
bound: the convolutional network of these, trained offline on all samples, shuffled, 5 epochs.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frontier import RESULTS, Samples, split
from frontier_baselines import METHODS, SIZES
from kenyon import Counting, KenyonClassifier, Plastic, SecondOrder
from kenyon.data.protocol import StreamInfo
from kenyon.errors import MemoryBudgetError
from kenyon.lab.evaluation import open_dataset
from kenyon.learners import learner_class, make_learner
from within_bytes import WithinBytes

CHOOSES = 100
"""The seed of the evaluations that choose."""
SHRINKAGE = [{"shrinkage": value} for value in (1e-4, 1e-3, 1e-2)]
LAYERS: dict[str, Callable[..., Any]] = {
    "GEN": partial(Plastic, "gen"),
    "MSE": partial(Plastic, "mse"),
    "counting": Counting,
    "second order": SecondOrder,
}
GRIDS: dict[str, list[dict[str, Any]]] = {
    "GEN": [{"learning_rate": value} for value in (0.007, 0.02, 0.06)],
    "MSE": [{"learning_rate": value} for value in (0.01, 0.03, 0.1)],
    "counting": [{}],
    "second order": SHRINKAGE,
}
SIDES = (28, 24, 20, 18, 16, 14, 12, 10, 8)
Making = Callable[[NDArray], NDArray]
Scored = Callable[[Samples, Samples, int, dict[str, Any]], tuple[float, int]]


def episodes(y: NDArray[np.int64], seed: int) -> Iterator[NDArray[np.int64]]:
    """Rows of the samples of each task, shuffled; a third of them for the seed that chooses."""
    rng = np.random.default_rng(seed)
    classes = rng.permutation(int(y.max()) + 1)
    for first in range(0, len(classes), 2):
        where = np.flatnonzero(np.isin(y, classes[first : first + 2]))
        yield where[rng.permutation(len(where))][:: 3 if seed == CHOOSES else 1]


def ours(layer: Callable[..., Any], inputs: Callable[[int], Making] = lambda seed: np.asarray, **params: Any) -> Scored:
    """A classifier on what `inputs(seed)` makes of the samples."""

    def scored(learned: Samples, asked: Samples, seed: int, chosen: dict[str, Any]) -> tuple[float, int]:
        make, (X, y) = inputs(seed), learned
        clf = KenyonClassifier(layer=layer(**chosen), expected_classes=10, random_state=seed, **params)
        X = make(X)
        for where in episodes(y, seed):
            clf.partial_fit(X[where], y[where])
        return 100 * float(np.mean(clf.predict(make(asked[0])) == asked[1])), clf.state_bytes

    return scored


def averaged(side: int) -> Making:
    """Images of 28 x 28 averaged down to side x side, in bytes."""
    edges = np.linspace(0, 28, side + 1)
    share = np.clip(
        np.minimum.outer(edges[1:], np.arange(1, 29)) - np.maximum.outer(edges[:-1], np.arange(28)), 0, None
    )
    share = (share / share.sum(axis=1, keepdims=True)).astype(np.float32)

    def make(X: NDArray) -> NDArray:
        images = np.asarray(X, np.float32).reshape(-1, 28, 28)
        return np.rint(share @ images @ share.T).astype(np.uint8).reshape(len(X), -1)

    return make


def cosines(n: int, gamma: float) -> Callable[[int], Making]:
    """n random cosines of pixels from 0 to 1, in bytes, drawn from the seed."""

    def of_seed(seed: int) -> Making:
        rng = np.random.default_rng(seed)
        omega = rng.standard_normal((784, n), dtype=np.float32) * np.float32(np.sqrt(2 * gamma))
        phase = rng.uniform(0, 2 * np.pi, n).astype(np.float32)

        def make(X: NDArray) -> NDArray:
            blocks = (X[k : k + 5000].astype(np.float32) / 255 for k in range(0, len(X), 5000))
            return np.concatenate([np.rint(127.5 * (1 + np.cos(b @ omega + phase))).astype(np.uint8) for b in blocks])

        return make

    return of_seed


def kept_in(bits: int) -> Callable[..., SecondOrder]:
    """A second-order layer with entries of that many bits."""
    return partial(SecondOrder, bits=bits, arithmetic="auto" if bits == 32 else "integer")


def fits(budget: str, n: int, bits: int) -> bool:
    """Whether n inputs fit, with entries of that many bits."""
    X = 255 * np.eye(2, n, dtype=np.uint8)
    clf = KenyonClassifier(
        features="identity",
        scale=False,
        layer=kept_in(bits)(),
        memory_budget=budget,
        expected_classes=10,
    )
    try:
        clf.partial_fit(X, [0, 1])
    except MemoryBudgetError:
        return False
    return True


def stream(shape: tuple[int, ...], n: int) -> StreamInfo:
    """Ten classes, two per task, values from 0 to 255."""
    tasks = tuple((k, k + 1) for k in range(0, 10, 2))
    return StreamInfo(shape, 10, tasks, n, task_heads=False, value_range=(0.0, 255.0))


def flymodel(budget: int, bits: int) -> Scored:
    def scored(learned: Samples, asked: Samples, seed: int, chosen: dict[str, Any]) -> tuple[float, int]:
        (X, y), n_hidden = learned, (budget - 100) // (10 * bits // 8)
        info = stream((X.shape[1],), len(X))
        learner: Any = learner_class("flymodel")(info, seed, n_hidden=n_hidden, **chosen)
        for where in episodes(y, seed):
            learner.learn(X[where], y[where])
            if bits == 16:
                learner.weights[...] = learner.weights.astype(np.float16)
        return 100 * float(np.mean(learner.predict(asked[0]) == asked[1])), n_hidden * 10 * bits // 8 + 96

    return scored


def replaying(options: dict[str, Any]) -> Scored:
    def scored(learned: Samples, asked: Samples, seed: int, chosen: dict[str, Any]) -> tuple[float, int]:
        X, y = learned
        learner = WithinBytes(stream((28, 28), len(X)), seed, **options, **chosen)
        for where in episodes(y, seed):
            for start in range(0, len(where), 10):
                learner.learn(X[where[start : start + 10]], y[where[start : start + 10]])
        return 100 * float(np.mean(learner.predict(asked[0]) == asked[1])), learner.state_bytes

    return scored


def offline(learned: Samples, asked: Samples, seed: int, chosen: dict[str, Any]) -> tuple[float, int]:
    X, y = learned
    learner: Any = make_learner(
        "iid-offline", stream((28, 28), len(X)), seed, "class-incremental", network="cnn", width=32, lr=0.1, epochs=5
    )
    learner.learn(X, y)
    learner.end_task(True)
    net = sum(array.nbytes for name, array in learner.state().items() if name.startswith("net."))
    return 100 * float(np.mean(learner.predict(asked[0]) == asked[1])), net


def parts(budget: str) -> Iterator[tuple[str, Scored, list[dict[str, Any]]]]:
    for features in ("sparse", "windows", "patches"):
        for name, layer in LAYERS.items():
            if features == "patches" and name != "second order":
                continue  # which no other layer learns
            scored = ours(layer, features=features, shape=(28, 28), memory_budget=budget)
            yield f"{features}, {name}", scored, GRIDS[name]


def rivals(budget: str) -> Iterator[tuple[str, Scored, list[dict[str, Any]]]]:
    for bits in (16, 24, 32):
        layer = kept_in(bits)
        own: dict[str, Any] = {"features": "identity", "scale": False, "memory_budget": budget}
        side = next((side for side in SIDES if fits(budget, side * side, bits)), None)
        if side is not None:
            pixels = averaged(side)
            scored = ours(layer, lambda seed, make=pixels: make, **own)  # type: ignore[misc]
            yield f"SLDA, pixels of {side} x {side}, {bits} bits", scored, SHRINKAGE
        n = max((n for n in range(16, 1400, 4) if fits(budget, n, bits)), default=0)
        for gamma in (0.005, 0.01, 0.02):
            yield (
                f"RanDumb, {n} cosines, gamma {gamma:g}, {bits} bits",
                ours(layer, cosines(n, gamma), **own),
                SHRINKAGE,
            )
        scored = ours(layer, features="windows", shape=(28, 28), memory_budget=budget)
        yield f"SLDA, windows, {bits} bits", scored, SHRINKAGE
    for bits in (16, 32):
        yield f"FlyModel, {bits} bits", flymodel(SIZES[budget], bits), [{"rate": r} for r in (0.001, 0.01, 0.1)]


def replay(budget: str) -> Iterator[tuple[str, Scored, list[dict[str, Any]]]]:
    tuned = {(row["stream"], row["learner"], row["budget"]): row for row in json.loads(RESULTS.read_text())}
    for method in ("er", "der++"):
        known = tuned["Split-MNIST", METHODS[method], budget]["options"]
        for bits in (32, 16, 8):
            options = {**known, "method": method, "memory_budget": SIZES[budget], "bits": bits}
            options.pop("lr", None)
            rates: list[dict[str, Any]] = [{"lr": rate} for rate in (0.03, 0.1, 0.3)]
            yield f"{METHODS[method]}, weights of {bits} bits", replaying(options), rates


def bound(budget: str) -> Iterator[tuple[str, Scored, list[dict[str, Any]]]]:
    yield "upper bound: a convolutional network offline", offline, [{}]


PARTS = {"parts": parts, "rivals": rivals, "replay": replay, "bound": bound}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    parser.add_argument("--budget", default="160KB", choices=SIZES)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--datasets", default="mnist")
    parser.add_argument("--only", default="", help="rows whose name holds this")
    parser.add_argument("--test", action="store_true", help="ask for the test set at the end")
    given = parser.parse_args()
    print("| data set | what | chosen | accuracy, % | bytes |\n|---|---|---|---|---|", flush=True)
    for dataset in given.datasets.split(","):
        opened = open_dataset(dataset)
        held, tested = split(opened, False), split(opened, True) if given.test else None
        for part in given.parts or PARTS:
            for name, scored, grid in PARTS[part](given.budget):
                if given.only not in name:
                    continue
                best = grid[0]
                if len(grid) > 1:
                    best = max(grid, key=lambda chosen: scored(*held, CHOOSES, chosen)[0])
                found = [scored(*(tested or held), seed, best) for seed in range(given.seeds)]
                accuracy = [one[0] for one in found]
                spread = f" ± {np.std(accuracy, ddof=1):.2f}" if given.seeds > 1 else ""
                words = ", ".join(f"{key} {value}" for key, value in best.items())
                print(
                    f"| {dataset} | {name} | {words} | {np.mean(accuracy):.2f}{spread} | {found[0][1]:,} |", flush=True
                )


if __name__ == "__main__":
    main()
