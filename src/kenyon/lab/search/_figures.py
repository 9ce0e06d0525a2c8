"""Figures of a search: its trajectory, its configurations in parallel coordinates, and which parameters mattered."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kenyon.errors import DataError, require
from kenyon.lab.figures import Bars, Figure, Lines, Point, Scatter, Series
from kenyon.lab.search._log import Evaluation, SearchFolder
from kenyon.lab.search._objective import DONE
from kenyon.lab.search._space import Parameter, Space

REPEATS = 20
STRONG = 0.98
"""Configurations within this share of the best are drawn in full, the others faintly."""


def search_figures(folder: SearchFolder) -> dict[str, Figure]:
    """The figures of a search with at least one evaluation that succeeded, by name."""
    space, evaluations = folder.space(), folder.evaluations()
    done = [e for e in evaluations if e.outcome.status == DONE]
    if not done:
        raise DataError(f"{folder.path} has no evaluation that succeeded: there is nothing to draw")
    return {
        "trajectory": trajectory(evaluations),
        "parallel": parallel(done, space),
        "importance": importance(evaluations, space),
    }


def trajectory(evaluations: Sequence[Evaluation]) -> Scatter:
    """Accuracy of every evaluation over the time of the search, by rule; the line is the best so far."""
    measured = "test set" if evaluations[0].protocol == "paper" else "held out"
    points = []
    for e in sorted(evaluations, key=lambda e: e.choice):
        group = e.choice if e.outcome.status == DONE else f"{e.choice}, {e.outcome.status}"
        points.append(Point(e.finished, 100 * e.outcome.score, f"evaluation {e.number}", group, text=e.outcome.reason))
    return Scatter(
        id="trajectory",
        title="Accuracy of the evaluations over time",
        x_label="seconds of searching",
        y_label=f"accuracy, % ({measured})",
        points=tuple(points),
        frontier=True,
        note="An evaluation without a score is drawn at 0. The line joins the best so far.",
    )


def parallel(evaluations: Sequence[Evaluation], space: Space) -> Lines:
    """One line per configuration across its parameters, the best last; a gap where a parameter is inactive."""
    names = [name for name in space.names if not name.endswith("_on")]
    best = max(e.outcome.score for e in evaluations)
    series = []
    for e in sorted(evaluations, key=lambda e: e.outcome.score):
        heights = [_height(space[name], e.point[name]) for name in names]
        line = (*heights, e.outcome.score / best if best else 0.0)
        faint = e.outcome.score < STRONG * best
        x = tuple(float(place) for place in range(len(line)))
        series.append(Series(f"evaluation {e.number}", x, line, group=e.choice, faint=faint))
    ends = (*(f"{name} ({_ends(space[name])})" for name in names), f"accuracy (0 to {100 * best:.1f} %)")
    return Lines(
        id="parallel",
        title="Configurations by their parameters",
        x_label="parameter",
        y_label="value between its bounds",
        series=tuple(series),
        x_names=ends,
        note="A line is a configuration. Parameters from the left: " + ", ".join(ends) + ".",
    )


def importance(evaluations: Sequence[Evaluation], space: Space) -> Bars:
    """How much each parameter explains: permutation importance of a random forest, mean and deviation.

    The forest is fitted to all evaluations (those that failed count as 0), with inactive parameters as missing values.
    The importance of a parameter is the loss in the forest's R^2 when its column is shuffled.
    """
    ensemble = require("sklearn.ensemble", "search", "the importance of parameters")
    inspection = require("sklearn.inspection", "search", "the importance of parameters")
    heights = [[_height(parameter, e.point[parameter.name]) for parameter in space.parameters] for e in evaluations]
    X, y = np.array(heights, np.float64), np.array([e.outcome.score for e in evaluations])
    forest = ensemble.RandomForestRegressor(200, random_state=0).fit(X, y)
    found = inspection.permutation_importance(forest, X, y, n_repeats=REPEATS, random_state=0)
    order = np.argsort(-found.importances_mean, kind="stable").tolist()
    return Bars(
        id="importance",
        title="Which parameters mattered",
        x_label="loss in R² when shuffled",
        names=tuple(space.names[i] for i in order),
        values=tuple(float(found.importances_mean[i]) for i in order),
        errors=tuple(float(found.importances_std[i]) for i in order),
    )


def _height(parameter: Parameter, value: object) -> float | None:
    """A value between 0 and 1 on the parameter's own scale; None where it is inactive."""
    if isinstance(value, float) and math.isnan(value):
        return None
    if parameter.values:
        return parameter.values.index(value) / max(1, len(parameter.values) - 1)
    assert isinstance(value, int | float)
    scale = math.log if parameter.log else float
    low, high = scale(parameter.low), scale(parameter.high)
    return (scale(value) - low) / (high - low)


def _ends(parameter: Parameter) -> str:
    if parameter.values:
        return f"{parameter.values[0]} to {parameter.values[-1]}"
    return f"{parameter.low:g} to {parameter.high:g}" + (", log" if parameter.log else "")
