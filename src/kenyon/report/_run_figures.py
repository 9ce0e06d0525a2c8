"""Figures made from the runs of a store alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from kenyon.learners import LEARNERS
from kenyon.report._cells import Table
from kenyon.report._figures import Figure, Heatmap, Lines, Point, Scatter
from kenyon.report._gather import Group
from kenyon.report._plots import record_samples
from kenyon.report._thin import accuracy_series, numbers, read_array, weight_series

OURS = "Kenyon"
Part = TypeVar("Part", Table, Figure)


def figures_of(streams: dict[tuple[str, str], list[Group]]) -> list[Figure]:
    """Accuracy against bytes and over the stream, accuracy matrices and weights, of every stream."""
    figures: list[Figure] = []
    drawn = {stream: [g for g in groups if g.complete] for stream, groups in streams.items()}
    for draw in (bytes_scatter, stream_accuracy):
        figures += [figure for stream, groups in drawn.items() if groups and (figure := draw(stream, groups))]
    for stream, groups in drawn.items():
        figures += [heatmap for group in groups if (heatmap := matrix(stream, group))]
    for stream, groups in drawn.items():
        figures += [lines for group in groups if (lines := weights(stream, group))]
    return figures


def bytes_scatter(stream: tuple[str, str], groups: Sequence[Group]) -> Scatter | None:
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
    """What it keeps besides its network."""
    if learner == "kenyon":
        return OURS
    memory = LEARNERS[learner].memory if learner in LEARNERS else "unknown"
    return "keeps no samples" if memory == "none" else f"keeps: {memory}"


def stream_accuracy(stream: tuple[str, str], groups: Sequence[Group]) -> Lines | None:
    found = []
    for group in groups:
        outcomes = [read_array(folder, "prequential.npy") for folder, _ in group.complete]
        found.append(accuracy_series(group.label, [run for run in outcomes if run is not None]))
    series = tuple(s for s in found if s is not None)
    if not series:
        return None
    title, note = f"Accuracy over the stream: {', '.join(stream)}", "Each sample is predicted before it is learned."
    names = tuple(name for group in groups for name in group.names)
    marks = _marks(groups[0])
    own, y = slug("stream", *stream), "accuracy before learning, %"
    return Lines(own, title, "samples", y, series, note=note, marks=marks, runs=names)


def _marks(group: Group) -> tuple[float, ...]:
    return tuple(float(end) for end in np.cumsum(group.complete[0][1].n_train)[:-1])


def matrix(stream: tuple[str, str], group: Group) -> Heatmap | None:
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


def weights(stream: tuple[str, str], group: Group) -> Lines | None:
    folder, result = group.complete[0]
    means = read_array(folder, "weights.npy")
    if means is None or not len(means):
        return None
    samples = record_samples(result.n_train, result.weights_stride)[: len(means)]
    title = f"Weight evolution: {', '.join(stream)}, {group.label}"
    note = f"Mean incoming weight of each class's neuron, seed {result.seed}. Thin lines mark where a task ends."
    own, series = slug("weights", *stream, group.label), weight_series(means, samples)
    marks, runs = _marks(group), (folder.path.name,)
    return Lines(own, title, "samples", "mean incoming weight", series, note=note, marks=marks, runs=runs)


def slug(*words: str) -> str:
    """Words as an anchor."""
    return re.sub(r"[^a-z0-9]+", "-", " ".join(words).lower()).strip("-") or "part"


def unique(parts: Iterable[Part], taken: Iterable[str] = ()) -> tuple[Part, ...]:
    """The same with different anchors: names that differ in their signs alone have the same slug."""
    seen, kept = set(taken), []
    for part in parts:
        own, n = part.id, 2
        while own in seen:
            own, n = f"{part.id}-{n}", n + 1
        seen.add(own)
        kept.append(replace(part, id=own))
    return tuple(kept)
