"""The results of one run, and of a configuration over its seeds, as plain values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.data.protocol import Learner
from kenyon.errors import require
from kenyon.lab.evaluation._metrics import METRICS, FinishedRun

FORMAT = 1
Matrix = Sequence[Sequence[float | None]]
_KINDS: dict[str, type] = {"seed": int, "weights_stride": int, "backbone_bytes": int}
_KINDS |= {"tested_on": str, "state_sha256": str, "run": str, "learned": str, "options": dict}
_WORDS = {int: "an integer", str: "text", dict: "a table"}


class Metrics(Mapping[str, float | None]):
    """One run's numbers, by name or as attributes.

    A metric of the table that the run does not have, because it was made before there was one, is None; one that
    is not in the table is left out.

    Args:
        values: the numbers by name.

    Example:
        >>> metrics = Metrics({"accuracy": 0.93})
        >>> metrics.accuracy, metrics["forgetting"]
        (0.93, None)
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
                raise ValueError(f"metrics.{name} = {value!r}: expected a number or null")
        self._values = dict(values)

    @classmethod
    def of(cls, run: FinishedRun) -> Metrics:
        """Every metric of a finished run."""
        return cls({name: _json_number(metric.compute(run)) for name, metric in METRICS.items()})

    def __getitem__(self, name: str) -> float | None:
        METRICS[name]
        return self._values.get(name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in METRICS:
            raise AttributeError(f"there is no metric {name!r}")
        return self[name]

    def __iter__(self) -> Iterator[str]:
        return iter(METRICS)

    def __len__(self) -> int:
        return len(METRICS)

    def __repr__(self) -> str:
        return f"Metrics({dict(self)})"


def _json_number(value: Any) -> float | None:
    """A number as JSON knows it; None for what is not defined."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if isinstance(value, (int, np.integer)) else float(value)


@dataclass(frozen=True)
class RunResult:
    """One seed's results, as `metrics.json` holds them.

    Attributes:
        seed: the seed of stream and learner.
        tested_on: `"test"`, or `"holdout"` where a slice of the training set stood in for it.
        tasks: the classes of each task.
        n_train, n_test: samples of each task.
        metrics: the numbers.
        accuracy_matrix: accuracy on task j (column) after learning task i (row); None where not tested.
        accuracy_before: accuracy on each task before learning.
        recalls: final recall of each class, in the order of the data set's classes; None for one without test
            samples. Empty where the task is known at the test or tested one by one.
        weights_stride: samples between two rows of `weights.npy`, counted from each task's start; 0 for none.
        state_sha256: hash of the learner's final state.
        backbone_bytes: bytes of the frozen network before the learner, which `state_bytes` leaves out; 0 for none.
        options: values that the learner settled itself where none was given, such as tuned learning rates.
        run: the run's id.
        learned: what learned in our own learner, its rule or its layer, chosen by it where none was given.
        curve: tests within the stream (`test_every`): samples learned, and the accuracy on what was seen so far.
        recall_curve: the recall of each class at each of these tests; None for a class not tested yet.
        folder: where the run is stored, if it is.
    """

    seed: int
    tested_on: str
    tasks: tuple[tuple[int, ...], ...]
    n_train: tuple[int, ...]
    n_test: tuple[int, ...]
    metrics: Metrics
    accuracy_matrix: Matrix
    accuracy_before: Sequence[float | None]
    weights_stride: int
    state_sha256: str
    backbone_bytes: int = 0
    options: Mapping[str, float] = field(default_factory=dict)
    recalls: tuple[float | None, ...] = ()
    run: str = ""
    learned: str = ""
    curve: Sequence[tuple[int, float]] = ()
    recall_curve: Sequence[Sequence[float | None]] = ()
    folder: Path | None = None

    def to_dict(self) -> dict[str, Any]:
        values = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "folder"}
        return {"format": FORMAT} | values | {"metrics": dict(self.metrics), "options": dict(self.options)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], folder: Path | None = None) -> RunResult:
        """What `to_dict` gave. Fields that came later have their defaults, fields of a later version are left out."""
        if values["format"] != FORMAT:
            raise ValueError(f"format {values['format']!r}, expected {FORMAT}")
        known = {entry.name: values[entry.name] for entry in fields(cls) if entry.name in values}
        for name, kind in _KINDS.items():
            if type(known.get(name, kind())) is not kind:
                raise ValueError(f"{name} = {known[name]!r}: expected {_WORDS[kind]}")
        known["tasks"] = tuple(_integers("tasks", task) for task in values["tasks"])
        known |= {name: _integers(name, values[name]) for name in ("n_train", "n_test")}
        n_tasks = len(known["tasks"])
        for row in (*values["accuracy_matrix"], values["accuracy_before"]):
            if type(row) is not list or len(row) != n_tasks or not all(v is None or type(v) is float for v in row):
                raise ValueError(f"a row of the accuracy matrix is {row!r}: expected {n_tasks} numbers or null")
        if len(values["accuracy_matrix"]) != n_tasks:
            raise ValueError(f"the accuracy matrix has {len(values['accuracy_matrix'])} rows for {n_tasks} tasks")
        recalls = values.get("recalls", [])
        if type(recalls) not in (list, tuple) or not all(v is None or type(v) is float for v in recalls):
            raise ValueError(f"recalls = {recalls!r}: expected numbers or null")
        curve, recall_curve = values.get("curve", ()), values.get("recall_curve", ())
        if not all(len(point) == 2 for point in curve) or len(recall_curve) != len(curve):
            raise ValueError(f"curve has {len(curve)} points, recall_curve {len(recall_curve)}: expected as many pairs")
        known |= {"curve": tuple(map(tuple, curve)), "recall_curve": tuple(map(tuple, recall_curve))}
        return cls(**known | {"metrics": Metrics(values["metrics"]), "recalls": tuple(recalls), "folder": folder})

    @property
    def matrix(self) -> NDArray[np.float64]:
        """The accuracy matrix as an array, NaN where not tested."""
        return np.array(self.accuracy_matrix, np.float64)

    def matrix_csv(self) -> str:
        """The accuracy matrix with its first row, before learning, as comma-separated values."""
        lines = ["after_task," + ",".join(f"task_{j + 1}" for j in range(len(self.tasks)))]
        for i, row in enumerate([self.accuracy_before, *self.accuracy_matrix]):
            lines.append(f"{i}," + ",".join("" if value is None else repr(value) for value in row))
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Summary:
    """A metric over repetitions.

    Example:
        >>> summary = run(RunConfig("digits", "ncm"), seeds=[0, 1]).summary("forgetting")
        >>> isinstance(summary, Summary), len(summary.per_seed)
        (True, 2)
    """

    mean: float | None
    """Arithmetic mean over the seeds."""
    std: float | None
    """Sample standard deviation, `sqrt(sum (v - mean)^2 / (n - 1))`; None for one seed."""
    per_seed: tuple[float | None, ...]
    """Every seed's value, in the order of the seeds."""


def summarise(values: list[float | None]) -> Summary:
    """Mean, standard deviation (n - 1) and every value; None where a value is undefined."""
    known = [v for v in values if v is not None]
    if not values or len(known) < len(values):
        return Summary(None, None, tuple(values))
    array = np.array(known, dtype=np.float64)
    std = float(array.std(ddof=1)) if len(array) > 1 else None
    return Summary(float(array.mean()), std, tuple(values))


@dataclass(frozen=True)
class Report:
    """A configuration's results over its seeds.

    Example:
        >>> report = run(RunConfig("digits", "ncm"), seeds=[0, 1])
        >>> len(report.accuracy_matrix), report.to_dict()["seeds"]
        (5, [0, 1])
        >>> report.matrix.shape
        (2, 5, 5)
    """

    config: Mapping[str, Any]
    results: Sequence[RunResult]
    learners: Sequence[Learner] = ()
    """The trained learner of every seed, where `run(..., keep_learners=True)` asked for them."""

    def summary(self, metric: str) -> Summary:
        """Mean, standard deviation (n - 1) and every seed's value of a metric."""
        return summarise([result.metrics[metric] for result in self.results])

    @property
    def accuracy_matrix(self) -> Matrix:
        """The mean over the seeds of the accuracy matrix."""
        return _mean([result.accuracy_matrix for result in self.results])

    @property
    def matrix(self) -> NDArray[np.float64]:
        """The accuracy matrices as an array, (seeds, after task, on task), NaN where not tested."""
        return np.stack([result.matrix for result in self.results])

    def _repr_html_(self) -> str:
        """The metrics over the seeds, for a notebook."""
        rows = []
        for name, metric in METRICS.items():
            summary, scale = self.summary(name), 100 if metric.unit == "%" else 1
            if metric.heading and summary.mean is not None:
                spread = "" if summary.std is None else f" ± {scale * summary.std:.4g}"
                rows.append(f"<tr><td>{escape(metric.heading)}</td><td>{scale * summary.mean:.4g}{spread}</td></tr>")
        title = " on ".join(escape(str(self.config[key])) for key in ("learner", "dataset"))
        head = f"<tr><th>{title}, {escape(str(self.config['scenario']))}</th><th>{len(self.results)} seeds</th></tr>"
        return f"<table>{head}{''.join(rows)}</table>"

    def to_frame(self) -> Any:
        """A pandas frame of every metric, a row for each seed; needs pandas."""
        pandas = require("pandas", "data", "Report.to_frame")
        rows = [dict(result.metrics) for result in self.results]
        return pandas.DataFrame(rows, index=pandas.Index([r.seed for r in self.results], name="seed"), dtype=float)

    def matrix_frame(self) -> Any:
        """A pandas frame of the accuracy matrices: a row for each seed and task learned, a column for each task."""
        pandas = require("pandas", "data", "Report.matrix_frame")
        tasks = range(1, self.matrix.shape[1] + 1)
        index = pandas.MultiIndex.from_product([[r.seed for r in self.results], tasks], names=["seed", "after task"])
        columns = pandas.Index(tasks, name="task")
        return pandas.DataFrame(self.matrix.reshape(len(index), -1), index=index, columns=columns)

    def to_dict(self) -> dict[str, Any]:
        """The keys of `kenyon run --json`, documented in docs/reference/runs.md."""
        first = self.results[0]
        values: dict[str, Any] = {"format": FORMAT, "config": json_safe(self.config)}
        values |= {"seeds": [result.seed for result in self.results], "tested_on": first.tested_on}
        values |= {"backbone_bytes": first.backbone_bytes, "options": dict(first.options)}
        values |= {name: asdict(self.summary(name)) for name in METRICS}
        values |= {
            "accuracy_matrix": self.accuracy_matrix,
            "accuracy_matrix_per_seed": [result.accuracy_matrix for result in self.results],
            "accuracy_before": _mean([[result.accuracy_before] for result in self.results])[0],
            "recalls": _mean([[result.recalls] for result in self.results])[0],
            "recalls_per_seed": [result.recalls for result in self.results],
            "tasks": [result.tasks for result in self.results],
            "state_sha256": [result.state_sha256 for result in self.results],
            "curve": _mean_curve([result.curve for result in self.results]),
            "recall_curve_per_seed": [result.recall_curve for result in self.results],
            "folders": [str(result.folder) if result.folder else None for result in self.results],
        }
        return values


def _integers(name: str, values: Sequence[Any]) -> tuple[int, ...]:
    if not all(type(value) is int for value in values):
        raise ValueError(f"{name} = {values!r}: expected integers")
    return tuple(values)


def _mean(matrices: Sequence[Matrix]) -> Matrix:
    """Entry by entry; None where any is None, and nothing where any has no entries."""
    rows, columns = len(matrices[0]), min(len(matrix[0]) for matrix in matrices)
    return [[summarise([matrix[i][j] for matrix in matrices]).mean for j in range(columns)] for i in range(rows)]


def _mean_curve(curves: Sequence[Sequence[tuple[int, float]]]) -> list[tuple[int, float]]:
    """Samples learned and the mean accuracy over the seeds, point by point."""
    return [(points[0][0], sum(point[1] for point in points) / len(points)) for points in zip(*curves, strict=False)]


def json_safe(value: Any) -> Any:
    """The same value with infinities and NaN as text, which strict JSON has no number for.

    Example:
        >>> json_safe({"best": float("inf"), "n": 3})
        {'best': 'inf', 'n': 3}
    """
    if isinstance(value, Mapping):
        return {key: json_safe(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_safe(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
