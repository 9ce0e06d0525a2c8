"""Every protocol of a continual-learning paper, one table each: Kenyon beside methods without memory and with replay.

    python benchmarks/protocols.py digits mnist cifar10 cifar100 [--seeds 5] [--write docs/protocols.md]

Nothing is chosen here: Kenyon has its defaults or a memory budget, and the baselines have the values of `tuned.toml`
(`features.toml` on features), which were chosen on held-out training samples. A seed sets the stream, the learner and
the order of the classes. What is in the store is not run again, so the command can be stopped and given again; orders
are run one after the other, and the tables say how many they have.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from kenyon.data.streams import Curriculum
from kenyon.lab.evaluation import RunConfig, RunResult, Store, run_each

Learners = dict[str, tuple[str, dict[str, Any]]]
PIXELS: Learners = {
    "Kenyon": ("kenyon", {}),
    "Kenyon, 160 KB": ("kenyon", {"memory_budget": "160KB"}),
    "NCM": ("ncm", {}),
    "SLDA": ("slda", {"batch_size": 100}),
    "RanDumb": ("randumb", {"batch_size": 100}),
    "ER": ("er", {}),
    "DER++": ("der++", {}),
}
FEATURES: Learners = PIXELS | {
    "Kenyon, 4 MB": (
        "kenyon",
        {"features": "identity", "features__root": True, "layer": "second-order", "memory_budget": "4MB"},
    ),
    "ER": ("er", {"hidden": [100], "lr": 0.2}),
    "DER++": ("der++", {"hidden": [100], "lr": 0.1, "alpha": 0.3, "beta": 1.0}),
}
del FEATURES["Kenyon, 160 KB"]


class Setting(NamedTuple):
    """A data set, and how much of it is streamed.

    Attributes:
        share: of the training samples; the test set is whole.
        test_every: samples between two tests.
        steps: numbers of tasks of the class-incremental streams; the first is that of every other protocol.
    """

    name: str
    share: float
    test_every: int
    steps: tuple[int, ...]
    learners: Learners = PIXELS
    backbone: str | None = None


class Rules(NamedTuple):
    """A protocol: what it is, how data are streamed, and under which budgets."""

    about: str
    curriculum: dict[str, Any]
    budget: Mapping[str, Any] = MappingProxyType({})
    dataset: str = ""


SETTINGS = {
    "digits": Setting("digits", 1.0, 300, (5, 10)),
    "mnist": Setting("Split-MNIST", 1 / 24, 400, (5, 10)),
    "cifar10": Setting("Split-CIFAR-10, features", 1 / 20, 400, (5, 10), FEATURES, "efficientnet-lite0"),
    "cifar100": Setting("Split-CIFAR-100, features", 1 / 10, 800, (10, 20, 50, 100), FEATURES, "efficientnet-lite0"),
}


def protocols(dataset: str) -> dict[str, Rules]:
    """The protocols of a data set, by name."""
    setting = SETTINGS[dataset]
    groups, tasks = "The classes in as many groups, one after the other.", {"n_tasks": setting.steps[0]}
    found = {f"Class-incremental, {n} steps": Rules(groups, {"n_tasks": n}) for n in setting.steps}
    found |= {
        "i-Blurry": Rules(
            "Half the classes in one task each; a tenth of the samples of the others dealt out to all tasks "
            "(Koh et al., 2022).",
            {"scenario": "i-blurry"},
        ),
        "Si-Blurry": Rules("The same with tasks of random sizes (Moon et al., 2023).", {"scenario": "si-blurry"}),
        "Long tail": Rules(
            "Class-incremental; of C classes, class k keeps 0.02^(k/(C-1)) of its training samples, the test set is "
            "balanced.",
            {"long_tail": 0.02, **tasks},
        ),
        "Repeats": Rules("Class-incremental, and all tasks once more with other samples.", {"repeats": 2, **tasks}),
    }
    if not setting.backbone:
        every = {"n_tasks": 5, "epochs": setting.share / 5 if setting.share < 1 else 1.0}
        found["Rotated"] = Rules(
            "Every class in five tasks, each turned by 36 degrees more.", {"scenario": "rotated", **every}
        )
        found["Permuted"] = Rules(
            "Every class in five tasks, each with its own order of the pixels.", {"scenario": "permuted", **every}
        )
    if dataset == "cifar100":
        found["By superclass"] = Rules(
            "The label is the superclass; each of five tasks has another of its five classes (domain-incremental).",
            {"scenario": "domain-incremental"},
            dataset="cifar100-coarse",
        )
    return found | {
        "Real time": Rules(
            "Class-incremental; the stream leaves time for 500,000 multiply-adds a sample, and who needs more misses "
            "samples (after Ghunaim et al., 2023).",
            tasks,
            {"compute_budget": 500_000.0},
        ),
        "Labels on request": Rules(
            "Class-incremental; a label for a twentieth of the samples, which the learner asks for by its uncertainty.",
            tasks,
            {"label_budget": 0.05},
        ),
        "Labels by chance": Rules("The same twentieth, by chance.", tasks, {"label_budget": 0.05, "asking": "random"}),
    }


def configs(dataset: str) -> dict[tuple[str, str], RunConfig]:
    """The configuration of each protocol and method."""
    setting, made = SETTINGS[dataset], {}
    for protocol, rules in protocols(dataset).items():
        curriculum = Curriculum(**{"class_order": "shuffled", "epochs": setting.share, **rules.curriculum})
        how = {"tests": "last", "test_every": setting.test_every, "prequential": False, "weights_every": 0}
        how |= {"backbone": setting.backbone, **rules.budget}
        for label, (learner, options) in setting.learners.items():
            made[protocol, label] = RunConfig(rules.dataset or dataset, learner, curriculum, options, **how)
    return made


def mean(results: list[RunResult], metric: str) -> str:
    """Mean and standard deviation over the orders, in percent."""
    values = [100 * value for result in results if (value := result.metrics[metric]) is not None]
    if not values:
        return ""
    middle = sum(values) / len(values)
    if len(values) < 2:
        return f"{middle:.1f}"
    return f"{middle:.1f} ± {(sum((v - middle) ** 2 for v in values) / (len(values) - 1)) ** 0.5:.1f}"


def table(dataset: str, protocol: str, done: dict[tuple[str, str], list[RunResult]]) -> list[str]:
    """The lines of one protocol's table, the best at any time first."""
    setting, budget = SETTINGS[dataset], protocols(dataset)[protocol].budget
    extra = [("learned", "learned_share")] * ("compute_budget" in budget)
    extra += [("labels", "labels_given")] * ("label_budget" in budget)
    columns = [("at any time", "anytime_accuracy"), ("at the end", "sample_accuracy"), *extra]
    lines = [
        f"| {setting.name} | {' | '.join(f'{name}, %' for name, _ in columns)} | operations a sample | state | orders |"
    ]
    lines.append("|---" * (len(columns) + 4) + "|")
    rows = {label: done[protocol, label] for label in setting.learners if done.get((protocol, label))}
    for label, results in sorted(rows.items(), key=lambda row: -_order(row[1])):
        first = results[0].metrics
        cells = [mean(results, metric) for _, metric in columns]
        cells += [f"{first['operations_per_sample'] or 0:,.0f}", f"{(first['state_bytes'] or 0) / 1000:,.0f} KB"]
        lines.append(f"| {label} | {' | '.join(cells)} | {len(results)} |")
    return lines


