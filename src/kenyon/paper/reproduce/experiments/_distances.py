"""Tables 5 and 6: effective dimension of the data sets, and distances between the centroids of their classes."""

from __future__ import annotations

from pathlib import Path

from kenyon.lab.tables import Cell, Result, Value
from kenyon.paper.reproduce._jobs import MeasureJob
from kenyon.paper.reproduce._setting import COLOUR, NAMES, Setting
from kenyon.paper.reproduce._wanted import EMPTY, Computed, Gap, Line, Section, Sheet, Wanted
from kenyon.paper.tables import paper_table
from kenyon.paper.transfer import centroid_distances

COMMAND = "kenyon reproduce distances"


def measure(setting: Setting, dataset: str, features: bool = False) -> MeasureJob | None:
    """The job that measures a data set; None where the data set or the weights are missing."""
    opened = setting.dataset(dataset)
    if opened is None or opened == "digits" or (features and setting.no_weights(setting.backbone)):
        return None
    return MeasureJob(opened, setting.backbone if features else None)


def distances(setting: Setting) -> list[Section]:
    """Tables 5 and 6."""
    return [_dimensions(setting), _centroids(setting)]


def _dimensions(setting: Setting) -> Sheet:
    table = paper_table("effective_dimension")
    row = table.rows[0]

    def cell(dataset: str, paper: tuple[float, ...] | None, features: bool) -> Wanted:
        value = None if paper is None else Value(paper[0])
        job = measure(setting, dataset, features)
        if job is None:
            reason = setting.no_weights(setting.backbone) if features and dataset in setting.present else None
            return Gap(reason or setting.absent(dataset), COMMAND, value)
        stands = f"{setting.backbone} features; the paper does not say of what" if features else None

        def compute(store: Path) -> Cell:
            stand_in = stands or setting.stands_for(dataset)
            return Result(job.moments(store).dimension, paper=value, command=COMMAND, stand_in=stand_in)

        return Computed((job,), compute, COMMAND, value)

    pairs = list(zip(table.columns, row.values, strict=True))
    lines = (
        Line(f"{row.label}, pixels", tuple(cell(d, p, False) for d, p in pairs)),
        Line(
            f"{row.label}, {setting.backbone} features",
            tuple(cell(d, p, True) if d in COLOUR else EMPTY for d, p in pairs),
        ),
    )
    note = (
        "Of the training set, pixels as published, E-MNIST upright. The paper's figure for CIFAR-10 is not one of raw "
        "pixels."
    )
    columns = tuple(NAMES[dataset] for dataset in table.columns)
    return Sheet("table-5", "Effective dimension", columns, lines, table.source, note)


def _centroids(setting: Setting) -> Sheet:
    table = paper_table("centroid_distances")
    lines = []
    for row in table.rows:
        cells: list[Wanted] = []
        for other, paper in zip(table.columns, row.values, strict=True):
            cells += _pair(setting, row.keys["dataset"], other, paper) if paper else [EMPTY, EMPTY]
        lines.append(Line(row.label, tuple(cells)))
    columns = tuple(f"{NAMES[dataset]}, {which}" for dataset in table.columns for which in ("smallest", "largest"))
    note = "Cosine distances between the mean images of classes, of different classes within a set. Training sets."
    return Sheet("table-6", "Distances between centroids", columns, tuple(lines), table.source, note)


def _pair(setting: Setting, one: str, other: str, paper: tuple[float, ...]) -> list[Wanted]:
    """Smallest and largest distance between two sets."""
    first, second = measure(setting, one), measure(setting, other)
    if first is None or second is None:
        reason = setting.absent(one if first is None else other)
        return [Gap(reason, COMMAND, Value(number)) for number in paper]
    jobs = (first,) if one == other else (first, second)

    def cell(which: int) -> Wanted:
        def compute(store: Path) -> Cell:
            a = first.moments(store)
            b = a if one == other else second.moments(store)
            stand_in = setting.stands_for(one) or setting.stands_for(other)
            value = centroid_distances(a, b)[which]
            return Result(value, paper=Value(paper[which]), command=COMMAND, stand_in=stand_in)

        return Computed(jobs, compute, COMMAND, Value(paper[which]))

    return [cell(0), cell(1)]
