"""Readings of what the paper leaves open, each on held-out training samples: docs/reproduce.md says what came out.

    python benchmarks/readings.py [lengths] [heads] [carried] [output] [length] [rate] [unused] [ablations] [mlp]
        [--seeds 1] [--datasets mnist,cifar10,cifar100]

lengths: the length of the activity of each of the paper's configurations on each data set, as experiments/lengths.toml
    has it: the root of the mean of |x_e|^2 over 1,024 training samples, pixels from 0 to 1.
heads: task by task with one head for all tasks, the label being the place in the task (`domain-incremental`), beside a
    head for every task; INEL's and MSE's single-task configurations, with every output.
carried: single-task configurations on class-incremental streams, with every output; INEL without its window too.
output: the single-task configurations with every output.
length: what the configurations of Table 7 reach with every output, and on activity that is scaled to length 1.
rate: INEL on MNIST at multiples of the published learning rate, half a pass and one.
unused: MSE's beta_3^M and alpha^M, which the paper does not explain, in several readings.
ablations: INEL on MNIST without the threshold (and the mean, or beside it) and without the feature layer, the output
    divided by the mean of |x_e|^2 of that activity, or of the activity that the configuration was found on.
mlp: the ablation's MLP at several learning rates, 20,000 training samples.

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
from kenyon.paper.reproduce.experiments import UNIT, as_printed, lengths, on_length_1, optimised, single
from kenyon.paper.reproduce.experiments import published as configuration
from kenyon.paper.tables import paper_table

BACKBONE = {"cifar10": "efficientnet-lite0", "cifar100": "efficientnet-lite0"}
OUTPUTS = ("linear", "relu", "clip")
HOME = {"mnist": "mnist", "cifar10": "cifar10", "cifar100": "cifar10"}
MLP = "kenyon.learners.baselines:FeatureMLP"
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
            options = single(HOME[dataset], rule, dataset)
            for scenario, head in (("domain-incremental", "one head"), ("task-incremental", "a head for every task")):
                for output in OUTPUTS if scenario == "domain-incremental" else OUTPUTS[::2]:
                    reached = held_out(dataset, scenario, {**options, "layer__output": output}, seeds)
                    show(f"{rule}, {head}, output {output}", dataset, reached, paper)


def carried(datasets: list[str], seeds: int) -> None:
    for dataset in datasets:
        for rule in ("inel", "mse"):
            paper = published("comparison_extended", f"{dataset}/class-incremental", configuration=f"transfer-{rule}")
            options = single(HOME[dataset], rule, dataset)
            readings = {f"output {kind}": {"layer__output": kind} for kind in OUTPUTS}
            if rule == "inel":
                readings["no window"] = {"rule__beta": 0.0}
            for words, changed in readings.items():
                reached = held_out(dataset, "class-incremental", {**options, **changed}, seeds)
                show(f"{rule}, class-incremental, {words}", dataset, reached, paper)


def output(datasets: list[str], seeds: int) -> None:
    for dataset, rule in (("mnist", "inel"), ("mnist", "mse"), ("fashion-mnist", "mse"), ("cifar10", "inel")):
        if dataset != "cifar10" or dataset in datasets:
            paper = published("transfer", f"{dataset}/single-task", dataset=dataset, rule=rule)
            for kind in OUTPUTS:
                given = {**single(dataset, rule), "layer__output": kind}
                reached = held_out(dataset, "single-task", given, seeds, 0.5)
                show(f"single task, {rule}, output {kind}", dataset, reached, paper)


def length(datasets: list[str], seeds: int) -> None:
    for found in ("mnist", "cifar10"):
        for dataset in datasets:
            paper = published("comparison_extended", f"{dataset}/class-incremental", configuration=f"opt-{found}")
            readings = {f"output {kind}": {"layer__output": kind} for kind in OUTPUTS}
            for words, changed in readings.items():
                reached = held_out(dataset, "class-incremental", {**optimised(found, dataset), **changed}, seeds)
                show(f"Table 7's configuration of {found}, as printed, {words}", dataset, reached, paper)
            given = on_length_1("class_configurations", found, "inel", dataset)
            reached = held_out(dataset, "class-incremental", given, seeds)
            show(f"Table 7's configuration of {found}, activity of length 1", dataset, reached, paper)


def rate(datasets: list[str], seeds: int) -> None:
    options = single("mnist", "inel")
    for times in (0.5, 1, 2, 4, 8):
        given = {**options, "layer__learning_rate": options["layer__learning_rate"] * times}
        for epochs in (0.5, 1.0):
            reached = held_out("mnist", "single-task", given, seeds, epochs)
            show(f"INEL at {times:g} times the published rate, {epochs:g} passes", "mnist", reached, "96.40")


def unused(datasets: list[str], seeds: int) -> None:
    table = paper_table("single_configurations")
    for row in table.rows:
        dataset = row.keys["dataset"]
        if row.keys["rule"] != "mse" or (dataset == "cifar10" and dataset not in datasets):
            continue
        beta, alpha = (table.value(column, **row.keys)[0] for column in ("beta_3^M", "alpha^M"))
        opened, options = dataset.replace("emnist-digits", "emnist-digits-30k"), single(dataset, "mse")
        scale, samples = UNIT.get(dataset, 255.0) * lengths(table.name, dataset, "mse")[dataset] ** 2, 54_000
        learning = options["layer__learning_rate"]
        readings: dict[str, dict[str, Any]] = {
            "not used": {},
            "alpha: rate / (1 + alpha t), t in samples": {"layer__decay": alpha},
            "alpha: rate / (1 + alpha t), t in passes": {"layer__decay": alpha / samples},
            "beta_3: weights from -beta_3 to beta_3": {"layer__clamp": beta / scale},
            "beta_3: weights from 0 to beta_3": {"layer__clamp": beta / scale, "layer__clamp_kind": "positive"},
            "alpha decays the rate to beta_3 of it": {"layer__learning_rate": beta * learning},
        }
        for words, changed in readings.items():
            reached = held_out(opened, "single-task", {**options, **changed}, seeds, 0.5)
            show(f"MSE, {words}", opened, reached, f"{row.values[0][0]:.2f}")


def ablations(datasets: list[str], seeds: int) -> None:
    window, rate_of = 0.045, 0.153
    whole = configuration("single_configurations", "mnist", "inel")
    plain = {**whole, "unit_norm": True, "layer__learning_rate": rate_of}
    changes: dict[str, dict[str, Any]] = {
        "threshold, x_e = ReLU(W u)": {**plain, "features__threshold": "off"},
        "threshold, x_e = ReLU(W u - mu)": {**plain, "features__threshold": 0.0},
        "feature layer": {key: value for key, value in plain.items() if key not in FEATURES} | {"features": "identity"},
    }
    for (what, options), paper in zip(changes.items(), ("23.24", "23.24", "90.72"), strict=True):
        own = length_of(options, "mnist") / 255
        for words, size in (
            ("its own", own),
            ("the whole", lengths("single_configurations", "mnist", "inel")["mnist"]),
        ):
            for kind in OUTPUTS:
                given = {**as_printed(options, window, size, 255.0), "layer__output": kind}
                for epochs in (0.5, 1.0):
                    reached = held_out("mnist", "single-task", given, seeds, epochs)
                    show(f"no {what}, scale {words} {size:.1f}, output {kind}, {epochs:g}", "mnist", reached, paper)


def mlp(datasets: list[str], seeds: int) -> None:
    options = {
        key.removeprefix("features__"): value for key, value in single("mnist", "inel").items() if key in FEATURES
    }
    for lr in (0.01, 0.03, 0.1, 0.3, 1.0):
        curriculum = Curriculum("single-task", holdout=0.1, max_per_task=20_000)
        config = RunConfig("mnist", MLP, curriculum, {**options, "lr": lr}, 0, tests="last")
        reached = f"{100 * (run(config, [0], None).summary('accuracy').mean or 0.0):6.2f}"
        show(f"an MLP 400-400 on the sparse features, rate {lr:g}", "mnist", reached, "37.00")


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


PARTS = {
    "lengths": measure,
    "heads": heads,
    "carried": carried,
    "output": output,
    "length": length,
    "rate": rate,
    "unused": unused,
    "ablations": ablations,
    "mlp": mlp,
}


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
