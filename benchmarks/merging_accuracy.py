"""Split-MNIST on ten machines: the merged model beside the single pass, whatever each machine sees.

    python benchmarks/merging_accuracy.py            tested on the last 10,000 training images
    python benchmarks/merging_accuracy.py --test     tested on the test set

The stream is class-incremental, two digits at a time. It is dealt out to ten machines in turn; or every digit goes to a
machine of its own; or every digit goes to three machines, six in ten samples to one and one in ten to another. The
columns are differences to the single pass in points, over the seeds: their mean, and the largest.
How much chance alone does in few bits is what another order of the same stream changes.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from kenyon import KenyonClassifier
from kenyon.data.streams import load_dataset
from kenyon.errors import MergeWarning

MACHINES = 10
CASES = {
    "counting, 8 bits": {"rule": "mean", "layer__bits": 8, "n_hidden": 4000},
    "counting, 4 bits": {"rule": "mean", "layer__bits": 4, "n_hidden": 4000},
    "counting, 3 bits": {"rule": "mean", "layer__bits": 3, "n_hidden": 4000},
    "counting, 2 bits": {"rule": "mean", "layer__bits": 2, "n_hidden": 4000},
    "counting, exact": {"rule": "mean", "layer": "counting", "n_hidden": 4000},
    "second order, 16 bits": {"layer": "second-order", "shape": (28, 28), "layer__bits": 16, "n_hidden": 120},
    "second order, 24 bits": {"layer": "second-order", "shape": (28, 28), "layer__bits": 24, "n_hidden": 120},
    "second order, exact": {"layer": "second-order", "shape": (28, 28), "n_hidden": 120},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--test", action="store_true")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", MergeWarning)
    data = load_dataset("mnist")
    X, y = np.asarray(data.train.X[:]), data.train.y
    held = (np.asarray(data.test.X[:]), data.test.y) if arguments.test else (X[50_000:], y[50_000:])
    X, y = (X, y) if arguments.test else (X[:50_000], y[:50_000])
    order = np.argsort(y // 2, kind="stable")
    X, y = X[order], y[order]
    rng = np.random.default_rng(0)
    near = np.array([0, 1, 5])[rng.choice(3, len(y), p=[0.6, 0.3, 0.1])]
    splits = {"dealt": np.arange(len(y)) % MACHINES, "a digit each": y, "digits split": (y + near) % MACHINES}
    print(f"{'':24}{'single pass':>12}" + "".join(f"{name:>16}" for name in splits) + f"{'other order':>16}")
    for name, how in CASES.items():
        if arguments.only in name:
            single, apart = [], {split: [] for split in [*splits, "other order"]}
            for seed in range(arguments.seeds):
                model = KenyonClassifier(random_state=seed).set_params(**how)
                single.append(model.fit(X, y).score(*held))
                for split, machine in splits.items():
                    parts = [
                        KenyonClassifier(**model.get_params(deep=False)).partial_fit(X[machine == k], y[machine == k])
                        for k in range(MACHINES)
                    ]
                    apart[split].append(KenyonClassifier.merge(parts).score(*held) - single[-1])
                again = np.argsort(-(y // 2), kind="stable")
                other = KenyonClassifier(**model.get_params(deep=False)).partial_fit(X[again], y[again])
                apart["other order"].append(other.score(*held) - single[-1])
            cells = [f"{100 * np.mean(d):+.2f} ({100 * max(d, key=abs):+.2f})" for d in apart.values()]
            print(f"{name:24}{100 * np.mean(single):>11.2f} " + "".join(f"{cell:>16}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
