"""A table of configurations: what matters first, then what tells them apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kenyon.errors import unknown
from kenyon.lab.evaluation import METRICS, RunGroup, distinguishing

FIRST = ("learner", "accuracy", "forgetting", "state_bytes", "total_seconds", "seeds", "options")
"""The columns of a table where none are asked for."""
_HEADINGS = {"accuracy": "accuracy, %", "state_bytes": "state", "total_seconds": "time"}
_STREAM = ("dataset", "scenario")
_UNSAID = (None, "auto", "off")
"""Defaults that say nothing."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        key: a metric, a key of the configuration, an option, `seeds`, or `options` for all that tells rows apart.
        heading: what stands above it.
        unit: of a metric: `"%"`, `"B"`, `"s"` or empty.
        metric: whether it holds the mean and deviation of a metric.

    Example:
        >>> Column("accuracy", "accuracy, %", "%", metric=True).key
        'accuracy'
    """

    key: str
    heading: str
    unit: str = ""
    metric: bool = False


@dataclass(frozen=True)
class Cell:
    """A value of a table; that of a metric is a mean, with the deviation over the seeds where there are several.

    Example:
        >>> Cell(0.93, 0.01).std
        0.01
    """

    value: Any = None
    std: float | None = None


@dataclass(frozen=True)
class Table:
    """Rows of cells, and what they all have in common.

    Example:
        >>> Table((Column("learner", "learner"),), (((Cell("ncm")),),), "digits, class-incremental").shared
        'digits, class-incremental'
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    shared: str = ""


def tabulate(groups: Sequence[RunGroup], keys: Sequence[str] | None = None) -> Table:
    """Configurations as a table, in the order given.

    Args:
        groups: the configurations.
        keys: the columns: metrics, keys of the configuration, options, `seeds`, or `options`, which has whatever
            tells the configurations of one learner apart. By default learner, accuracy, forgetting, bytes, time,
            seeds and options.

    Example:
        >>> from pathlib import Path
        >>> from kenyon.lab.evaluation import RunConfig, Store, group_runs, run
        >>> _ = run(RunConfig("digits", "ncm"), seeds=[0], store="runs")
        >>> groups = group_runs(Store(Path("runs")).runs()).groups
        >>> tabulate(groups, ["learner", "seeds"]).rows
        ((Cell(value='ncm', std=None), Cell(value='1', std=None)),)
    """
    keys = FIRST if keys is None else keys
    known = known_keys(groups)
    for key in keys:
        if key not in known:
            raise unknown("column", key, known)
    columns = tuple(_column(key) for key in keys)
    texts = _option_texts(groups)
    rows = [tuple(_cell(group, column, text) for column in columns) for group, text in zip(groups, texts, strict=True)]
    if any(group.outdated for group in groups):
        columns += (Column("note", "note"),)
        rows = [(*row, Cell(group.outdated or None)) for row, group in zip(rows, groups, strict=True)]
    return Table(columns, tuple(rows), _shared(groups) if "options" in keys else "")


def known_keys(groups: Sequence[RunGroup]) -> list[str]:
    """Everything that a column, a condition or an order may name."""
    return [*dict.fromkeys([*FIRST, *METRICS, *(key for group in groups for key in group.keys)])]


def _column(key: str) -> Column:
    metric = METRICS.get(key)
    if metric is None:
        return Column(key, key)
    percent = ", %" if metric.unit == "%" else ""
    return Column(key, _HEADINGS.get(key, key.replace("_", " ") + percent), metric.unit, metric=True)


def _cell(group: RunGroup, column: Column, options: str) -> Cell:
    if column.metric:
        if not group.complete or group.outdated:
            return Cell()
        summary = group.report.summary(column.key)
        return Cell(summary.mean, summary.std)
    if column.key == "seeds":
        return Cell(_seeds(group))
    return Cell((options or None) if column.key == "options" else group.value(column.key))


def _seeds(group: RunGroup) -> str:
    if not group.incomplete:
        return f"{len(group.complete)}"
    standing = "running" if any(run.busy for run in group.incomplete) else "stopped"
    return f"{len(group.complete)} + {len(group.incomplete)} {standing}"


def _option_texts(groups: Sequence[RunGroup]) -> list[str]:
    """For each group, the stream where streams differ, and the options that differ among the groups of its learner."""
    stream = [key for key in _STREAM if any(group.config[key] != groups[0].config[key] for group in groups)]
    by_learner: dict[str, list[RunGroup]] = {}
    for group in groups:
        by_learner.setdefault(str(group.config["learner"]), []).append(group)
    own = {learner: distinguishing(members) for learner, members in by_learner.items()}
    texts = []
    for group in groups:
        words = [str(group.config[key]) for key in stream]
        for key in own[str(group.config["learner"])]:
            if key in group.differs or group.value(key) not in _UNSAID:
                words.append(f"{key}={shown(group.value(key))}")
        texts.append(" ".join(words))
    return texts


def _shared(groups: Sequence[RunGroup]) -> str:
    same = [key for key in _STREAM if all(group.config[key] == groups[0].config[key] for group in groups)]
    return ", ".join(str(groups[0].config[key]) for key in same) if groups else ""


def shown(value: Any) -> str:
    """A value of a configuration as a word."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(shown, value)) + "]"
    return "-" if value is None else str(value)
