"""Pictures that compare configurations, in the size and type of a paper with two columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import DataError, unknown
from kenyon.lab.evaluation import RunGroup, by_stream
from kenyon.lab.plots._picture import check_kind, in_bytes, save_picture
from kenyon.lab.report import accuracy_curve
from kenyon.utils.wording import slug

WIDTHS = {"column": 3.35, "page": 6.9}
"""Inches: one column of a two-column page, or both."""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d31")
"""Can be told apart by the colour-blind (Okabe & Ito), and by brightness."""
MARKERS, LINES = "os^Dv*PX", ("-", "--", ":", "-.")
NAMED = 8
"""Up to so many configurations have a name of their own in the legend; beyond that, learners have one."""
CURVE = 50  # points of the curve of a single task
STYLE = {
    "font.size": 8, "axes.labelsize": 8, "axes.titlesize": 8, "legend.fontsize": 7, "xtick.labelsize": 7,
    "ytick.labelsize": 7, "lines.linewidth": 1.1, "lines.markersize": 4, "axes.linewidth": 0.6,
    "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "pdf.fonttype": 42,
}  # fmt: skip


def plot_comparison(groups: Sequence[RunGroup], folder: Path, kind: str = "pdf", width: str = "column") -> list[Path]:
    """Draw the configurations of each stream: accuracy over the stream, accuracy against bytes, and forgetting.

    Args:
        groups: the configurations; those without a complete run are left out.
        folder: where the pictures go.
        kind: `"png"`, `"svg"` or `"pdf"`.
        width: `"column"` for one column of a page with two, `"page"` for both.

    Example:
        >>> from pathlib import Path
        >>> from kenyon.lab.evaluation import RunConfig, Store, group_runs, run_all
        >>> _ = run_all([RunConfig("digits", name) for name in ("ncm", "slda")], seeds=[0], store="runs")
        >>> groups = group_runs(Store(Path("runs")).runs()).groups
        >>> [path.name.split("-")[-1] for path in plot_comparison(groups, Path("figures"))]
        ['accuracy.pdf', 'bytes.pdf', 'forgetting.pdf']
    """
    check_kind(kind)
    if width not in WIDTHS:
        raise unknown("width of a picture", width, WIDTHS)
    shown = [group for group in groups if group.complete and not group.outdated]
    if not shown:
        raise DataError("there is no complete run to draw")
    pictures = []
    for stream, members in by_stream(shown).items():
        looks = _looks(members)
        place = slug(*stream)
        drawings: dict[str, tuple[Callable[..., None], float]] = {"accuracy": (draw_accuracy, 0.75)}
        drawings["bytes"] = (draw_bytes, 0.75)
        if len(members[0].report.accuracy_matrix) > 1:
            drawings["forgetting"] = (draw_forgetting, 0.25 + 0.06 * len(members))
        for name, (draw, tall) in drawings.items():
            size = (WIDTHS[width], min(9.0, WIDTHS["column"] * tall + 0.12 * _legend_rows(members, name)))
            path = folder / f"{place}-{name}.{kind}"
            pictures.append(save_picture(partial(draw, groups=members, looks=looks), path, size, STYLE))
    return pictures


class _Look:
    """How a configuration is drawn, and under which name; the name is empty where its learner's stands for it."""

    def __init__(self, group: RunGroup, learner: int, place: int, named: bool) -> None:
        self.colour, self.marker = COLOURS[learner % len(COLOURS)], MARKERS[learner % len(MARKERS)]
        self.line = LINES[place % len(LINES)]
        self.name = group.label if named else (str(group.config["learner"]) if place == 0 else "")


def _looks(groups: Sequence[RunGroup]) -> list[_Look]:
    learners = list(dict.fromkeys(str(group.config["learner"]) for group in groups))
    named, seen = len(groups) <= NAMED, dict.fromkeys(learners, 0)
    looks: list[_Look] = []
    for group in groups:
        learner = str(group.config["learner"])
        # A configuration with a name has a colour of its own; beyond that, colours stand for learners.
        number = len(looks) if named else learners.index(learner)
        looks.append(_Look(group, number, 0 if named else seen[learner], named))
        seen[learner] += 1
    return looks


def _legend_rows(groups: Sequence[RunGroup], name: str) -> int:
    return 0 if name == "forgetting" else len({look.name for look in _looks(groups) if look.name})


