"""The measurements behind docs/reproduce.md, "Where ours is below the paper's" (about ten minutes).

    python benchmarks/below_the_paper.py [window] [rate] [alpha] [mlp] [pixels]

window: the configurations of Table 7 with INEL's window at several multiples of the published one, held-out samples.
rate: INEL on MNIST and MSE on Fashion-MNIST at multiples of the published learning rate, held-out samples.
alpha: MSE on MNIST and Fashion-MNIST with the published alpha^M read as a decay of the learning rate, held-out samples.
mlp: the ablation's MLP at several learning rates, 20,000 training samples, held-out samples.
pixels: the least-squares fit of the classes to the pixels, which the delta rule without a feature layer approaches.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from kenyon.data.streams import Curriculum, load_dataset
from kenyon.lab.evaluation import RunConfig, run
from kenyon.paper.reproduce.experiments import WINDOW, optimised, single

TIMES = (1, 10, 20, 30, 34, 36, 38, 40, 60, 100, 250, 300, 1000)
RATES = (0.5, 1, 2, 4, 8)
BACKBONE = {"cifar10": "efficientnet-lite0"}
MLP = "kenyon.learners.baselines:FeatureMLP"
LAYER = ("n_hidden", "density", "inhibitory", "threshold")


def held_out(dataset: str, scenario: str, options: dict[str, Any], epochs: float = 1.0, seeds: int = 1) -> str:
    """Mean accuracy on held-out training samples, %."""
    curriculum = Curriculum(scenario, epochs=epochs, holdout=0.1)
    config = RunConfig(dataset, "kenyon", curriculum, options, 0, tests="last", backbone=BACKBONE.get(dataset))
    return f"{100 * (run(config, range(seeds), None).summary('accuracy').mean or 0.0):6.2f}"


def window() -> None:
    print("window, times: Split-MNIST's there, Split-CIFAR-10's there, Split-CIFAR-10's on Split-MNIST, %")
    for times in TIMES:
        mnist, cifar = ({**o, "beta": o["beta"] / WINDOW * times} for o in (optimised("mnist"), optimised("cifar10")))
        streams = (("mnist", mnist, 2), ("cifar10", cifar, 1), ("mnist", cifar, 1))
        print(times, *(held_out(name, "class-incremental", o, seeds=n) for name, o, n in streams), flush=True)


def rate() -> None:
    print("rate, times: MNIST with INEL, half a pass and one; Fashion-MNIST with MSE, half a pass, %")
    for times in RATES:
        inel, mse = (
            {**o, "learning_rate": o["learning_rate"] * times}
            for o in (single("mnist", "inel"), single("fashion-mnist", "mse"))
        )
        streams = (("mnist", inel, 0.5), ("mnist", inel, 1.0), ("fashion-mnist", mse, 0.5))
        print(times, *(held_out(name, "single-task", o, epochs, 2) for name, o, epochs in streams), flush=True)


def alpha() -> None:
    print("alpha^M as a decay per sample, half a pass: without it and with it, %")
    for dataset, decay in (("mnist", 0.011), ("fashion-mnist", 0.287)):
        options = single(dataset, "mse")
        print(
            dataset, *(held_out(dataset, "single-task", {**options, "decay": d}, 0.5) for d in (0.0, decay)), flush=True
        )


def mlp() -> None:
    print("an MLP 400-400 on the sparse features of MNIST's INEL configuration, by learning rate, %")
    options = {key: value for key, value in single("mnist", "inel").items() if key in LAYER}
    for rate in (0.01, 0.03, 0.1, 0.3, 1.0):
        curriculum = Curriculum("single-task", holdout=0.1, max_per_task=20_000)
        config = RunConfig("mnist", MLP, curriculum, {**options, "lr": rate}, 0, tests="last")
        print(rate, f"{100 * (run(config, [0], None).summary('accuracy').mean or 0.0):6.2f}", flush=True)


def pixels() -> None:
    print("the delta rule on pixels of length 1, rate 0.153: half a pass, one and four, %")
    options = {**single("mnist", "inel"), "features": "identity"}
    print(*(held_out("mnist", "single-task", options, epochs) for epochs in (0.5, 1.0, 4.0)), flush=True)
    mnist = load_dataset("mnist")
    wanted = np.eye(mnist.n_classes)[mnist.train.y]
    kinds = {
        "length 1": lambda X: X / np.linalg.norm(X, axis=1, keepdims=True),
        "0 to 1": lambda X: X / 255,
        "0 to 1 and a constant": lambda X: np.c_[X / 255, np.ones(len(X))],
    }
    for name, scaled in kinds.items():
        train, test = (scaled(np.asarray(part.X, np.float64)) for part in (mnist.train, mnist.test))
        fit = np.linalg.solve(train.T @ train + 1e-3 * np.eye(train.shape[1]), train.T @ wanted)  # some pixels are 0
        print(f"least squares, pixels of {name}: {100 * ((test @ fit).argmax(1) == mnist.test.y).mean():.2f} % tested")


PARTS = {"window": window, "rate": rate, "alpha": alpha, "mlp": mlp, "pixels": pixels}


def main() -> None:
    wanted = sys.argv[1:] or list(PARTS)
    if any(name not in PARTS for name in wanted):
        sys.exit(f"usage: python benchmarks/below_the_paper.py {' '.join(f'[{name}]' for name in PARTS)}")
    for name in wanted:
        PARTS[name]()


if __name__ == "__main__":
    main()