def _order(results: list[RunResult]) -> float:
    return sum(result.metrics["anytime_accuracy"] or 0.0 for result in results) / len(results)


def page(found: dict[str, dict[tuple[str, str], list[RunResult]]], command: str) -> str:
    """The whole page."""
    doc = (__doc__ or "").split("\n\n")[2].strip()
    about = f"This page is for researchers who compare methods. {doc}"
    lines = ["# Protocols", "", about, "", f"Written by `{command}`.", ""]
    lines += [
        "- One pass over a share of the training samples, so that every protocol and order runs in minutes: 2,500 of",
        "  MNIST and of CIFAR-10, 5,000 of CIFAR-100, all digits (1,438); rotated and permuted streams of MNIST have",
        "  as many in all. The whole test set. Streams of all samples are in [the results](results.md).",
        "- CIFAR: the features of a frozen EfficientNet-Lite0 at 128 pixels ([backbones](backbones.md)). Rotated and",
        "  permuted streams are of pixels alone. ER and DER++ have a buffer of 500 samples.",
        "- *At any time*: the area under the curve of the accuracy on the classes seen so far, tested every 400",
        "  samples (digits 300, CIFAR-100 800). *At the end*: the accuracy on the whole test set.",
        "- ±: the standard deviation over orders of the classes, each with a seed of its own.",
        "- *Operations*: multiply-adds of learning a sample, on average over the stream. A readout that is solved at",
        "  test time (SLDA, RanDumb, Kenyon with a memory budget) is not in them.",
        "",
    ]
    rules = {name: one for dataset in found for name, one in protocols(dataset).items()}
    for protocol, one in sorted(rules.items(), key=lambda item: _place(item[0])):
        lines += [f"## {protocol}", "", one.about, ""]
        for dataset, done in found.items():
            if any(name == protocol for name, _ in done):
                lines += [*table(dataset, protocol, done), ""]
    return "\n".join(lines)


def _place(protocol: str) -> tuple[int, int]:
    """Class-incremental streams come first, those with the fewest steps before the others."""
    words = protocol.split()
    return (0, int(words[1])) if words[-1] == "steps" else (1, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every = list(PIXELS | FEATURES)
    parser.add_argument("datasets", nargs="+", choices=SETTINGS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--store", default="runs/protocols")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--learners", nargs="+", default=every, choices=every, metavar="LEARNER")
    parser.add_argument("--as-is", action="store_true", help="Write what the store has, run nothing.")
    given = parser.parse_args()
    found: dict[str, dict[tuple[str, str], list[RunResult]]] = {dataset: {} for dataset in given.datasets}
    for seed in range(given.seeds):
        for dataset, done in found.items():
            wanted = {key: config for key, config in configs(dataset).items() if key[1] in given.learners}
            store = Store(Path(given.store))
            ready = [key for key in wanted if not given.as_is or store.folder(wanted[key], seed).complete]
            by_name = {wanted[key].folder_name(seed): key for key in ready}
            for ended in run_each([wanted[key] for key in ready], [seed], given.store):
                result, key = ended.result(), by_name[ended.job.config.folder_name(seed)]
                done.setdefault(key, []).append(result)
                if ended.seconds:
                    shown = {name: result.metrics[name] for name in ("anytime_accuracy", "sample_accuracy")}
                    print(dataset, seed, *key, json.dumps(shown), f"{ended.seconds:.0f} s", flush=True)
    command = f"python benchmarks/protocols.py {' '.join(found)} --seeds {given.seeds} --write docs/protocols.md"
    text = page(found, command)
    if given.write:
        given.write.write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