def draw_accuracy(axes: Any, groups: Sequence[RunGroup], looks: Sequence[_Look]) -> None:
    """Mean accuracy on the tasks so far after each task, or before learning over a single task, and its deviation."""
    for group, look in zip(groups, looks, strict=True):
        x, curves = _curves(group)
        mean = 100 * np.nanmean(curves, axis=0)
        marker = look.marker if len(x) <= 20 else None
        axes.plot(x, mean, look.line, color=look.colour, marker=marker, label=look.name or None)
        if len(curves) > 1:
            spread = 100 * np.nanstd(curves, axis=0, ddof=1)
            axes.fill_between(x, mean - spread, mean + spread, color=look.colour, alpha=0.15, lw=0)
    tasks = len(groups[0].report.accuracy_matrix) > 1
    if tasks:
        axes.set_xticks(range(1, len(groups[0].report.accuracy_matrix) + 1))
    axes.set_xlabel("tasks learned" if tasks else "samples")
    axes.set_ylabel("accuracy on tasks so far, %" if tasks else "accuracy before learning, %")
    _legend(axes)


def _curves(group: RunGroup) -> tuple[NDArray, NDArray[np.float64]]:
    """A row for each seed."""
    if len(group.report.accuracy_matrix) > 1:
        rows = []
        for _, result in group.complete:
            R = np.array(result.accuracy_matrix, np.float64)
            rows.append([R[i, : i + 1].mean() for i in range(len(R))])
        return np.arange(1, len(rows[0]) + 1), np.array(rows)
    found = [(folder.array("prequential.npy"), result) for folder, result in group.complete]
    curves = [accuracy_curve(outcomes, max(1, len(outcomes) // CURVE)) for outcomes, _ in found if outcomes is not None]
    if not curves:
        return np.array([0]), np.array([[result.metrics["accuracy"]] for _, result in found], np.float64)
    shortest = min(len(ends) for ends, _ in curves)
    return curves[0][0][:shortest], np.array([values[:shortest] for _, values in curves])


def draw_bytes(axes: Any, groups: Sequence[RunGroup], looks: Sequence[_Look]) -> None:
    """Final accuracy against bytes of state, with the deviation over the seeds."""
    from matplotlib.ticker import LogLocator

    for group, look in zip(groups, looks, strict=True):
        accuracy, size = group.report.summary("accuracy"), group.report.summary("state_bytes").mean
        if accuracy.mean is None or not size:
            continue
        error = None if accuracy.std is None else 100 * accuracy.std
        style = {"color": look.colour, "fmt": look.marker, "elinewidth": 0.7, "capsize": 1.5}
        axes.errorbar(size, 100 * accuracy.mean, error, label=look.name or None, **style)
    axes.set_xscale("log", subs=[])
    low, high = axes.get_xlim()
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 200 * low else (1.0,)))
    axes.xaxis.set_major_formatter(lambda value, _: in_bytes(value))
    axes.margins(x=0.12)
    axes.set_xlabel("state kept")
    axes.set_ylabel("final accuracy, %")
    axes.grid(alpha=0.25, lw=0.4)
    _legend(axes)


def draw_forgetting(axes: Any, groups: Sequence[RunGroup], looks: Sequence[_Look]) -> None:
    """Bars, the configuration that forgets least on top."""
    found = [(group.report.summary("forgetting"), group, look) for group, look in zip(groups, looks, strict=True)]
    found = sorted((f for f in found if f[0].mean is not None), key=lambda f: -(f[0].mean or 0.0))
    for place, (summary, _, look) in enumerate(found):
        error = None if summary.std is None else 100 * summary.std
        axes.barh(place, 100 * (summary.mean or 0.0), 0.7, xerr=error, color=look.colour, error_kw={"elinewidth": 0.7})
    axes.set_yticks(range(len(found)), [group.label for _, group, _ in found])
    axes.axvline(0, color="0.3", lw=0.6)
    axes.set_xlabel("forgetting, %")


def _legend(axes: Any) -> None:
    """Below the picture, so that it covers nothing."""
    handles, names = axes.get_legend_handles_labels()
    if handles:
        long = max(map(len, names)) > 18
        axes.figure.legend(handles, names, loc="outside lower center", ncols=1 if long else min(3, len(names)))
