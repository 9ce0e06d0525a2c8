"""What hidden layers are worth: none, one that stays as it began, one to three that learn from an error of their own.

    python benchmarks/hidden_layers.py [--seeds 2] [--width 500] [--samples 20000] [--only mnist-pixels] [--codes]

Single tasks, one pass, the MSE rule at the output, on held-out training samples; the output's learning rate is the
better of two on another split. Prints a Markdown table, mean and standard deviation in per cent. Needs the data sets
in $KENYON_DATA; CIFAR-10 is learned on EfficientNet-Lite0's features.

--codes: hidden layers by the paper's own rules instead, in NumPy, on MNIST's pixels. A hidden neuron has no label, so
its modulatory signal is a random bit of the label (x_m[j] = code[y, j], half of them 1): MSE drives a layer to the
code of the class, OJA and GEN learn where the bit is 1. Activity is the positive part of W' x_e, scaled to length 1.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.data.streams import Curriculum, load_dataset
from kenyon.lab.evaluation import RunConfig, run

RATES = (0.1, 0.3)
CHOOSES = 100
"""The seed of the split that learning rates are chosen on."""

ROWS: dict[str, tuple[str, str | None, dict[str, Any]]] = {
    "mnist-pixels": ("mnist", None, {"features": "identity"}),
    "fashion-pixels": ("fashion-mnist", None, {"features": "identity"}),
    "mnist-1000-units": ("mnist", None, {"n_hidden": 1000, "features__threshold": 1.0}),
    "cifar10-features": ("cifar10", "efficientnet-lite0", {"features": "identity", "scale": False}),
    "mnist-10000-units": ("mnist", None, {"n_hidden": 10_000, "features__density": 0.04, "features__threshold": 1.257}),
}


def measured(row: str, options: dict[str, Any], seeds: list[int], samples: int | None) -> tuple[float, float]:
    """Mean and standard deviation of the accuracy on held-out samples, %."""
    dataset, backbone, own = ROWS[row]
    curriculum = Curriculum("single-task", holdout=0.1, max_per_task=samples)
    everything = {"rule": "mse", "layer__clamp": "off", **own, **options}
    config = RunConfig(dataset, "kenyon", curriculum, everything, 0, tests="last", backbone=backbone)
    found = run(config, seeds, None).summary("accuracy")
    return 100 * (found.mean or 0.0), 100 * (found.std or 0.0)


RULES: dict[str, Any] = {
    "mse": lambda x_e, x_o, x_m, w: np.outer(x_e, x_m - x_o),
    "oja": lambda x_e, x_o, x_m, w: x_m * (np.outer(x_e, x_o) - x_o**2 * w),
    "gen": lambda x_e, x_o, x_m, w: np.outer(x_e, x_m * (x_o + 1)),
}
HIDDEN_RATES = {"mse": (0.03, 0.1), "oja": (0.03, 0.1), "gen": (0.001, 0.01)}


def coded(
    X: NDArray, y: NDArray, asked: tuple[NDArray, NDArray], seed: int, layers: int, width: int, how: Any
) -> float:
    """Held-out accuracy, %, of a stack whose hidden layers follow a rule with x_m a random code of the label."""
    rule, hidden_rate, rate = how
    rng, sizes = np.random.default_rng(seed), [X.shape[1], *[width] * layers]
    weights = [rng.normal(0, m**-0.5, (m, n)).astype(np.float32) for m, n in pairwise(sizes)]
    code = [(rng.random((10, n)) < 0.5).astype(np.float32) for n in sizes[1:]]
    readout = np.zeros((sizes[-1], 10), np.float32)

    def unit(x: NDArray) -> NDArray:
        return x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-6)

    for x, label in zip(unit(X), y, strict=True):
        for w, bits in zip(weights, code, strict=True):
            x_o = x @ w
            w += hidden_rate * RULES[rule](x, x_o, bits[label], w)
            if rule == "gen":
                np.clip(w, -0.1, 0.1, out=w)
            x = unit(np.maximum(x_o, 0))
        readout += rate * np.outer(x, np.eye(10, dtype=np.float32)[label] - x @ readout)
    h = unit(asked[0])
    for w in weights:
        h = unit(np.maximum(h @ w, 0))
    return 100 * float(np.mean((h @ readout).argmax(axis=1) == asked[1]))


def codes(seeds: int, width: int, samples: int | None) -> None:
    """A table: the rule of the hidden layers, and how many of them there are."""
    mnist = load_dataset("mnist").train
    X, y = np.asarray(mnist.X, np.float32).reshape(len(mnist.y), -1), np.asarray(mnist.y)
    order = np.random.default_rng(0).permutation(len(X))
    asked, rest = order[:6000], order[6000:][:samples]
    trial, held = rest[: len(rest) // 4], (X[asked], y[asked])
    print(
        f"| rule | none | {width} | {width}, {width} | {width}, {width}, {width} |\n|---|---|---|---|---|", flush=True
    )
    for rule, rates in HIDDEN_RATES.items():
        cells = []
        for layers in range(4):
            ways = [(rule, hidden, rate) for hidden in (rates if layers else rates[:1]) for rate in RATES]
            best = max(ways, key=lambda how: coded(X[trial], y[trial], held, CHOOSES, layers, width, how))
            found = [coded(X[rest], y[rest], held, seed, layers, width, best) for seed in range(seeds)]
            cells.append(f"{np.mean(found):.2f}" + (f" ± {np.std(found, ddof=1):.2f}" if seeds > 1 else ""))
        print(f"| {rule} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--width", type=int, default=500)
    parser.add_argument("--samples", type=int, default=None, help="of the training set; default: all")
    parser.add_argument("--only", choices=ROWS, action="append")
    parser.add_argument("--codes", action="store_true", help="hidden layers by the paper's rules, in NumPy")
    args = parser.parse_args()
    if args.codes:
        codes(args.seeds, args.width, args.samples)
        return
    w = args.width
    columns: dict[str, dict[str, Any]] = {
        "none": {},
        f"{w}, as it began": {"hidden__widths": (w,), "hidden__rate": 0.0},
        f"{w}": {"hidden__widths": (w,)},
        f"{w}, {w}": {"hidden__widths": (w, w)},
        f"{w}, {w}, {w}": {"hidden__widths": (w, w, w)},
    }
    print("| hidden layers: | " + " | ".join(columns) + " |\n|" + "---|" * (len(columns) + 1), flush=True)
    for row in args.only or ROWS:
        cells = []
        for options in columns.values():
            rate = max(
                RATES, key=lambda r: measured(row, {**options, "layer__learning_rate": r}, [CHOOSES], args.samples)[0]
            )
            mean, std = measured(row, {**options, "layer__learning_rate": rate}, list(range(args.seeds)), args.samples)
            cells.append(f"{mean:.2f} ± {std:.2f}")
        print(f"| {row} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
