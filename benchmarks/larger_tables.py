"""Larger tables with the defaults: many rows, many classes, many inputs.

    python benchmarks/larger_tables.py                     every table, in full
    python benchmarks/larger_tables.py --share 0.1         a tenth of the samples
    python benchmarks/larger_tables.py --only "classes" --keep larger.jsonl

One pass in batches of 1,000 for everybody, the last tenth tested. Peers stand behind a StandardScaler that is fitted to
the first batch; MLPClassifier has one hidden layer of 100. The time is that of the processor for learning one sample,
beside SGDClassifier's. `--keep FILE` writes each line as soon as it is there, and reads those that it has.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler

from kenyon import KenyonClassifier

BATCH = 1_000

PEERS: dict[str, Callable[[], Any]] = {
    "Kenyon": lambda: KenyonClassifier(random_state=0),
    "SGDClassifier": lambda: SGDClassifier(random_state=0),
    "GaussianNB": GaussianNB,
    "MLPClassifier": lambda: MLPClassifier((100,), random_state=0),
}


def clusters(n: int, d: int, k: int, **more: Any) -> tuple[NDArray, NDArray]:
    """Clusters on the corners of a hypercube, as scikit-learn makes them."""
    X, y = make_classification(n, d, n_classes=k, random_state=0, **more)
    return X.astype(np.float32), y


def gaussians(n: int, d: int, k: int, apart: float) -> tuple[NDArray, NDArray]:
    """One normal cluster for each class."""
    rng = np.random.default_rng(0)
    centres, y = rng.normal(0, apart, (k, d)), rng.integers(0, k, n)
    return (centres[y] + rng.normal(size=(n, d))).astype(np.float32), y


TABLES: dict[str, tuple[int, Callable[[int], tuple[NDArray, NDArray]]]] = {
    "1,000,000 x 20, 4 classes": (1_000_000, lambda n: clusters(n, 20, 4, n_informative=12)),
    "100,000 x 100, 10 classes": (100_000, lambda n: clusters(n, 100, 10, n_informative=30)),
    "50,000 x 50, 1,000 classes": (50_000, lambda n: gaussians(n, 50, 1_000, 0.45)),
    "4,000 x 400, 10 classes": (4_000, lambda n: gaussians(n, 400, 10, 0.15)),
    "3,000 x 5,000, 4 classes": (
        3_000,
        lambda n: clusters(n, 5_000, 4, n_informative=50, class_sep=2.0),
    ),
    "1,500 x 10,000, 10 classes": (1_500, lambda n: gaussians(n, 10_000, 10, 0.05)),
}


def measured(make: Callable[[], Any], X: NDArray, y: NDArray) -> tuple[float, float]:
    """Accuracy on the last tenth, and processor seconds for learning a sample of the others."""
    n, labels, model, scaler = len(y) - len(y) // 10, np.unique(y), make(), StandardScaler().fit(X[:BATCH])
    scaled = (lambda part: part) if isinstance(model, KenyonClassifier) else scaler.transform
    spent = 0.0
    for start in range(0, n, BATCH):
        part, known = scaled(X[start : min(start + BATCH, n)]), y[start : min(start + BATCH, n)]
        began = time.process_time()
        if isinstance(model, KenyonClassifier):
            model.partial_fit(part, known)
        else:
            model.partial_fit(part, known, classes=labels)
        spent += time.process_time() - began
    return 100 * float(np.mean(model.predict(scaled(X[n:])) == y[n:])), spent / n


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=1.0, help="share of the samples")
    parser.add_argument("--only", default="", help="tables whose name holds this")
    parser.add_argument("--keep", type=Path, help="file of figures")
    given = parser.parse_args()
    lines = given.keep.read_text().splitlines() if given.keep is not None and given.keep.exists() else []
    kept = {(one["table"], one["share"], one["learner"]): one for one in map(json.loads, lines)}
    print("| | learner | accuracy | us a sample | beside SGDClassifier |\n|---|---|---|---|---|", flush=True)
    for name, (n, make) in TABLES.items():
        if given.only not in name:
            continue
        table: tuple[NDArray, NDArray] | None = None
        found = {}
        for learner in ("SGDClassifier", *(peer for peer in PEERS if peer != "SGDClassifier")):
            key = (name, given.share, learner)
            if key not in kept:
                table = table or make(max(1_000, round(n * given.share)))
                accuracy, spent = measured(PEERS[learner], *table)
                kept[key] = {"table": name, "share": given.share, "learner": learner} | {
                    "accuracy": accuracy,
                    "seconds": spent,
                }
                if given.keep is not None:
                    with given.keep.open("a") as file:
                        file.write(json.dumps(kept[key]) + "\n")
            found[learner] = kept[key]
            one, peer = found[learner], found["SGDClassifier"]
            print(
                f"| {name} | {learner} | {one['accuracy']:.1f} | {1e6 * one['seconds']:.0f} | "
                f"{one['seconds'] / peer['seconds']:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
