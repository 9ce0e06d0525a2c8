"""Figures made from the runs of a store: curves, thinned to what a page can show, and matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kenyon.lab.evaluation import WITHHELD, RunGroup
from kenyon.lab.figures import Bars, Figure, Heatmap, Lines, Point, Scatter, Series
from kenyon.learners import LEARNERS
from kenyon.utils.wording import slug

OURS = "Kenyon"
POINTS = 200
"""The most points that a curve has."""
WINDOW = 40
"""The fewest samples that an accuracy is taken over: fewer would only show noise."""
SIGNIFICANT = 5
PREQUENTIAL = (
    "Each sample is predicted just before it is learned. The line says how well a learner follows the classes of the "
    "moment, not what it remembers: it may stay high in a learner that forgets all others. What is remembered is the "
    "accuracy after each task."
)


def figures_of(streams: dict[tuple[str, str], list[RunGroup]]) -> list[Figure]:
    """For every stream: accuracy against bytes and over the stream, accuracy matrices, and weights."""
    figures: list[Figure] = []
    drawn = {stream: [g for g in groups if g.complete and not g.outdated] for stream, groups in streams.items()}
    for draw in (bytes_figure, stream_figure):
        figures += [figure for stream, groups in drawn.items() if groups and (figure := draw(stream, groups))]
    for stream, groups in drawn.items():
        figures += [heatmap for group in groups if (heatmap := matrix_figure(stream, group))]
    for stream, groups in drawn.items():
        figures += [lines for group in groups if (lines := weights_figure(stream, group))]
    return figures


def bytes_figure(stream: tuple[str, str], groups: Sequence[RunGroup]) -> Scatter | None:
    """Accuracy against bytes of state, one point per configuration; None where there is no point."""
    points = []
    for group in groups:
        accuracy, size = group.report.summary("accuracy"), group.report.summary("state_bytes").mean
        if accuracy.mean is None or not size:
            continue
        error = None if accuracy.std is None else 100 * accuracy.std
        kind = _kind(str(group.config["learner"]))
        points.append(Point(size, 100 * accuracy.mean, group.label, kind, group.names[0], "", error))
    points.sort(key=lambda point: point.group != OURS)  # ours has the first colour
    title = f"Accuracy against bytes of state: {', '.join(stream)}"
    note = "Up and to the left is better: more accuracy from less memory. The line joins what nothing else beats."
    if not points:
        return None
    return Scatter(
        id=slug("bytes", *stream),
        title=title,
        x_label="state",
        y_label="accuracy, %",
        points=tuple(points),
        x_log=True,
        x_unit="B",
        frontier=True,
        note=note,
    )


def _kind(learner: str) -> str:
    """What a learner keeps besides its network."""
    if learner == "kenyon":
        return OURS
    memory = LEARNERS[learner].memory if learner in LEARNERS else "unknown"
    return "keeps no samples" if memory == "none" else f"keeps: {memory}"


def stream_figure(stream: tuple[str, str], groups: Sequence[RunGroup]) -> Lines | None:
    """Accuracy before learning over the stream, one line per configuration; None where there is no line."""
    found = []
    for group in groups:
        outcomes = [folder.array("prequential.npy") for folder, _ in group.complete]
        one = accuracy_series(group.label, [run for run in outcomes if run is not None])
        found += [replace(one, group=str(group.config["learner"]))] if one is not None else []
    series = tuple(found)
    if not series:
        return None
    title, note = f"Accuracy over the stream: {', '.join(stream)}", PREQUENTIAL
    names = tuple(name for group in groups for name in group.names)
    marks = _marks(groups[0])
    own, y = slug("stream", *stream), "accuracy before learning, %"
    return Lines(own, title, "samples", y, series, note=note, marks=marks, runs=names)


def tasks_figure(stream: tuple[str, str], groups: Sequence[RunGroup]) -> Lines | None:
    """Mean accuracy on the tasks so far, after each task, one line per configuration; None where it was not tested."""
    series = []
    for group in groups:
        matrices = [np.array(result.accuracy_matrix, np.float64) for _, result in group.complete]
        curves = 100 * np.array([[R[i, : i + 1].mean() for i in range(len(R))] for R in matrices])
        if not np.isfinite(curves).any():
            continue
        mean, x = curves.mean(axis=0), tuple(float(i + 1) for i in range(curves.shape[1]))
        spread = curves.std(axis=0, ddof=1) if len(curves) > 1 else None
        band = None if spread is None else (numbers(mean - spread), numbers(mean + spread))
        series.append(Series(group.label, x, numbers(mean), band, str(group.config["learner"])))
    if not series:
        return None
    title, names = f"Accuracy after each task: {', '.join(stream)}", tuple(n for group in groups for n in group.names)
    y = "accuracy on the tasks so far, %"
    return Lines(slug("tasks", *stream), title, "tasks learned", y, tuple(series), runs=names)


def forgetting_figure(stream: tuple[str, str], groups: Sequence[RunGroup]) -> Bars | None:
    """Forgetting of each configuration, the least on top; None where it is not defined."""
    found = [(group.report.summary("forgetting"), group) for group in groups]
    known = sorted(
        ((100 * summary.mean, summary.std, group) for summary, group in found if summary.mean is not None),
        key=lambda row: row[0],
    )
    if not known:
        return None
    return Bars(
        id=slug("forgetting", *stream),
        title=f"Forgetting: {', '.join(stream)}",
        x_label="forgetting, %",
        names=tuple(group.label for _, _, group in known),
        values=tuple(value for value, _, _ in known),
        errors=tuple(None if std is None else 100 * std for _, std, _ in known),
        unit="%",
        runs=tuple(name for _, _, group in known for name in group.names),
    )


def _marks(group: RunGroup) -> tuple[float, ...]:
    return tuple(float(end) for end in np.cumsum(group.complete[0][1].n_train)[:-1])


def matrix_figure(stream: tuple[str, str], group: RunGroup) -> Heatmap | None:
    """Accuracy on every task after every task; None for a stream of one task."""
    tasks = group.complete[0][1].tasks
    if len(tasks) < 2:
        return None
    values = tuple(
        numbers(np.array([np.nan if v is None else 100 * v for v in row])) for row in group.report.accuracy_matrix
    )
    ordinals = tuple(str(i + 1) for i in range(len(tasks)))
    return Heatmap(
        id=slug("matrix", *stream, group.label),
        title=f"Accuracy matrix: {', '.join(stream)}",
        rows=ordinals,
        columns=ordinals,
        values=values,
        unit="%",
        series=group.label,
        row_label="after learning task",
        column_label="tested on task",
        runs=group.names,
    )


def weights_figure(stream: tuple[str, str], group: RunGroup) -> Lines | None:
    """Mean weights of the first seed over the stream; None where the run recorded none."""
    folder, result = group.complete[0]
    means = folder.array("weights.npy")
    if means is None or not len(means):
        return None
    samples = record_samples(result.n_train, result.weights_stride)[: len(means)]
    title = f"Weight evolution: {', '.join(stream)}, {group.label}"
    note = f"Mean incoming weight of each class's neuron, seed {result.seed}. Thin lines mark where a task ends."
    own, series = slug("weights", *stream, group.label), weight_series(means, samples)
    marks, runs = _marks(group), (folder.path.name,)
    return Lines(own, title, "samples", "mean incoming weight", series, note=note, marks=marks, runs=runs)


def accuracy_series(name: str, outcomes: Sequence[NDArray[np.uint8]]) -> Series | None:
    """Accuracy before learning, in percent, in windows: the mean over runs, with the standard deviation as a band.

    Only runs as long as the first one count; None where there is none, or none was predicted before learning.
    """
    same = [run for run in outcomes if len(outcomes[0]) == len(run) > 0]
    if not same or all((run == WITHHELD).all() for run in same):
        return None
    width = max(WINDOW, len(same[0]) // POINTS)
    ends = accuracy_curve(same[0], width)[0]
    curves = 100 * np.array([accuracy_curve(run, width)[1] for run in same])
    mean = curves.mean(axis=0)
    band = None
    if len(curves) > 1:
        spread = curves.std(axis=0, ddof=1)
        band = (numbers(np.maximum(0, mean - spread)), numbers(np.minimum(100, mean + spread)))
    return Series(name, tuple(ends.tolist()), numbers(mean), band)


def weight_series(means: NDArray[np.float32], samples: NDArray[np.int64]) -> tuple[Series, ...]:
    """Mean incoming weight of each class's neuron over the stream."""
    rows = np.unique(np.linspace(0, len(means) - 1, min(len(means), POINTS)).round().astype(int))
    x = tuple(samples[rows].tolist())
    return tuple(Series(f"class {j}", x, numbers(means[rows, j])) for j in range(means.shape[1]))


