"""What filters are made of, and what rounding costs: held-out accuracy on CIFAR-10 with everything else equal.

    python benchmarks/colour_filters.py [--seeds 1]
    python benchmarks/colour_filters.py --bits 20KB,160KB [--seeds 1]

690 units, one view, learn 12,000 training samples; 5,000 others are asked for. Filters are patches of dead leaves (the
default, from the seed), of the first 1,000 samples (`fit_filters`), and of Gaussian noise, each whitened as such
patches ask for. The last row has the default's filters, and activity in floats (by PyTorch) in place of bytes.

With `--bits`, memory budgets are spent on entries of 16, 24 and 32 bits: the fewer bits, the more units. Everything
else is the default, and all 45,000 samples that are not held out are learned.
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import Any

import numpy as np

from frontier import Samples, split
from kenyon import KenyonClassifier, Patches, SecondOrder
from kenyon.features import PatchUnits
from kenyon.lab.evaluation import open_dataset
from patches import torchs

SHAPE, UNITS, SAMPLES, ASKED = (3, 32, 32), 690, 12_000, 5_000


def accuracy(learned: Samples, asked: Samples, seed: int, part: Patches | str) -> float:
    """Of a classifier with these features, in %."""
    clf = KenyonClassifier(features=part, layer=SecondOrder(), random_state=seed)
    clf.partial_fit(*learned)
    return 100 * float(np.mean(clf.predict(asked[0]) == asked[1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--bits", metavar="BUDGETS", help="memory budgets to spend on 16, 24 and 32 bits")
    arguments = parser.parse_args()
    seeds = range(arguments.seeds)
    (X, y), (held, labels) = split(open_dataset("cifar10"), test=False)
    if arguments.bits:
        return print_bits(arguments.bits.split(","), (X, y), (held, labels), seeds)
    some = np.sort(np.random.default_rng(1).permutation(len(X))[:SAMPLES])
    learned, asked = (X[some], y[some]), (held[:ASKED], labels[:ASKED])
    leaves = Patches(shape=SHAPE, units=UNITS, shifts=6, views=1)
    noise = np.random.default_rng(0).normal(128, 40, (200, X.shape[1])).clip(0, 255).astype(np.uint8)
    rows = {
        "dead leaves": lambda seed: accuracy(learned, asked, seed, leaves),
        "samples": lambda seed: accuracy(learned, asked, seed, leaves.fit_filters(X[some][:1000], seed)),
        "Gaussian noise": lambda seed: accuracy(learned, asked, seed, leaves.fit_filters(noise, seed)),
        "dead leaves, without mirror images": lambda seed: accuracy(
            learned, asked, seed, Patches(shape=SHAPE, units=UNITS, shifts=6, views=1, symmetry="none")
        ),
        "dead leaves, three views": lambda seed: accuracy(
            learned, asked, seed, Patches(shape=SHAPE, units=UNITS, shifts=6)
        ),
        "dead leaves, activity in floats": lambda seed: in_floats(learned, asked, seed),
    }
    print("| filters | held out, % |\n|---|---|", flush=True)
    for name, row in rows.items():
        print(f"| {name} | {spread_of([row(seed) for seed in seeds])} |", flush=True)


def print_bits(budgets: list[str], learned: Samples, asked: Samples, seeds: range) -> None:
    """What a budget is worth by the bits of an entry."""
    print("| budget | bits | units | held out, % |\n|---|---|---|---|", flush=True)
    for budget, bits in product(budgets, (16, 24, 32)):
        found = []
        for seed in seeds:
            options: dict[str, Any] = {"memory_budget": budget, "shape": SHAPE, "random_state": seed}
            clf = KenyonClassifier(layer=SecondOrder(bits=bits), features="patches", **options)
            order = np.random.default_rng(seed).permutation(len(learned[0]))
            clf.partial_fit(learned[0][order], learned[1][order])
            found.append(100 * float(np.mean(clf.predict(asked[0]) == asked[1])))
        print(f"| {budget} | {bits} | {clf.spec_.n_units} | {spread_of(found)} |", flush=True)


def spread_of(found: list[float]) -> str:
    """Mean, and the standard deviation of several seeds."""
    spread = f" ± {np.std(found, ddof=1):.2f}" if len(found) > 1 else ""
    return f"{np.mean(found):.2f}{spread}"


def in_floats(learned: Samples, asked: Samples, seed: int) -> float:
    """The same with activity that is not rounded; the readout takes floats as they are."""
    answer = torchs(PatchUnits(SHAPE, UNITS, seed=seed))

    def activity(X: np.ndarray) -> np.ndarray:
        planes = X.reshape(-1, *SHAPE).transpose(0, 2, 3, 1).reshape(len(X), -1)
        return np.concatenate([answer(planes[start : start + 32]) for start in range(0, len(X), 32)])

    clf = KenyonClassifier(features="identity", layer=SecondOrder(), scale=False, unit_norm=False, random_state=seed)
    clf.partial_fit(activity(learned[0]).astype(np.float32), learned[1])
    return 100 * float(np.mean(clf.predict(activity(asked[0]).astype(np.float32)) == asked[1]))


if __name__ == "__main__":
    main()
