"""Figures 2 and 4: the trajectory of a search, and how weights evolve."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from kenyon.lab.figures import Figure, Point, Scatter
from kenyon.lab.report import weights_figure
from kenyon.lab.search import Evaluation, SearchFolder
from kenyon.paper.reproduce._jobs import SearchJob
from kenyon.paper.reproduce._setting import Setting
from kenyon.paper.reproduce._wanted import Plot, Results, Section, groups, jobs_of
from kenyon.paper.reproduce.experiments._configurations import chosen, optimised, single
from kenyon.paper.tables import figure_source

LARGE_KAPPA = 10.0
"""The paper sets kappa "to a large value" and does not say which; this one outweighs any difference of scores, which
the surrogate sees as ranks from 0 to 1."""


def search_trajectory(setting: Setting) -> list[Section]:
    """Figure 2: every evaluation of a search on MNIST as a single task, in the paper's way and in ours."""
    dataset = setting.dataset("mnist")
    if dataset is None:
        return []
    evals = 16 if setting.quick else 200
    ours = SearchJob(dataset, "single-task", evals, setting.at_a_time, None, setting.engine, setting.address)
    papers = replace(ours, kappa=LARGE_KAPPA, one_forest=True)
    return [
        _trajectory(papers, "search-trajectory-one-forest", f"one forest and kappa {LARGE_KAPPA:g}, as in the paper"),
        _trajectory(ours, "search-trajectory", "a forest for each rule as well, kappa 2.5"),
    ]


def _trajectory(job: SearchJob, own: str, how: str) -> Section:
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
            f"Evaluations of each rule: {_shares(found)}. Without an accuracy: {left_out}."
        )
        return [
            Scatter(
                id=own,
                title=f"Trajectory of a search on MNIST: {how}",
                x_label="seconds of searching",
                y_label="accuracy, %",
                points=points,
                source=figure_source("search-trajectory"),
                note=note,
            )
        ]

    return Plot((job,), make)


def _shares(found: Sequence[Evaluation]) -> str:
    counts = Counter(str(e.point["rule"]).upper() for e in found)
    return ", ".join(f"{n} {rule}" for rule, n in counts.most_common())


def weight_evolution(setting: Setting) -> list[Section]:
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
        drawn = [weights_figure(stream, group) for group in groups(results, cells)]
        return [replace(figure, source=source) for figure in drawn if figure]

    return [Plot(jobs_of(cells.values()), make)]
