"""Class-incremental streams in shuffled class orders, beside the sorted order that the paper and the literature use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kenyon.learners import LEARNERS
from kenyon.paper.reproduce._setting import COLOUR, NAMES, Setting
from kenyon.paper.reproduce._wanted import EMPTY, Gap, Line, Runs, Section, Sheet, Wanted
from kenyon.paper.reproduce.experiments._configurations import READ_AS, chosen, optimised
from kenyon.paper.reproduce.experiments._features import SECOND_ORDER, on_features, second_order
from kenyon.paper.reproduce.experiments._methods import methods

SCENARIO = "class-incremental"
DATASETS = ("mnist", "cifar10", "cifar100")
ORDERS = ("sorted", "shuffled")
THREE = (0, 1, 2)
"""Seeds of the baselines in shuffled orders; Kenyon has all of the setting's."""
OURS = "Kenyon, chosen on held-out samples of the sorted order"
NOTE = (
    "Split streams take classes in the order of their labels: 0 and 1, 2 and 3, and so on. Shuffled: every seed has an "
    "order of its own, so that the deviation is that over orders, five for Kenyon and three for the other methods. "
    "Everything else is as in the comparison of all methods, on CIFAR as in the table of the same features: nothing "
    "was tuned again for shuffled orders. The paper's configurations are on its own samples, those of MNIST. "
)


def orders(setting: Setting) -> list[Section]:
    """One table, with two columns per stream."""
    papers = {
        f"Ours (Opt w/ Split {NAMES[home]}), the paper's": optimised(home, "mnist") for home in ("mnist", "cifar10")
    }
    lines = [
        Line(
            label,
            _cells(setting, {"mnist": options}) + (EMPTY,) * (len(ORDERS) * (len(DATASETS) - 1)),
            "The paper's configurations, run here",
            outside=True,
        )
        for label, options in papers.items()
    ]
    own = {dataset: chosen(dataset, SCENARIO) for dataset in DATASETS}
    lines.append(Line("Kenyon, a rule", _cells(setting, own), OURS))
    for size in SECOND_ORDER:
        lines.append(Line(size, tuple(_second(setting, size, d, o) for d in DATASETS for o in ORDERS), OURS))
    rivals = []
    for learner, label in methods().items():
        if learner != "iid-offline" and SCENARIO in LEARNERS[learner].scenarios:
            group = f"Keeps besides its weights: {LEARNERS[learner].memory}"
            rivals.append(Line(label, tuple(_rival(setting, learner, d, o) for d in DATASETS for o in ORDERS), group))
    lines += sorted(rivals, key=lambda line: line.group or "")
    columns = tuple(f"Split-{NAMES[dataset]}, {order}" for dataset in DATASETS for order in ORDERS)
    title, shuffled = "Class-incremental: shuffled class orders", tuple(range(1, len(columns), len(ORDERS)))
    return [Sheet("orders", title, columns, tuple(lines), note=NOTE + READ_AS, needed=shuffled)]


def _cells(setting: Setting, options: Mapping[str, Mapping[str, Any] | None]) -> tuple[Wanted, ...]:
    return tuple(
        setting.kenyon(dataset, SCENARIO, given, class_order=order)
        if given
        else Gap("no configuration was chosen for this stream yet")
        for dataset, given in options.items()
        for order in ORDERS
    )


def _rival(setting: Setting, learner: str, dataset: str, order: str) -> Wanted:
    shuffled = order == "shuffled"
    if dataset not in COLOUR:
        return setting.runs(dataset, SCENARIO, learner, class_order=order, seeds=THREE if shuffled else None)
    cell = on_features(setting, learner, dataset, SCENARIO, class_order=order)
    return replace(cell, seeds=cell.seeds[: len(THREE)]) if isinstance(cell, Runs) and shuffled else cell


def _second(setting: Setting, size: str, dataset: str, order: str) -> Wanted:
    return second_order(setting, size, dataset, SCENARIO, class_order=order) if dataset in COLOUR else EMPTY
