"""Windows and readouts for images of one channel: held-out accuracy on digits and on clothes with each.

    python benchmarks/grey.py [--budgets 1MB] [--seeds 1]

Nine tenths of the training samples are learned, in an order of the seed's own; the others are asked for. Exact sums
depend on neither order nor tasks. The first row is what a memory budget gives.
"""

from __future__ import annotations

import argparse

import numpy as np

from frontier import Samples, split
from kenyon import KenyonClassifier, Patches, SecondOrder, Windows
from kenyon.features import FeaturesPart
from kenyon.lab.evaluation import open_dataset

DATASETS = {"mnist": "MNIST", "fashion-mnist": "Fashion-MNIST"}
SETTINGS = ((6, 4, 16, "oriented"), (5, 5, 12, "oriented"), (5, 3, 12, "oriented"), (4, 3, 12, "random"))
READOUTS = ("discriminant", "ridge")


def features() -> dict[str, FeaturesPart]:
    rows: dict[str, FeaturesPart] = {"6, 5, 16, oriented (default)": Windows()}
    for window, shifts, density, signs in SETTINGS:
        part = Windows(window=window, shifts=shifts, density=density, signs=signs)  # type: ignore[arg-type]
        rows[f"{window}, {shifts}, {density}, {signs}"] = part
    return rows | {"patches, one view, no mirror images": Patches(views=1, symmetry="none")}


def accuracy(data: tuple[Samples, Samples], shape: tuple[int, ...], seed: int, **how: object) -> float:
    """Held out, in %."""
    (X, y), (held, labels) = data
    order = np.random.default_rng(seed).permutation(len(X))
    clf = KenyonClassifier(shape=shape, random_state=seed, **how).partial_fit(X[order], y[order])
    return 100 * float(np.mean(clf.predict(held) == labels))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--budgets", default="1MB")
    parser.add_argument("--seeds", type=int, default=1)
    arguments = parser.parse_args()
    sets = {name: open_dataset(name) for name in DATASETS}
    data = {name: split(dataset, test=False) for name, dataset in sets.items()}
    columns = [f"{DATASETS[name]}, {readout}" for name in sets for readout in READOUTS]
    for budget in arguments.budgets.split(","):
        print(f"| {budget}: window, shifts, inputs, signs | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
        for name, part in features().items():
            cells = []
            for dataset in sets:
                for readout in READOUTS:
                    how = {"features": part, "layer": SecondOrder(readout=readout), "memory_budget": budget}  # type: ignore[arg-type]
                    shape = sets[dataset].shape
                    found = [accuracy(data[dataset], shape, seed, **how) for seed in range(arguments.seeds)]
                    cells.append(f"{np.mean(found):.2f}")
            print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
