"""Pictures of a search: its trajectory, its configurations in parallel coordinates, and which parameters mattered."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import DataError, require
from kenyon.lab.plots._picture import Draw, save_picture
from kenyon.lab.search import DONE, Evaluation, SearchFolder, Space

COLOURS = {"mse": "tab:blue", "oja": "tab:red", "gen": "tab:green", "inel": "tab:cyan"}
"""The colours of the paper's figure; rules from outside the package are grey."""
REPEATS = 20


def plot_search(folder: SearchFolder, out: Path, kind: str = "png") -> list[Path]:
    """Draw a search with at least one evaluation that succeeded.

    Args:
        folder: the search.
        out: where the pictures go.
        kind: `"png"`, `"svg"` or `"pdf"`.
    """
    space, evaluations = folder.space(), folder.evaluations()
    done = [e for e in evaluations if e.outcome.status == DONE]
    if not done:
        raise DataError(f"{folder.path} has no evaluation that succeeded: there is nothing to draw")
    drawings: dict[str, Draw] = {
        "trajectory": lambda axes: draw_trajectory(axes, evaluations),
        "parallel": lambda axes: draw_parallel(axes, done, space),
        "importance": lambda axes: draw_importance(axes, importances(evaluations, space)),
    }
    return [save_picture(draw, out / f"{name}.{kind}", (8, 4.6)) for name, draw in drawings.items()]


def draw_trajectory(axes: Any, evaluations: Sequence[Evaluation]) -> None:
    """Accuracy of every evaluation over the time of the search, by rule; failed ones are crosses at the bottom."""
    for rule in sorted({e.choice for e in evaluations}):
        own = [e for e in evaluations if e.choice == rule]
        done = [e for e in own if e.outcome.status == DONE]
        colour = COLOURS.get(rule, "0.5")
        axes.plot([e.finished for e in done], [100 * e.outcome.score for e in done], "o", ms=4, c=colour, label=rule)
        lost = [e.finished for e in own if e.outcome.status != DONE]
        axes.plot(lost, [0.0] * len(lost), "x", ms=4, c=colour)
    times = [e.finished for e in evaluations]
    axes.plot(times, 100 * np.maximum.accumulate([e.outcome.score for e in evaluations]), c="0.6", lw=1, zorder=0)
    axes.set_xlabel("seconds of searching")
    axes.set_ylabel(f"accuracy, % ({_measured_on(evaluations)})")
    axes.legend(title=next(iter(evaluations[0].point)), loc="lower right")


def draw_parallel(axes: Any, evaluations: Sequence[Evaluation], space: Space) -> None:
    """One line per configuration across the parameters, the best ones on top; a gap where a parameter is inactive."""
    names = [name for name in space.names if not name.endswith("_on")]
    heights = {name: _heights(name, evaluations, space) for name in names}
    best = max(e.outcome.score for e in evaluations)
    places = np.arange(len(names) + 1)
    order = sorted(range(len(evaluations)), key=lambda i: evaluations[i].outcome.score)
    for i in order:
        evaluation = evaluations[i]
        line = [heights[name][i] for name in names] + [evaluation.outcome.score / best if best else 0.0]
        strong = evaluation.outcome.score >= 0.98 * best
        colour = COLOURS.get(evaluation.choice, "0.5")
        axes.plot(
            places, line, "-", marker=".", ms=3, c=colour, lw=1.2 if strong else 0.5, alpha=0.9 if strong else 0.2
        )
    axes.set_xticks(places, [_ends(name, space) for name in names] + [f"accuracy\n0 .. {100 * best:.1f} %"], fontsize=6)
    axes.tick_params(axis="x", rotation=60)
    axes.set_yticks([])


def _heights(name: str, evaluations: Sequence[Evaluation], space: Space) -> list[float]:
    """Values between 0 and 1 on the parameter's own scale, NaN where inactive."""
    parameter, heights = space[name], []
    for evaluation in evaluations:
        value = evaluation.point[name]
        if isinstance(value, float) and math.isnan(value):
            heights.append(math.nan)
        elif parameter.values:
            heights.append(parameter.values.index(value) / max(1, len(parameter.values) - 1))
        else:
            scale = math.log if parameter.log else float
            low, high = scale(parameter.low), scale(parameter.high)
            heights.append((scale(value) - low) / (high - low))
    return heights


def _ends(name: str, space: Space) -> str:
    parameter = space[name]
    if parameter.values:
        return f"{name}\n{parameter.values[0]} .. {parameter.values[-1]}"
    return f"{name}\n{parameter.low:g} .. {parameter.high:g}" + (" (log)" if parameter.log else "")


def importances(evaluations: Sequence[Evaluation], space: Space) -> dict[str, tuple[float, float]]:
    """How much each parameter explains: permutation importance of a random forest, mean and deviation.

    The forest is fitted to all evaluations (those that failed count as 0), with inactive parameters as missing values.
    The importance of a parameter is the loss in the forest's R^2 when its column is shuffled.
    """
    ensemble = require("sklearn.ensemble", "search", "the importance of parameters")
    inspection = require("sklearn.inspection", "search", "the importance of parameters")
    X, y = _columns(evaluations, space), np.array([e.outcome.score for e in evaluations])
    forest = ensemble.RandomForestRegressor(200, random_state=0).fit(X, y)
    found = inspection.permutation_importance(forest, X, y, n_repeats=REPEATS, random_state=0)
    pairs = zip(found.importances_mean.tolist(), found.importances_std.tolist(), strict=True)
    return dict(zip(space.names, pairs, strict=True))


def _columns(evaluations: Sequence[Evaluation], space: Space) -> NDArray[np.float64]:
    columns = [_heights(name, evaluations, space) for name in space.names]
    return np.array(columns, np.float64).T


def draw_importance(axes: Any, found: dict[str, tuple[float, float]]) -> None:
    """Bars, the most important parameter on top."""
    names = sorted(found, key=lambda name: found[name][0])
    axes.barh(names, [found[name][0] for name in names], xerr=[found[name][1] for name in names], color="0.6")
    axes.set_xlabel("loss in R² when shuffled")
    axes.tick_params(axis="y", labelsize=7)


def _measured_on(evaluations: Sequence[Evaluation]) -> str:
    return "test set" if evaluations[0].protocol == "paper" else "held out"
