"""A metric from outside the package: importing this file adds it to the table."""

from __future__ import annotations

from kenyon.lab.evaluation import METRICS, FinishedRun, Metric


def worst_task(run: FinishedRun) -> float:
    return float(run.R[-1].min())


METRICS["worst_task"] = Metric("worst_task", "smallest final accuracy of a task", worst_task, unit="%")
