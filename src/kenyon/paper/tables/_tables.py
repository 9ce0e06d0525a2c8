"""Read the paper's tables.

A file has `number`, `caption` and `label` of the table, `columns`, and `rows`. A row has `label`, perhaps `group`,
keys that say what it is (`learner`, `dataset`, `rule`, ...), and `values`, one per column: a number, a list (mean and
standard deviation, or what the comment at the top of the file says), or "-" where the paper has a dash.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from kenyon.errors import ConfigError, unknown

Value = tuple[float, ...] | None
"""The numbers of one cell; None for a dash."""

SHORT = 150
"""How many characters of a caption are quoted."""


@dataclass(frozen=True)
class PaperRow:
    """One row.

    Attributes:
        label: the label as printed.
        group: the heading above it, or None.
        keys: what it is: `learner`, `dataset`, `rule`, `configuration`, `ablation`.
        values: one per column.

    Example:
        >>> row = paper_table("comparison").row(learner="der++")
        >>> row.label, row.group
        ('DER++', 'Continual Learning Memory-based')
    """

    label: str
    group: str | None
    keys: Mapping[str, str]
    values: tuple[Value, ...]


@dataclass(frozen=True)
class PaperTable:
    """One table.

    Attributes:
        name: the name of its file.
        number: the number as printed; empty for results that the paper gives in its text.
        caption: the caption as printed.
        columns: the names of the columns.
        rows: the rows in the paper's order.

    Example:
        >>> table = paper_table("comparison")
        >>> table.number, len(table.rows)
        ('3', 16)
        >>> table.value("mnist/class-incremental", learner="der++")
        (92.34,)
    """

    name: str
    number: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[PaperRow, ...] = field(repr=False)

    @property
    def source(self) -> str:
        """The shortened caption and the number."""
        return _cite(self.caption, f"Table {self.number}" if self.number else "")

    def row(self, **keys: str) -> PaperRow:
        """The first row with these keys."""
        for row in self.rows:
            if all(row.keys.get(key) == value for key, value in keys.items()):
                return row
        raise ConfigError(f"the paper's table {self.name!r} has no row with {keys}")

    def value(self, column: str, **keys: str) -> Value:
        """The cell of the first row with these keys; None for a dash, for no such row and for no such column."""
        if column not in self.columns:
            return None
        try:
            return self.row(**keys).values[self.columns.index(column)]
        except ConfigError:
            return None


def table_names() -> tuple[str, ...]:
    """The names of all tables.

    Example:
        >>> table_names()[:3]
        ('ablations', 'centroid_distances', 'class_configurations')
    """
    names = (entry.name for entry in files(__package__).iterdir())
    return tuple(sorted(n.removesuffix(".toml") for n in names if n.endswith(".toml") and n != "figures.toml"))


@cache
def paper_table(name: str) -> PaperTable:
    """A table by name.

    Example:
        >>> paper_table("comparison").columns
        ('mnist/task-incremental', 'cifar10/task-incremental', 'mnist/class-incremental', 'cifar10/class-incremental')
    """
    if name not in table_names():
        raise unknown("table of the paper", name, table_names())
    values = _read(name)
    columns = tuple(values["columns"])
    rows = tuple(_row(row, len(columns), name) for row in values["rows"])
    return PaperTable(name, values["number"], values["caption"], columns, rows)


def figure_source(name: str) -> str:
    """The shortened caption and the number of a figure.

    Example:
        >>> figure_source("weight-evolution")[-11:]
        ' (Figure 4)'
    """
    figures = _read("figures")
    if name not in figures:
        raise unknown("figure of the paper", name, figures)
    return _cite(figures[name]["caption"], f"Figure {figures[name]['number']}")


def paper_accuracy(dataset: str, scenario: str, rule: str, on: str, as_scenario: str) -> float | None:
    """Accuracy (a share) of the configuration found on a stream with a rule, run on another; None where not given.

    Args:
        dataset, scenario, rule: where and with which rule the configuration was found.
        on, as_scenario: what it was run on.

    Example:
        >>> paper_accuracy("mnist", "single-task", "mse", "fashion-mnist", "single-task")
        0.8075
    """
    found_on, column = _canonical(dataset), f"{_canonical(on)}/{as_scenario}"
    if scenario == "single-task":
        value = paper_table("transfer").value(column, dataset=found_on, rule=rule)
    elif scenario == "class-incremental" and rule == "inel":
        value = paper_table("comparison_extended").value(column, configuration=f"opt-{found_on}")
    else:
        value = None
    return None if value is None else value[0] / 100


def paper_dimension(dataset: str) -> float | None:
    """The effective dimension that the paper gives for a data set; None where it gives none.

    Example:
        >>> paper_dimension("mnist")
        30.69
    """
    value = paper_table("effective_dimension").value(_canonical(dataset))
    return None if value is None else value[0]


def paper_distances(a: str, b: str) -> tuple[float, float] | None:
    """The smallest and largest centroid distance that the paper gives for two data sets; None where it gives none.

    Example:
        >>> paper_distances("mnist", "fashion-mnist")
        (0.17, 0.54)
    """
    table = paper_table("centroid_distances")
    for one, other in ((a, b), (b, a)):
        if value := table.value(_canonical(other), dataset=_canonical(one)):
            return value[0], value[1]
    return None


def _canonical(dataset: str) -> str:
    from kenyon.data.streams import canonical_name

    try:
        return canonical_name(dataset)
    except ConfigError:  # a path, which is not in the paper
        return dataset


@cache
def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))


def _row(row: Mapping[str, Any], n_columns: int, table: str) -> PaperRow:
    if len(row["values"]) != n_columns:
        raise ConfigError(f"{table}: row {row['label']!r} has {len(row['values'])} values, expected {n_columns}")
    values = tuple(None if v == "-" else tuple(map(float, v if isinstance(v, list) else [v])) for v in row["values"])
    keys = {key: str(value) for key, value in row.items() if key not in ("label", "group", "values")}
    return PaperRow(row["label"], row.get("group"), keys, values)


def _cite(caption: str, where: str) -> str:
    quoted = caption if len(caption) <= SHORT else caption[:SHORT].rsplit(" ", 1)[0] + " ..."
    return f"“{quoted}”" + (f" ({where})" if where else "")
