"""What a run is judged by: one table, an entry per number.

To add a metric, add an entry: `METRICS[name] = Metric(...)`, here or from outside the package. Runs then have it in
their results, in JSON and in the closing table; runs made before have a gap there.

`R[i, j]` is the accuracy on task j's test samples after learning task i, both counted from 1 to T;
`R[0, j]` is the accuracy before anything was learned. Accuracies are shares, 0 to 1. A number that
a run does not define (forgetting with one task, say) is None.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.data.protocol import Learner
from kenyon.data.streams import Stream
from kenyon.lab.evaluation._operations import PICOJOULES
from kenyon.lab.evaluation._tally import Tally
from kenyon.lab.evaluation._wrapped import figure

ONE_BY_ONE = ("permuted", "rotated", "drift", "gradual-drift", "virtual-drift")
"""Scenarios whose tasks have the same classes, and are tested one by one."""

TESTED = 4096
"""Test samples that are predicted at a time."""


@dataclass(frozen=True)
class FinishedRun:
    """What a metric is computed from.

    Attributes:
        R: accuracy on task j (column) after learning task i (row), NaN where not tested.
        before: accuracy on each task before learning anything.
        n_test: test samples of each task.
        tally: counts and seconds of the run.
        learner: in its final state.
        stream: what it learned.
        operations: multiply-adds of learning a sample, if they can be counted.

    Example:
        >>> import numpy as np
        >>> R = np.array([[0.9, 0.0], [0.7, 0.8]])
        >>> finished = FinishedRun(R, np.zeros(2), np.array([100, 100]), Tally.empty(2), learner=None, stream=None)
        >>> [round(float(METRICS[name].compute(finished)), 2) for name in ("accuracy", "forgetting")]
        [0.75, 0.2]
    """

    R: NDArray[np.float64]
    before: NDArray[np.float64]
    n_test: NDArray[np.int64]
    tally: Tally
    learner: Learner
    stream: Stream
    operations: float | None = None

    @cached_property
    def confusion(self) -> NDArray[np.int64] | None:
        """Test samples at the end of the stream, (classes, classes + 1): by true class and prediction, the last column
        for none of the classes. None where the task is known at the test or tested one by one."""
        if self.stream is None or self.stream.info.task_heads or self.stream.curriculum.scenario in ONE_BY_ONE:
            return None
        n = self.stream.info.n_classes
        table = np.zeros((n, n + 1), np.int64)
        once = len(self.stream.episodes) // self.stream.curriculum.repeats
        for episode in self.stream.episodes[:once]:
            for start in range(0, episode.n_test, TESTED):
                X, y = episode.test(start, min(start + TESTED, episode.n_test))
                predicted = np.asarray(self.learner.predict(X))
                known = (predicted >= 0) & (predicted < n)
                np.add.at(table, (y, np.where(known, predicted, n)), 1)
        return table

    @property
    def recalls(self) -> NDArray[np.float64] | None:
        """The final recall of each class, NaN for one without test samples; None where there is no confusion."""
        if self.confusion is None:
            return None
        counts = self.confusion.sum(axis=1)
        return np.where(counts > 0, np.diagonal(self.confusion) / np.maximum(counts, 1), np.nan)

    @classmethod
    def of(cls, tally: Tally, learner: Learner, stream: Stream, operations: float | None = None) -> FinishedRun:
        n_test = np.array([episode.n_test for episode in stream.episodes], dtype=np.int64)
        before, *after = tally.accuracies(n_test)
        return cls(np.array(after), before, n_test, tally, learner, stream, operations)


@dataclass(frozen=True)
class Metric:
    """One number that a run is judged by.

    Attributes:
        name: its key in `metrics.json`, in JSON documents and in Python.
        meaning: what it is, with its formula.
        compute: the number from a finished run; None or NaN where the run does not define it.
        unit: `"%"` for a share from 0 to 1 (printed in percent), `"B"` for bytes, `"s"` for seconds, or empty.
        measured: True if it depends on the machine and the moment; every other one is the same bits each time.
        label: what the closing table calls it; empty leaves it out, None takes the name.
        lower_is_better: whether a smaller number is the better one.

    Example:
        >>> METRICS["accuracy"].unit, METRICS["learn_seconds"].measured
        ('%', True)
    """

    name: str
    meaning: str
    compute: Callable[[FinishedRun], float | None]
    unit: str = ""
    measured: bool = False
    label: str | None = None
    lower_is_better: bool = False

    @property
    def heading(self) -> str:
        """What the closing table calls it, its unit included; empty where it is left out."""
        label = self.name.replace("_", " ") if self.label is None else self.label
        return f"{label}, %" if label and self.unit == "%" else label


def _anytime(run: FinishedRun) -> float:
    if len(curve := run.tally.tests):
        return float((curve[:, 1] / np.maximum(curve[:, 2], 1)).mean())
    return _incremental(run)


def _incremental(run: FinishedRun) -> float:
    return float(np.array([row[: i + 1].mean() for i, row in enumerate(run.R)]).mean())


def _forgetting(run: FinishedRun) -> float | None:
    if len(run.R) < 2:
        return None
    # NaN below the diagonal must stay NaN, so unseen entries are masked rather than skipped.
    best = np.where(np.tri(len(run.R), dtype=bool), run.R, -1.0)[:-1, :-1].max(axis=0)
    return float((best - run.R[-1][:-1]).mean())


def _backward(run: FinishedRun) -> float | None:
    return float((run.R[-1] - np.diagonal(run.R))[:-1].mean()) if len(run.R) > 1 else None


def _forward(run: FinishedRun) -> float | None:
    return float((np.diagonal(run.R, 1) - run.before[1:]).mean()) if len(run.R) > 1 else None


def _balanced(run: FinishedRun) -> float | None:
    return None if run.recalls is None else float(np.nanmean(run.recalls))


def _lowest_recall(run: FinishedRun) -> float | None:
    return None if run.recalls is None else float(np.nanmin(run.recalls))


def _kappa(run: FinishedRun) -> float | None:
    if run.confusion is None:
        return None
    table = run.confusion / run.confusion.sum()
    by_chance = float((table.sum(axis=1) * table.sum(axis=0)[:-1]).sum())
    return None if by_chance == 1 else (float(np.trace(table)) - by_chance) / (1 - by_chance)


def _after_drift(run: FinishedRun) -> float | None:
    return float(np.diagonal(run.R)[1:].mean()) if len(run.R) > 1 else None


def _labels_given(run: FinishedRun) -> float | None:
    asked = figure(run.learner, "labels_given", None)
    return run.tally.labelled / max(run.tally.learned, 1) if asked is None else asked


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "accuracy",
            "final average accuracy, every task counting the same: `1/T sum_j R[T, j]` (Lopez-Paz & Ranzato, 2017)",
            lambda run: run.R[-1].mean(),
            unit="%",
            label="final accuracy, mean of tasks",
        ),
        Metric(
            "sample_accuracy",
            "final accuracy, every test sample counting the same: `sum_j n_j R[T, j] / sum_j n_j`, n_j test samples of "
            "task j",
            lambda run: (run.R[-1] * run.n_test).sum() / run.n_test.sum(),
            unit="%",
            label="final accuracy, mean of samples",
        ),
        Metric(
            "anytime_accuracy",
            "area under the curve of the accuracy on what was seen so far, over the stream: the mean of the tests "
            "every `test_every` samples (Koh et al., 2022); without these tests, the average incremental accuracy",
            _anytime,
            unit="%",
        ),
        Metric(
            "average_incremental_accuracy",
            "mean over the ends of tasks of the accuracy on the tasks seen so far: `1/T sum_i 1/i sum_{j<=i} R[i, j]` "
            "(Rebuffi et al., 2017)",
            _incremental,
            unit="%",
            label="",
        ),
        Metric(
            "learning_accuracy",
            "accuracy on each task right after learning it: `1/T sum_j R[j, j]` (Riemer et al., 2019)",
            lambda run: np.diagonal(run.R).mean(),
            unit="%",
            label="accuracy right after learning",
        ),
        Metric(
            "prequential_accuracy",
            "share of labelled training samples predicted right just before they were learned, judged by the label "
            "the learner was given (noisy where the curriculum makes it so)",
            lambda run: run.tally.hits / run.tally.labelled if run.tally.labelled else None,
            unit="%",
        ),
        Metric(
            "forgetting",
            "how far each earlier task fell from its best: `1/(T-1) sum_{j<T} (max_{j<=i<T} R[i, j] - R[T, j])` "
            "(Chaudhry et al., 2018)",
            _forgetting,
            unit="%",
            lower_is_better=True,
        ),
        Metric(
            "backward_transfer",
            "what later tasks did to earlier ones: `1/(T-1) sum_{j<T} (R[T, j] - R[j, j])`; negative when they hurt "
            "(Lopez-Paz & Ranzato, 2017)",
            _backward,
            unit="%",
        ),
        Metric(
            "forward_transfer",
            "what earlier tasks did for the next: `1/(T-1) sum_{j>1} (R[j-1, j] - R[0, j])` (Lopez-Paz & Ranzato, "
            "2017)",
            _forward,
            unit="%",
        ),
        Metric(
            "balanced_accuracy",
            "mean of the final recalls of the classes, however many test samples each has: `1/C sum_c n_cc / n_c`",
            _balanced,
            unit="%",
            label="",
        ),
        Metric(
            "lowest_recall",
            "final recall of the class that has the smallest: `min_c n_cc / n_c`",
            _lowest_recall,
            unit="%",
            label="",
        ),
        Metric(
            "kappa",
            "final agreement beyond chance: `(a - e) / (1 - e)`, a the accuracy and e what the shares of true and "
            "predicted classes give by chance (Cohen, 1960)",
            _kappa,
            label="",
        ),
        Metric(
            "accuracy_after_drift",
            "accuracy on each task but the first right after learning it: `1/(T-1) sum_{j>1} R[j, j]`",
            _after_drift,
            unit="%",
            label="",
        ),
        Metric(
            "samples_per_second",
            "training samples by the seconds spent inside the learner learning them",
            lambda run: run.tally.learned / max(run.tally.learn_seconds, 1e-9),
            measured=True,
            label="samples/s, learning",
        ),
        Metric(
            "samples_per_second_overall",
            "training samples by all seconds of the run: learning, testing, reading, writing",
            lambda run: run.tally.learned / max(run.tally.total_seconds, 1e-9),
            measured=True,
            label="samples/s, all told",
        ),
        Metric(
            "synaptic_updates_per_sample",
            "weight changes by training samples",
            lambda run: run.learner.synaptic_updates / max(run.tally.learned, 1),
            label="synaptic updates per sample",
            lower_is_better=True,
        ),
        Metric(
            "operations_per_sample",
            "multiply-adds of learning one sample, counted alike for every learner (`lab/evaluation/_operations.py`)",
            lambda run: run.operations,
            label="",
            lower_is_better=True,
        ),
        Metric(
            "energy_per_sample",
            f"estimated energy of learning one sample, in joules: operations x {PICOJOULES} pJ, a multiplication and "
            "an addition of 32-bit floats at 45 nm, without memory (Horowitz, 2014)",
            lambda run: None if run.operations is None else run.operations * PICOJOULES * 1e-12,
            label="",
            lower_is_better=True,
        ),
        Metric(
            "learned_share",
            "share of the training samples that were learned, the others having come while the learner was busy "
            "(`compute_budget`, `rate`)",
            lambda run: figure(run.learner, "learned_share", 1.0),
            unit="%",
            label="",
        ),
        Metric(
            "labels_given",
            "share of the training samples whose label the learner had",
            _labels_given,
            unit="%",
            label="",
        ),
        Metric(
            "state_bytes",
            "bytes the learner must keep to go on learning, at the end of the stream",
            lambda run: run.learner.state_bytes,
            unit="B",
            label="state",
            lower_is_better=True,
        ),
        Metric(
            "peak_memory_bytes",
            "largest growth of the process's resident memory during the run, data set open and learner built, the "
            "mapped data set left out",
            lambda run: run.tally.peak_bytes,
            unit="B",
            measured=True,
            label="peak memory growth",
            lower_is_better=True,
        ),
        Metric(
            "learn_seconds",
            "seconds inside the learner while learning",
            lambda run: run.tally.learn_seconds,
            unit="s",
            measured=True,
            label="",
            lower_is_better=True,
        ),
        Metric(
            "test_seconds",
            "seconds inside the learner while being tested",
            lambda run: run.tally.test_seconds,
            unit="s",
            measured=True,
            label="",
            lower_is_better=True,
        ),
        Metric(
            "total_seconds",
            "seconds of the run, all told; a resumed run adds up its parts",
            lambda run: run.tally.total_seconds,
            unit="s",
            measured=True,
            label="",
            lower_is_better=True,
        ),
    )
}
"""Every metric, by name."""


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
        return cls({name: _plain(metric.compute(run)) for name, metric in METRICS.items()})

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


def _plain(value: Any) -> float | None:
    """A number as JSON knows it; None for what is not defined."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if isinstance(value, (int, np.integer)) else float(value)


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
