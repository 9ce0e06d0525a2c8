"""What knobs would give: the defaults beside the best of sixteen settings, on twelve streams within three budgets.

    python benchmarks/settings.py              every stream
    python benchmarks/settings.py LED Sine     some of them
    python benchmarks/settings.py --verdict    other streams, on which nothing was chosen

A model learns 1,500 samples. The setting (readout, class prior, shrinkage) that is best on 1,500 others is compared
with the defaults on samples that neither has seen, 6,000 at most. Means over seeds, percent right.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import datasets
from river.datasets import synth
from sklearn.datasets import load_digits

from kenyon import KenyonClassifier
from out_of_the_box import arrays, to_choose_by

BUDGETS = ("8KB", "32KB", "128KB")
LEARNED, HELD, MOST = 1_500, 1_500, 9_000
SETTINGS: list[dict[str, Any]] = [
    {"readout": readout, "prior": prior, "shrinkage": shrinkage}
    for readout, prior, shrinkage in itertools.product(
        ("discriminant", "ridge"), ("counts", "equal"), (1e-4, 1e-3, 1e-2, 1e-1)
    )
]


def streams(verdict: bool) -> dict[str, Iterable]:
    """Twelve streams that the defaults were chosen by, or others."""
    if not verdict:
        bundled = {"Bananas": datasets.Bananas(), "ImageSegments": datasets.ImageSegments(), "digits": None}
        return {**to_choose_by(), **bundled}
    return {
        "STAGGER": synth.STAGGER(classification_function=1, seed=7),
        "SEA 2": synth.SEA(variant=2, seed=7, noise=0.05),
        **{f"Agrawal {f}": synth.Agrawal(classification_function=f, seed=7, perturbation=0.05) for f in (1, 2, 6, 8)},
        **{f"Sine {f}": synth.Sine(classification_function=f, seed=7) for f in (0, 1)},
        "RandomRBF, 15 features": synth.RandomRBF(7, 7, n_classes=5, n_features=15, n_centroids=50),
        "RandomTree": synth.RandomTree(seed_tree=7, seed_sample=7, n_classes=3),
        "LED, irrelevant features": synth.LED(seed=7, noise_percentage=0.2, irrelevant_features=True),
        "Hyperplane, 25 features": synth.Hyperplane(seed=7, n_features=25, noise_percentage=0.1),
    }


def score(X: NDArray, y: NDArray, parts: list[NDArray], budget: str, seed: int, setting: dict[str, Any]) -> list[float]:
    """Accuracy on each part but the first, which is learned."""
    clf = KenyonClassifier(memory_budget=budget, random_state=seed)
    if setting:
        clf.set_params(layer="second-order").set_params(**{f"layer__{name}": value for name, value in setting.items()})
    clf.partial_fit(X[parts[0]], y[parts[0]])
    return [100 * clf.score(X[part], y[part]) for part in parts[1:]]


def compared(name: str, X: NDArray, y: NDArray, seeds: int) -> list[tuple[float, float]]:
    """Print a line for each budget; the defaults and the best setting."""
    found = []
    for budget in BUDGETS:
        figures, chosen = [], []
        for seed in range(seeds):
            order = np.random.default_rng(seed).permutation(len(y))
            learned = min(LEARNED, len(y) // 3)
            parts = np.split(order, [learned, 2 * learned])
            own = score(X, y, parts, budget, seed, {})[1]
            tried = [score(X, y, parts, budget, seed, setting) for setting in SETTINGS]
            best = int(np.argmax([held for held, _ in tried]))
            figures.append((own, tried[best][1]))
            chosen.append("{readout} {prior} {shrinkage:g}".format(**SETTINGS[best]))
        own, other = np.mean(figures, axis=0)
        print(f"| {name} | {budget} | {own:.2f} | {other:.2f} | {own - other:+.2f} | {'; '.join(chosen)} |", flush=True)
        found.append((own, other))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("only", nargs="*", help="names of streams")
    parser.add_argument("--verdict", action="store_true")
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    print("| | budget | defaults | best setting | above it | which |\n|---|---|---|---|---|---|", flush=True)
    every: list[tuple[float, float]] = []
    for name, stream in streams(given.verdict).items():
        if given.only and name not in given.only:
            continue
        X, y = load_digits(return_X_y=True) if stream is None else arrays(stream, MOST)
        every += compared(name, X, y, given.seeds)
    own, other = np.array(every).T
    print(f"| all | | {own.mean():.2f} | {other.mean():.2f} | {(own - other).mean():+.2f} | |")


if __name__ == "__main__":
    main()