def numbers(values: NDArray) -> tuple[float | None, ...]:
    """Plain numbers rounded to a few digits; None for a value that is not finite."""
    return tuple(float(f"{v:.{SIGNIFICANT}g}") if np.isfinite(v) else None for v in values.tolist())


def accuracy_curve(outcomes: NDArray[np.uint8], width: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Share of right answers in windows of `width` samples, at the samples where the windows end.

    Samples without a label are left out; a window with no label at all is NaN.

    Example:
        >>> import numpy as np
        >>> ends, shares = accuracy_curve(np.array([0, 1, 1, 1], np.uint8), width=2)
        >>> ends.tolist(), shares.tolist()
        ([2, 4], [0.5, 1.0])
    """
    ends = np.append(np.arange(width, len(outcomes), width), len(outcomes))
    labelled = np.concatenate([[0], np.cumsum(outcomes != WITHHELD)])
    right = np.concatenate([[0], np.cumsum(outcomes == 1)])
    starts = np.concatenate([[0], ends[:-1]])
    n = labelled[ends] - labelled[starts]
    share = np.full(len(ends), np.nan)
    np.divide(right[ends] - right[starts], n, out=share, where=n > 0)
    return ends, share


def record_samples(n_train: tuple[int, ...], stride: int) -> NDArray[np.int64]:
    """The sample of the stream after which each row of `weights.npy` was taken.

    Example:
        >>> record_samples((100, 50), stride=40).tolist()
        [40, 80, 140]
    """
    starts = np.concatenate([[0], np.cumsum(n_train)[:-1]])
    return np.concatenate([start + np.arange(stride, n + 1, stride) for start, n in zip(starts, n_train, strict=True)])
