"""Figures drawn from runs: the search's trajectory, how weights evolve, accuracy against bytes, accuracy matrices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from kenyon.learners import LEARNERS
from kenyon.paper import figure_source, paper_table
from kenyon.report._data import Figure, Point, Scatter
from kenyon.report._gather import Group
from kenyon.report._run_figures import _matrix as matrix
from kenyon.report._run_figures import _scatter as scatter
from kenyon.report._run_figures import _stream_accuracy as stream_accuracy
from kenyon.report._run_figures import _weights as weights
from kenyon.reproduce._comparison import ON_FEATURES, RIVALS
from kenyon.reproduce._configurations import chosen, optimised, single
from kenyon.reproduce._jobs import Job, SearchJob
from kenyon.reproduce._setting import COLOUR, NAMES, Setting
from kenyon.reproduce._wanted import Part, Plot, Results, Runs, Wanted
from kenyon.search import SearchFolder

SIZES = (500, 1000, 2000, 5000, 20_000, 40_000)
"""Hidden units at which Kenyon is run besides the chosen number."""

SHOWN = ("Kenyon", "der++", "online-ewc", "fine-tune")
"""Whose accuracy matrices and curves are drawn."""


def search_trajectory(setting: Setting) -> list[Part]:
    """Figure 2: every evaluation of a search on MNIST as a single task."""
    dataset = setting.dataset("mnist")
    if dataset is None:
        return []
    job = SearchJob(dataset, "single-task", 16 if setting.quick else 200, setting.workers)

    def make(results: Results) -> list[Figure]:
        if not job.started(results.store):
            return []
        found = SearchFolder(results.store / job.name).evaluations()
        points = tuple(
            Point(e.finished, 100 * e.outcome.accuracy, f"evaluation {e.number}", str(e.point["rule"]).upper())
            for e in found
            if e.outcome.accuracy is not None
        )
        others = Counter(e.outcome.status for e in found if e.outcome.accuracy is None)
        left_out = ", ".join(f"{n} {status}" for status, n in others.items()) or "none"
        note = (
            f"{len(found)} evaluations, on held-out training samples where the paper used the test set; {job.command}. "
            f"Without an accuracy: {left_out}."
        )
        return [
            Scatter(
                id="search-trajectory",
                title="Trajectory of a search on MNIST",
                x_label="seconds of searching",
                y_label="accuracy, %",
                points=points,
                source=figure_source("search-trajectory"),
                note=note,
            )
        ]

    return [Plot((job,), make)]


def weight_evolution(setting: Setting) -> list[Part]:
    """Figure 4: mean weights over Split-MNIST, for three configurations."""
    configurations = {
        "transfer w/ INEL": single("mnist", "inel"),
        "Opt w/ Split MNIST": optimised("mnist"),
        "Kenyon, chosen on held-out samples": chosen("mnist", "class-incremental"),
    }
    cells = {
        name: setting.kenyon("mnist", "class-incremental", options)
        for name, options in configurations.items()
        if options
    }

    def make(results: Results) -> list[Figure]:
        stream, source = ("Split-MNIST", "class-incremental"), figure_source("weight-evolution")
        drawn = [weights(stream, group) for group in groups(results, cells)]
        return [replace(figure, source=source) for figure in drawn if figure]

    return [Plot(_jobs(cells.values()), make)]


def memory(setting: Setting) -> list[Part]:
    """Accuracy against bytes of state, of every method and of Kenyon at several sizes; matrices and curves of some."""
    streams = [column.partition("/") for column in paper_table("comparison_extended").columns]
    order = sorted(streams, key=lambda stream: stream[2])  # class-incremental first
    return [_memory(setting, dataset, scenario) for dataset, _, scenario in order]


def _memory(setting: Setting, dataset: str, scenario: str) -> Plot:
    cells: dict[str, Wanted] = {}
    options = chosen(dataset, scenario)
    if options:
        cells["Kenyon"] = setting.kenyon(dataset, scenario, options)
        for size in SIZES if (dataset, scenario) == ("mnist", "class-incremental") else ():
            cells[f"Kenyon, {size:,} units"] = setting.kenyon(dataset, scenario, {**options, "n_hidden": size})
    named = [row.keys["learner"] for row in paper_table("comparison").rows if "learner" in row.keys]
    for learner in (*named, *RIVALS):
        colour = dataset in COLOUR
        if scenario in LEARNERS[learner].scenarios and (not colour or setting.resnet or learner in ON_FEATURES):
            features = colour and learner in ON_FEATURES
            tests = "last" if colour else "all"
            cells[learner] = setting.runs(dataset, scenario, learner, tests=tests, features=features)

    def make(results: Results) -> list[Figure]:
        found = groups(results, cells)
        stream = (f"Split-{NAMES[dataset]}", scenario)
        figures: list[Figure | None] = [scatter(stream, found)] if len(found) > 1 else []
        if dataset == "mnist" and scenario == "class-incremental":
            some = [group for group in found if group.label in SHOWN]
            figures += [stream_accuracy(stream, some) if some else None, *(matrix(stream, group) for group in some)]
        return [figure for figure in figures if figure]

    return Plot(_jobs(cells.values()), make)


def groups(results: Results, cells: Mapping[str, Wanted]) -> list[Group]:
    """The complete runs of some cells, by name."""
    found = []
    for name, cell in cells.items():
        if isinstance(cell, Runs):
            folders = [job.folder(results.store) for job in cell.jobs()]
            complete = [(folder, folder.result()) for folder in folders if folder.complete]
            if complete:
                found.append(Group(cell.config.to_dict(), complete, label=name))
    return found


def _jobs(cells: Iterable[Wanted]) -> tuple[Job, ...]:
    return tuple(job for cell in cells for job in cell.jobs())
