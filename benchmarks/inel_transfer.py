"""What was tried to reproduce the paper's finding that INEL transfers badly to task-incremental streams.

    python benchmarks/inel_transfer.py [frozen] [scale] [start] [normalisation] [heads] [seeds=1]

The paper has 65.25 % for MNIST's single-task INEL configuration on task-incremental Split-MNIST, where MSE has 99.60.
Each part changes one thing that the paper leaves open, and prints three accuracies on held-out training samples: as a
single task (half a pass; the paper has 96.39), task-incrementally (65.25) and class-incrementally (21.56).

frozen: whether the window ever closes: are the weights at the end those of MSE with the same options, to the bit?
scale: the window, in multiples of the published one: the scale of the weights is not stated.
start: W(0), the initial weights, at several windows.
normalisation: activity that is not scaled to length 1, at the published learning rate and at one that is stable there.
heads: one shared head that learns every sample, tested among the classes of the task alone: task labels used at test
    time only. MSE beside it.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from kenyon.data.streams import Curriculum, load_dataset
from kenyon.errors import DivergenceError
from kenyon.lab.evaluation import RunConfig, run
from kenyon.learners import learner_class
from kenyon.paper.reproduce.experiments import WINDOW, single

SCENARIOS = {"single-task": 0.5, "task-incremental": 1.0, "class-incremental": 1.0}


def inel(times: float, **changed: Any) -> dict[str, Any]:
    """The paper's configuration with its window at a multiple of the published one."""
    options = single("mnist", "inel")
    return {**options, "rule__beta": options["rule__beta"] / WINDOW * times, **changed}


def accuracies(options: dict[str, Any], seeds: int) -> list[str]:
    """Mean accuracy on held-out samples in each scenario, %."""
    found = []
    for scenario, epochs in SCENARIOS.items():
        curriculum = Curriculum(scenario, epochs=epochs, holdout=0.1)
        try:
            report = run(RunConfig("mnist", "kenyon", curriculum, options, 0, tests="last"), range(seeds), None)
            found.append(f"{100 * (report.summary('accuracy').mean or 0.0):.2f}")
        except DivergenceError:
            found.append("diverges")
    return found


def show(label: str, numbers: list[str]) -> None:
    print(f"{label:58s}" + "".join(f"{number:>10s}" for number in numbers), flush=True)


def frozen(seeds: int) -> None:
    streams = [("mnist", scenario) for scenario in SCENARIOS]
    for dataset, scenario in (*streams, ("cifar10", "task-incremental"), ("cifar100", "task-incremental")):
        colour, weights = dataset != "mnist", []
        options = single("cifar10", "inel") if colour else inel(WINDOW)
        for given in (options, {**options, "rule": "mse", "rule__beta": "off"}):
            curriculum = Curriculum(scenario, epochs=SCENARIOS[scenario], holdout=0.1)
            network = "efficientnet-lite0" if colour else None
            config = RunConfig(dataset, "kenyon", curriculum, given, 0, tests="last", backbone=network)
            learner: Any = run(config, [0], None, keep_learners=True).learners[0]
            weights.append(learner.classifier.weights_)
        same = "the same bits" if np.array_equal(*weights) else "not the same bits"
        print(f"{dataset}, {scenario}, window x{WINDOW:g}: INEL's weights and MSE's are {same}", flush=True)


def scale(seeds: int) -> None:
    for times in (1, 10, 36, 100, 200, 300, 500, 1000, 3000, 10_000):
        show(f"window x{times}", accuracies(inel(times), seeds))


def start(seeds: int) -> None:
    for weight in (0.001, 0.01, 0.1):
        for times in (36, 300, 1000):
            show(f"W(0) = {weight}, window x{times}", accuracies(inel(times, initial_weight=weight), seeds))


def normalisation(seeds: int) -> None:
    """The published rate diverges unless the window freezes everything: the length squared is about 1e8 for bytes, and
    the delta rule bears 2 / length^2. The other rate makes steps as on length 1; weights are 1e-4 of those there."""
    for rate, windows in ((0.153, (1, 36, 1000, 30_000)), (1.5e-9, (36, 360_000, 3_000_000, 10_000_000))):
        for times in windows:
            show(
                f"length as it is, rate {rate:g}, window x{times}",
                accuracies(inel(times, unit_norm=False, learning_rate=rate), seeds),
            )


def heads(seeds: int) -> None:
    for label, options in (
        ("MSE", single("mnist", "mse")),
        *((f"INEL, window x{times}", inel(times)) for times in (36, 200, 300, 500, 1000)),
    ):
        found = [_among_its_task(options, seed) for seed in range(seeds)]
        show(f"one head, tested among the task's classes, {label}", ["", f"{100 * np.mean(found):.2f}"])


def _among_its_task(options: dict[str, Any], seed: int) -> float:
    """Learn Split-MNIST with one head; mean accuracy over tasks, the answer being one of the task's classes."""
    stream = Curriculum("class-incremental", holdout=0.1, seed=seed).open(load_dataset("mnist"))
    learner = learner_class("kenyon")(stream.info, seed, **options)
    for episode in stream.episodes:
        learner.learn(*episode.train())
    model, right = learner.classifier, []  # type: ignore[attr-defined]
    for episode in stream.episodes:
        X, y = episode.test()
        own = [model.classes_.tolist().index(label) for label in np.unique(y)]
        right.append(np.mean(model.classes_[own][model.decision_function(X)[:, own].argmax(1)] == y))
    return float(np.mean(right))


PARTS = {"frozen": frozen, "scale": scale, "start": start, "normalisation": normalisation, "heads": heads}


def main() -> None:
    words = [word for word in sys.argv[1:] if "=" not in word] or list(PARTS)
    seeds = next((int(word.removeprefix("seeds=")) for word in sys.argv[1:] if word.startswith("seeds=")), 1)
    if any(word not in PARTS for word in words):
        sys.exit(f"usage: python benchmarks/inel_transfer.py {' '.join(f'[{name}]' for name in PARTS)} [seeds=1]")
    show("", ["single", "task-inc.", "class-inc."])
    show("the paper", ["96.39", "65.25", "21.56"])
    for word in words:
        PARTS[word](seeds)


if __name__ == "__main__":
    main()
