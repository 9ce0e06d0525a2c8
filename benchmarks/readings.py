"""Readings of what the paper leaves open, each on held-out training samples: docs/reproduce.md says what came out.

    python benchmarks/readings.py [lengths] [heads] [output] [length] [--seeds 1] [--datasets mnist,cifar10,cifar100]

lengths: the length of the activity of each of the paper's configurations on each data set, as experiments/lengths.toml
    has it: the root of the mean of |x_e|^2 over 1,024 training samples, pixels from 0 to 1.

heads: task by task with one head for all tasks, the label being the place in the task (`domain-incremental`), beside a
    head for every task; INEL's and MSE's single-task configurations, with every output.
output: MNIST without a feature layer, with every output; and the single-task configurations with every output.
length: activity as the paper prints it, the published rate and window, and the output divided by the mean squared
    length of the activity: what the configurations of Table 7 reach, and INEL as a single task.

Prints a line per measurement: what, the data set, accuracy in %, the paper's number.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from kenyon.data.streams import Curriculum
from kenyon.errors import DivergenceError
from kenyon.lab.evaluation import RunConfig, open_dataset, run
from kenyon.learners import learner_class
from kenyon.paper.reproduce.experiments import UNIT, optimised, single
from kenyon.paper.reproduce.experiments import published as configuration
from kenyon.paper.tables import paper_table

BACKBONE = {"cifar10": "efficientnet-lite0", "cifar100": "efficientnet-lite0"}
OUTPUTS = ("linear", "relu", "clip")
HOME = {"mnist": "mnist", "cifar10": "cifar10", "cifar100": "cifar10"}
FEATURES = ("n_hidden", "features__density", "features__inhibitory", "features__threshold")


def held_out(dataset: str, scenario: str, options: dict[str, Any], seeds: int, epochs: float = 1.0) -> str:
    """Mean accuracy on held-out training samples, %."""
    curriculum = Curriculum(scenario, epochs=epochs, holdout=0.1)
    config = RunConfig(dataset, "kenyon", curriculum, options, 0, tests="last", backbone=BACKBONE.get(dataset))
    try:
        return f"{100 * (run(config, range(seeds), None).summary('accuracy').mean or 0.0):6.2f}"
    except DivergenceError:
        return "diverges"


def published(table: str, column: str, **keys: str) -> str:
    """The paper's number, %."""
    value = paper_table(table).value(column, **keys)
    return "-" if value is None else f"{value[0]:.2f}"


def show(what: str, dataset: str, reached: str, paper: str) -> None:
    print(f"{what:64s} {dataset:14s} {reached:>8s} {paper:>8s}", flush=True)


def heads(datasets: list[str], seeds: int) -> None:
    for dataset in datasets:
        for rule in ("inel", "mse"):
            paper = published("comparison_extended", f"{dataset}/task-incremental", configuration=f"transfer-{rule}")
            options = single(HOME[dataset], rule)
            for scenario, head in (("domain-incremental", "one head"), ("task-incremental", "a head for every task")):
                for output in OUTPUTS if scenario == "domain-incremental" else OUTPUTS[::2]:
                    reached = held_out(dataset, scenario, {**options, "layer__output": output}, seeds)
                    show(f"{rule}, {head}, output {output}", dataset, reached, paper)


def output(datasets: list[str], seeds: int) -> None:
    options = {key: value for key, value in single("mnist", "inel").items() if key not in FEATURES}
    for kind in OUTPUTS:
        for epochs in (0.5, 1.0):
            given = {**options, "features": "identity", "layer__output": kind}
            reached = held_out("mnist", "single-task", given, seeds, epochs)
            show(f"no feature layer, {epochs:g} passes, output {kind}", "mnist", reached, "90.72")
    for dataset, rule in (("mnist", "inel"), ("mnist", "mse"), ("fashion-mnist", "mse"), ("cifar10", "inel")):
        if dataset != "cifar10" or dataset in datasets:
            paper = published("transfer", f"{dataset}/single-task", dataset=dataset, rule=rule)
            for kind in OUTPUTS:
                given = {**single(dataset, rule), "layer__output": kind}
                show(
                    f"single task, {rule}, output {kind}",
                    dataset,
                    held_out(dataset, "single-task", given, seeds, 0.5),
                    paper,
                )


def length(datasets: list[str], seeds: int) -> None:
    for found in ("mnist", "cifar10"):
        for dataset in datasets:
            paper = published("comparison_extended", f"{dataset}/class-incremental", configuration=f"opt-{found}")
            for kind in OUTPUTS:
                options = {**optimised(found, dataset), "layer__output": kind}
                reached = held_out(dataset, "class-incremental", options, seeds)
                show(f"Table 7's configuration of {found}, length as printed, output {kind}", dataset, reached, paper)


def measure(datasets: list[str], seeds: int) -> None:
    for table in ("single_configurations", "class_configurations"):
        for row in paper_table(table).rows:
            dataset, rule = row.keys["dataset"], row.keys["rule"]
            print(f'["{table}/{dataset}/{rule}"]')
            for on in datasets:
                found = length_of(configuration(table, dataset, rule), on) / UNIT.get(on, 255.0)
                print(f"{on} = {found:.2f}", flush=True)


def length_of(options: dict[str, Any], dataset: str, n: int = 1024) -> float:
    """The root of the mean of |x_e|^2, in the units of the samples."""
    stream = Curriculum("single-task", holdout=0.1).open(open_dataset(dataset, backbone=BACKBONE.get(dataset)))
    X = np.ascontiguousarray(stream.episodes[0].train()[0][:n])
    learner: Any = learner_class("kenyon")(stream.info, 0, **{**options, "unit_norm": False})
    learner.learn(X[:1], np.zeros(1, np.int64))
    features, _ = learner.classifier.parts()
    workspace, total = features.workspace(), 0.0
    for start in range(0, n, 32):
        _, values, counts = features.activate(X[start : start + 32], workspace)
        total += sum(float((row[:count].astype(float) ** 2).sum()) for row, count in zip(values, counts, strict=False))
    return float(np.sqrt(total / n))


PARTS = {"lengths": measure, "heads": heads, "output": output, "length": length}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--datasets", default="mnist,cifar10,cifar100")
    given = parser.parse_args()
    show("", "data set", "%", "paper")
    for name in given.parts or PARTS:
        PARTS[name](given.datasets.split(","), given.seeds)


if __name__ == "__main__":
    main()
