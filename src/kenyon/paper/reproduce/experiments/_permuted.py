"""Permuted MNIST: ten tasks, each with its own fixed permutation of the pixels. The paper has no such table."""

from __future__ import annotations

from dataclasses import replace

from kenyon.learners import LEARNERS
from kenyon.paper.reproduce._setting import Setting
from kenyon.paper.reproduce._wanted import Gap, Line, Runs, Section, Sheet, Wanted
from kenyon.paper.reproduce.experiments._configurations import chosen
from kenyon.paper.reproduce.experiments._methods import methods

PER_TASK = 1000
"""Samples of a task, as in Lopez-Paz and Ranzato, "Gradient episodic memory for continual learning", 2017."""

LEFT_OUT = ("cn-dpm", "iid-offline")
"""Learners of any scenario that are left out: minutes for each permutation's experts; and no stream at all."""

NOTE = (
    f"Ten permutations, {PER_TASK:,} samples of each, one pass, all ten classes in every task and one output for all; "
    "accuracy over all ten at the end. Baselines have an MLP 400-400, "
    "batches of 10, a buffer of 500 where there is one, and the values that were chosen for them on class-incremental "
    "Split-MNIST; Kenyon has the configuration that was searched for MNIST as a single task. Nothing was tuned on this "
    "stream. A mean without a deviation is one seed. The paper has no such table."
)


def permuted(setting: Setting) -> list[Section]:
    """One table."""
    cells: dict[str, Wanted] = {
        label: setting.runs("mnist", "permuted", learner, tests="last", max_per_task=PER_TASK)
        for learner, label in methods().items()
        if "permuted" in LEARNERS[learner].scenarios and learner not in LEFT_OUT
    }
    options = chosen("mnist", "single-task")
    cells["Kenyon"] = (
        setting.runs("mnist", "permuted", options=options, tests="last", max_per_task=PER_TASK)
        if options
        else Gap("no configuration was chosen for it yet")
    )
    lines = tuple(Line(label, _metrics(cell), "Kenyon" if label == "Kenyon" else None) for label, cell in cells.items())
    return [Sheet("permuted-mnist", "Permuted MNIST", ("Accuracy", "State"), lines, note=NOTE)]


def _metrics(cell: Wanted) -> tuple[Wanted, ...]:
    if not isinstance(cell, Runs):
        return cell, cell
    return cell, replace(cell, metric="state_bytes", unit="MB", better="lower")
