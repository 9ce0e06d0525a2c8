"""The main CIFAR table: every method learns the same features of a frozen network, so that rules are compared."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from kenyon.learners import LEARNERS
from kenyon.paper.reproduce._setting import COLOUR, NAMES, Setting
from kenyon.paper.reproduce._wanted import EMPTY, Gap, Line, Section, Sheet, Wanted
from kenyon.paper.reproduce.experiments._configurations import chosen
from kenyon.paper.reproduce.experiments._methods import methods

SCENARIOS = ("task-incremental", "class-incremental")
SECOND_ORDER: dict[str, dict[str, Any]] = {
    "Kenyon, second-order, 1 MB": {"features": "dense", "memory_budget": "1MB", "layer__bits": 24},
    "Kenyon, second-order, 4 MB": {"features": "identity", "memory_budget": "4MB"},
}
"""The second-order layer at two sizes, as in the table of bytes; the options that both have are added."""

KEPT = {
    "none": "Nothing but a network",
    "importance": "Importances or a teacher",
    "teacher": "Importances or a teacher",
    "gate history": "Importances or a teacher",
    "replay": "Stored samples",
    "replay + teacher": "Stored samples",
    "short-term memory + experts": "Stored samples",
}
STATISTICS = "Class means, covariances or weights"

NOTE = (
    "Everybody learns the 1,280 features of EfficientNet-Lite0, trained on ImageNet and frozen, at 128 pixels, in one "
    "pass, the classes in sorted order; every seed shuffles the samples of a task. Gradient methods learn an MLP with "
    "a hidden layer of 100 (RPSNet, InstAParam and CN-DPM their own networks of about that size), batches of 10, and "
    "keep the features of 500 samples where they keep any (iCaRL 500 exemplars and a pool of 1,000 samples of the "
    "present task). Tuning: gradient methods have the values that a grid of 2 to 18 combinations chose on held-out "
    "samples of Split-CIFAR-10's features, 1,000 samples per task, one seed, once for each scenario and for both data "
    "sets; SLDA and FlyModel had the same on whole streams, since short ones preferred other values, and keep their "
    "published values but for SLDA's shrinkage of 0.001 task-incrementally; RanDumb has its value from Split-MNIST, "
    "and NCM nothing to tune. Kenyon's rule has the winner of a search of 60 evaluations on whole streams, one for "
    "each, which is more effort; the settings of its second-order layer are those of the table of bytes, with some "
    "fifty evaluations behind them. A mean without a deviation is one seed. iid-offline is an upper bound and never "
    "marked best. The paper has no such table."
)


@cache
def _values() -> dict[str, Any]:
    """What `python -m kenyon.lab.search.tune METHOD --backbone efficientnet-lite0 --out features.toml` wrote."""
    return tomllib.loads(files(__package__).joinpath("features.toml").read_text(encoding="utf-8"))


def features(setting: Setting) -> list[Section]:
    """One table."""
    streams = [(dataset, scenario) for scenario in SCENARIOS for dataset in COLOUR]
    groups: dict[str, list[Line]] = {}
    for learner, label in methods().items():
        if not any(scenario in LEARNERS[learner].scenarios for scenario in SCENARIOS):
            continue
        group = "Upper bound" if learner == "iid-offline" else KEPT.get(LEARNERS[learner].memory, STATISTICS)
        cells = tuple(on_features(setting, learner, *stream) for stream in streams)
        groups.setdefault(group, []).append(Line(label, cells, group, outside=learner == "iid-offline"))
    own = [Line("Kenyon, a rule", tuple(_rule(setting, *stream) for stream in streams), "Kenyon")]
    for size in SECOND_ORDER:
        own.append(Line(size, tuple(second_order(setting, size, *stream) for stream in streams), "Kenyon"))
    lines = (*(line for lines in groups.values() for line in lines), *own)
    columns = tuple(f"{scenario.capitalize()}, Split-{NAMES[dataset]}" for dataset, scenario in streams)
    return [Sheet("cifar-features", "CIFAR: every method on the same features", columns, lines, note=NOTE)]


def on_features(setting: Setting, learner: str, dataset: str, scenario: str, *, class_order: str = "sorted") -> Wanted:
    """A method on the features, with the values that were chosen for it; empty where it is not defined for that."""
    if scenario not in LEARNERS[learner].scenarios:
        return EMPTY
    values = _values().get(f"{learner}/features/{scenario}", {}).get("values", {})
    return setting.runs(dataset, scenario, learner, values, tests="last", class_order=class_order, features=True)


def second_order(setting: Setting, size: str, dataset: str, scenario: str, *, class_order: str = "sorted") -> Wanted:
    """The second-order layer on the features, at a size of `SECOND_ORDER`."""
    options = {"layer": "second-order", "features__root": True, **SECOND_ORDER[size]}
    return setting.runs(dataset, scenario, "kenyon", options, tests="last", class_order=class_order, features=True)


def _rule(setting: Setting, dataset: str, scenario: str) -> Wanted:
    options = chosen(dataset, scenario)
    if options is None:
        return Gap("no configuration was chosen for this stream yet")
    return setting.kenyon(dataset, scenario, options)
