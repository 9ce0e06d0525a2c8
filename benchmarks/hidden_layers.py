"""What hidden layers are worth: none, one that stays as it began, one that learns from its own error, and two of them.

    python benchmarks/hidden_layers.py [--seeds 2] [--width 500] [--samples 20000] [--only mnist-pixels]

Single tasks, one pass, the MSE rule at the output, on held-out training samples; the output's learning rate is the
better of two on another split. Prints a Markdown table, mean and standard deviation in per cent. Needs the data sets
in $KENYON_DATA; CIFAR-10 is learned on EfficientNet-Lite0's features.
"""

from __future__ import annotations

import argparse
from typing import Any

from kenyon.data.streams import Curriculum
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


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--width", type=int, default=500)
    parser.add_argument("--samples", type=int, default=None, help="of the training set; default: all")
    parser.add_argument("--only", choices=ROWS, action="append")
    args = parser.parse_args()
    w = args.width
    columns: dict[str, dict[str, Any]] = {
        "none": {},
        f"{w}, as it began": {"hidden__widths": (w,), "hidden__rate": 0.0},
        f"{w}": {"hidden__widths": (w,)},
        f"{w}, {w}": {"hidden__widths": (w, w)},
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
