"""Every protocol of a continual-learning paper, one table each: Kenyon beside methods without memory and with replay.

    python benchmarks/protocols.py digits mnist [--seeds 5] [--store runs/protocols] [--write docs/protocols.md]

Nothing is chosen here: Kenyon has its defaults and the baselines the values of `tuned.toml`, which were chosen on
held-out training samples. A seed sets the stream, the learner and the order of the classes. What is in the store is not
run again, so the command can be stopped and given again; orders are run one after the other, and the tables say how
many they have.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from kenyon.data.streams import Curriculum
from kenyon.lab.evaluation import RunConfig, RunResult, run_each

LEARNERS: dict[str, tuple[str, dict[str, Any]]] = {
    "Kenyon": ("kenyon", {}),
    "Kenyon, 160 KB": ("kenyon", {"memory_budget": "160KB"}),
    "NCM": ("ncm", {}),
    "SLDA": ("slda", {"batch_size": 100}),
    "RanDumb": ("randumb", {"batch_size": 100}),
    "ER": ("er", {}),
    "DER++": ("der++", {}),
}


class Rules(NamedTuple):
    """A protocol: what it is, how data are streamed, and under which budgets."""

    about: str
    curriculum: dict[str, Any]
    budget: Mapping[str, Any] = MappingProxyType({})


PROTOCOLS: dict[str, Rules] = {
    "Class-incremental, 5 steps": Rules("Two classes after two.", {}),
    "Class-incremental, 10 steps": Rules("One class after the other.", {"n_tasks": 10}),
    "i-Blurry": Rules(
        "Half the classes in one task each; a tenth of the samples of the others dealt out to all five tasks "
        "(Koh et al., 2022).",
        {"scenario": "i-blurry"},
    ),
    "Si-Blurry": Rules("The same with tasks of random sizes (Moon et al., 2023).", {"scenario": "si-blurry"}),
    "Long tail": Rules(
        "Two classes after two; class k of 10 keeps 0.02^(k/9) of its training samples, the test set is balanced.",
        {"long_tail": 0.02},
    ),
    "Repeats": Rules("Two classes after two, and all once more with other samples.", {"repeats": 2}),
    "Rotated": Rules(
        "Every class in five tasks, each turned by 36 degrees more.", {"scenario": "rotated", "n_tasks": 5}
    ),
    "Permuted": Rules(
        "Every class in five tasks, each with its own order of the pixels.", {"scenario": "permuted", "n_tasks": 5}
    ),
    "Real time": Rules(
        "Two classes after two; the stream leaves time for 500,000 multiply-adds a sample, and who needs more misses "
        "samples (after Ghunaim et al., 2023).",
        {},
        {"compute_budget": 500_000.0},
    ),
    "Labels on request": Rules(
        "Two classes after two; a label for a twentieth of the samples, which the learner asks for by its uncertainty.",
        {},
        {"label_budget": 0.05},
    ),
    "Labels by chance": Rules("The same twentieth, by chance.", {}, {"label_budget": 0.05, "asking": "random"}),
}
SIZES = {"digits": (None, 100), "mnist": (1000, 1000)}
"""For each data set: the most training samples of a task, and the samples between two tests."""


def configs(dataset: str) -> dict[tuple[str, str], RunConfig]:
    """The configuration of each protocol and method."""
    most, every = SIZES[dataset]
    made = {}
    for protocol, rules in PROTOCOLS.items():
        curriculum = Curriculum(**{"class_order": "shuffled", "max_per_task": most, **rules.curriculum})
        for label, (learner, options) in LEARNERS.items():
            given = {"tests": "last", "test_every": every, "prequential": False, "weights_every": 0} | dict(
                rules.budget
            )
            made[protocol, label] = RunConfig(dataset, learner, curriculum, options, **given)
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
    budget = PROTOCOLS[protocol].budget
    extra = [("learned", "learned_share")] * ("compute_budget" in budget)
    extra += [("labels", "labels_given")] * ("label_budget" in budget)
    columns = [("at any time", "anytime_accuracy"), ("at the end", "sample_accuracy"), *extra]
    lines = [
        f"| {dataset} | {' | '.join(f'{name}, %' for name, _ in columns)} | operations a sample | state | orders |"
    ]
    lines.append("|---" * (len(columns) + 4) + "|")
    rows = {label: done[protocol, label] for label in LEARNERS if done.get((protocol, label))}
    for label, results in sorted(rows.items(), key=lambda row: -_order(row[1])):
        first = results[0].metrics
        cells = [mean(results, metric) for _, metric in columns]
        cells += [f"{first['operations_per_sample'] or 0:,.0f}", f"{(first['state_bytes'] or 0) / 1000:,.0f} KB"]
        lines.append(f"| {label} | {' | '.join(cells)} | {len(results)} |")
    return lines


def _order(results: list[RunResult]) -> float:
    return sum(result.metrics["anytime_accuracy"] or 0.0 for result in results) / len(results)


def page(found: dict[str, dict[tuple[str, str], list[RunResult]]], seeds: int) -> str:
    """The whole page."""
    lines = ["# Protocols", "", *(__doc__ or "").splitlines()[4:], ""]
    lines += [
        f"Written by `python benchmarks/protocols.py {' '.join(found)} --seeds {seeds} --write docs/protocols.md`.",
        "",
        "- MNIST: 1,000 samples of each task, drawn by the seed, so that every protocol and order runs in minutes; the",
        "  whole test set. Digits: all 1,438 training samples. One pass.",
        "- *At any time*: the area under the curve of the accuracy on the classes seen so far, tested every 1,000",
        "  (MNIST) or 100 samples (digits). *At the end*: the accuracy on the whole test set.",
        "- ±: the standard deviation over orders of the classes, each with a seed of its own.",
        "- *Operations*: multiply-adds of learning a sample, on average over the stream. A readout that is solved at",
        "  test time (SLDA, RanDumb, Kenyon with a memory budget) is not in them.",
        "",
    ]
    for protocol, rules in PROTOCOLS.items():
        lines += [f"## {protocol}", "", rules.about, ""]
        for dataset, done in found.items():
            lines += [*table(dataset, protocol, done), ""]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="+", choices=SIZES)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--store", default="runs/protocols")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--as-is", action="store_true", help="Write what the store has, run nothing.")
    given = parser.parse_args()
    found: dict[str, dict[tuple[str, str], list[RunResult]]] = {}
    for dataset in given.datasets:
        wanted = configs(dataset)
        keys, done = list(wanted), found.setdefault(dataset, {})
        for seed in range(given.seeds):
            ready = [key for key in keys if not given.as_is or _complete(given.store, wanted[key], seed)]
            for ended in run_each([wanted[key] for key in ready], [seed], given.store):
                result = ended.value()
                done.setdefault(ready[ended.number], []).append(result)
                if ended.seconds:
                    shown = {name: result.metrics[name] for name in ("anytime_accuracy", "sample_accuracy")}
                    print(dataset, seed, *ready[ended.number], json.dumps(shown), f"{ended.seconds:.0f} s", flush=True)
    text = page(found, given.seeds)
    if given.write:
        given.write.write_text(text)
    else:
        print(text)


def _complete(store: str, config: RunConfig, seed: int) -> bool:
    from kenyon.lab.evaluation import Store

    return Store(Path(store)).folder(config, seed).complete


if __name__ == "__main__":
    main()
