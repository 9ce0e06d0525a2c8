"""A table of configurations: what matters first, then what tells them apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kenyon.errors import unknown
from kenyon.lab.evaluation import METRICS, RunGroup, distinguishing
from kenyon.lab.table_formats import number
from kenyon.lab.tables import Cell, Empty, Result, Row, Table, Text

FIRST = ("learner", "accuracy", "forgetting", "state_bytes", "total_seconds", "seeds", "options")
"""The columns of a table where none are asked for."""
_HEADINGS = {"accuracy": "accuracy, %", "state_bytes": "state", "total_seconds": "time"}
_STREAM = ("dataset", "scenario")
_UNSAID = (None, "auto", "off")
"""Defaults that tables leave out."""


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
        >>> table = tabulate(groups, ["learner", "seeds"])
        >>> table.corner, table.rows[0].label, table.rows[0].cells[0].text
        ('learner', 'ncm', '1')
    """
    keys = FIRST if keys is None else keys
    known = known_keys(groups)
    for key in keys:
        if key not in known:
            raise unknown("column", key, known)
    labelled = bool(keys) and keys[0] not in METRICS  # labels are text: a first column of numbers has none
    columns, rows = list(keys[1:] if labelled else keys), []
    best = {key: _best(groups, key) for key in columns if key in METRICS}  # by stream
    for group, text in zip(groups, _option_texts(groups), strict=True):
        label = _words(group, keys[0], text) or "-" if labelled else ""
        rows.append((label, [_cell(group, key, text, best.get(key, {}).get(_stream(group))) for key in columns]))
    headings = [_heading(key) for key in columns]
    if any(group.outdated for group in groups):
        headings.append("note")
        rows = [
            (label, [*cells, Text(group.outdated) if group.outdated else Empty()])
            for (label, cells), group in zip(rows, groups, strict=True)
        ]
    note = _shared(groups) if "options" in keys else ""
    made = tuple(Row(label, tuple(cells)) for label, cells in rows)
    return Table("configurations", "", tuple(headings), made, note=note, corner=_heading(keys[0]) if labelled else "")


def known_keys(groups: Sequence[RunGroup]) -> list[str]:
    """Every key that a column, a condition or an order may use."""
    return [*dict.fromkeys([*FIRST, *METRICS, *(key for group in groups for key in group.keys)])]


def _heading(key: str) -> str:
    metric = METRICS.get(key)
    if metric is None:
        return key
    return _HEADINGS.get(key, key.replace("_", " ") + (", %" if metric.unit == "%" else ""))


def _cell(group: RunGroup, key: str, options: str, best: float | None) -> Cell:
    if key not in METRICS:
        text = _words(group, key, options)
        return Text(text) if text else Empty()
    if not group.complete or group.outdated:
        return Empty()
    metric, summary = METRICS[key], group.report.summary(key)
    if summary.mean is None:
        return Empty()
    factor, n = 100.0 if metric.unit == "%" else 1.0, len(group.complete)
    std = None if not summary.std and metric.unit != "%" else summary.std  # bytes are the same for every seed
    std = None if std is None or metric.unit == "s" else factor * std
    better = "lower" if metric.lower_is_better else "higher"
    tied = best is not None and number(factor * summary.mean, metric.unit) == number(factor * best, metric.unit)
    return Result(factor * summary.mean, std, n, metric.unit, better=better, best=tied)


def _best(groups: Sequence[RunGroup], key: str) -> dict[tuple[str, str], float]:
    """The best value of a share on each stream that has several; none for any other metric.

    What is printed with the same digits is as good.
    """
    by_stream: dict[tuple[str, str], list[float]] = {}
    for group in groups:
        if group.complete and not group.outdated and (mean := group.report.summary(key).mean) is not None:
            by_stream.setdefault(_stream(group), []).append(mean)
    if METRICS[key].unit != "%":
        return {}
    choose = min if METRICS[key].lower_is_better else max
    return {stream: choose(values) for stream, values in by_stream.items() if len(values) > 1}


def _stream(group: RunGroup) -> tuple[str, str]:
    return str(group.config["dataset"]), str(group.config["scenario"])


def _words(group: RunGroup, key: str, options: str) -> str:
    """A value of a configuration as text; empty where there is none."""
    if key == "seeds":
        return _seeds(group)
    value = options if key == "options" else group.value(key)
    return "" if value is None else shown(value)


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
    """A value of a configuration as text."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(shown, value)) + "]"
    return "-" if value is None else str(value)
