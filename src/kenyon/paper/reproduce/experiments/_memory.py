"""Accuracy against bytes of state, for every method and several sizes of Kenyon. The paper has no such figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kenyon.lab.figures import Figure
from kenyon.lab.report import bytes_figure, matrix_figure, stream_figure
from kenyon.learners import LEARNERS
from kenyon.model.presets import load_preset
from kenyon.paper.reproduce._setting import COLOUR, NAMES, Setting
from kenyon.paper.reproduce._wanted import EMPTY, Line, Plot, Results, Runs, Section, Sheet, Wanted, groups, jobs_of
from kenyon.paper.reproduce.experiments._configurations import chosen
from kenyon.paper.reproduce.experiments._features import SECOND_ORDER, on_features, second_order
from kenyon.paper.reproduce.experiments._methods import methods
from kenyon.paper.tables import paper_table

MAIN = ("mnist", "class-incremental")
OTHER_SIZES: dict[tuple[str, str], tuple[str | int, ...]] = {
    MAIN: ("split-mnist-20kb", "split-mnist-40kb", "split-mnist-80kb", "split-mnist-200kb", 20_000, 40_000),
    ("cifar10", "class-incremental"): ("split-cifar10-40kb", "split-cifar10-160kb", 11_000),
}
"""Other sizes of Kenyon besides the chosen one, by stream: a number of hidden units, or a preset for less memory,
since few units need another threshold, rate and clamp."""

BUDGETS = ("20 KB", "160 KB", "1 MB")
"""Memory budgets of the main stream: nothing else is given, and the shape of an image does the rest."""

SHOWN = ("Kenyon", "DER++", "Online EWC", "Fine-Tune")
"""The methods whose accuracy matrices and curves are drawn."""

NOTE = (
    "State is everything a method must keep to keep learning: weights, importances, stored samples, statistics; a "
    "random projection counts as its seed. A frozen backbone is not counted. The line joins what nothing else beats."
)
SIZES = (
    " Kenyon by its units is the paper's system, a rule with values from a search; by its bytes, a memory budget and "
    "the shape of an image choose units that look through windows and a second-order layer."
)


def memory(setting: Setting) -> list[Section]:
    """One figure per stream; for class-incremental Split-MNIST also the table, accuracy matrices and curves."""
    streams = [column.partition("/") for column in paper_table("comparison_extended").columns]
    order = sorted(streams, key=lambda stream: stream[2])  # class-incremental first
    parts: list[Section] = [_figures(setting, dataset, scenario) for dataset, _, scenario in order]
    return [_sheet(_cells(setting, *MAIN)), *parts]


def _cells(setting: Setting, dataset: str, scenario: str) -> dict[str, Wanted]:
    """Every method that is run on a stream, by name."""
    cells: dict[str, Wanted] = {}
    if options := chosen(dataset, scenario):
        cells["Kenyon"] = setting.kenyon(dataset, scenario, options)
        for size in OTHER_SIZES.get((dataset, scenario), ()):
            other = {**options, "n_hidden": size} if isinstance(size, int) else load_preset(size).options
            cells[f"Kenyon, {other['n_hidden']:,} units"] = setting.kenyon(dataset, scenario, other)
    if (dataset, scenario) == MAIN:
        for budget in BUDGETS:
            cells[f"Kenyon, {budget}"] = setting.kenyon(dataset, scenario, {"memory_budget": budget.replace(" ", "")})
    colour = dataset in COLOUR
    if colour:
        cells |= {size: second_order(setting, size, dataset, scenario) for size in SECOND_ORDER}
    for learner, label in methods().items():
        if scenario in LEARNERS[learner].scenarios:
            features = on_features(setting, learner, dataset, scenario) if colour else None
            cells[label] = features or setting.runs(dataset, scenario, learner)
    return cells


def _sheet(cells: Mapping[str, Wanted]) -> Sheet:
    """Accuracy, forgetting and state, side by side."""
    metrics = {"accuracy": ("%", "higher"), "forgetting": ("%", "lower"), "state_bytes": ("MB", "lower")}
    kept = {label: LEARNERS[learner].memory for learner, label in methods().items()}
    lines = []
    for name, cell in cells.items():
        group = f"Keeps besides its weights: {kept[name]}" if name in kept else "Kenyon"
        own: list[Wanted] = [
            replace(cell, metric=metric, unit=unit, better=better) if isinstance(cell, Runs) else cell
            for metric, (unit, better) in metrics.items()
        ]
        if name == "iid-offline":
            own[1] = EMPTY  # it learns after the stream has ended, so it cannot forget
        lines.append(Line(name, tuple(own), group, outside=name == "iid-offline"))
    lines.sort(key=lambda line: (not line.label.startswith("Kenyon"), line.group or ""))
    columns = ("Accuracy", "Forgetting", "State")
    return Sheet("memory", "Split-MNIST, class-incremental: what is kept", columns, tuple(lines), note=NOTE + SIZES)


def _figures(setting: Setting, dataset: str, scenario: str) -> Plot:
    cells = _cells(setting, dataset, scenario)

    def make(results: Results) -> list[Figure]:
        found = groups(results, cells)
        stream = (f"Split-{NAMES[dataset]}", scenario)
        drawn = bytes_figure(stream, found) if len(found) > 1 else None
        note = NOTE + SIZES if (dataset, scenario) == MAIN else NOTE
        figures: list[Figure | None] = [replace(drawn, note=note) if drawn else None]
        if (dataset, scenario) == MAIN:
            some = [group for group in found if group.label in SHOWN]
            figures.append(stream_figure(stream, some) if some else None)
            figures += [matrix_figure(stream, group) for group in some]
        return [figure for figure in figures if figure]

    return Plot(jobs_of(cells.values()), make)
