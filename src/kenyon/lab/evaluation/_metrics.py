"""Metrics of a run: one table, one entry per number.

To add a metric, add an entry: a function below, or `METRICS[name] = Metric(...)` from outside the package. Runs then
have it in their results, in JSON and in the closing table; runs made before have a gap there.

`R[i, j]` is the accuracy on task j's test samples after learning task i, both counted from 1 to T;
`R[0, j]` is the accuracy before anything was learned. Accuracies are shares, 0 to 1. A number that
a run does not define (forgetting with one task, say) is None.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kenyon.data.protocol import Learner
from kenyon.data.streams import Stream
from kenyon.lab.evaluation._operations import PICOJOULES
from kenyon.lab.evaluation._tally import Tally
from kenyon.lab.evaluation._wrapped import Wrapped

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

    def counted(self, name: str, default: float) -> float:
        """A number that a wrapper around the learner has counted, such as the labels it was given."""
        figures = self.learner.figures() if isinstance(self.learner, Wrapped) else {}
        return float(figures.get(name, default))

    @classmethod
    def of(cls, tally: Tally, learner: Learner, stream: Stream, operations: float | None = None) -> FinishedRun:
        n_test = np.array([episode.n_test for episode in stream.episodes], dtype=np.int64)
        before, *after = tally.accuracies(n_test)
        return cls(np.array(after), before, n_test, tally, learner, stream, operations)


@dataclass(frozen=True)
class Metric:
    """A metric of a run.

    Attributes:
        name: its key in `metrics.json`, in JSON documents and in Python.
        description: what it is, with its formula.
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
    description: str
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


METRICS: dict[str, Metric] = {}
"""Every metric, by name."""

Compute = Callable[[FinishedRun], float | None]


def _metric(unit: str = "", label: str | None = "", **more: bool) -> Callable[[Compute], Compute]:
    """Add a function to the table: its name is the name of the metric, its docstring the description."""

    def add(compute: Compute) -> Compute:
        name, description = compute.__name__, " ".join((compute.__doc__ or "").split())
        METRICS[name] = Metric(name, description, compute, unit, label=label, **more)
        return compute

    return add


@_metric("%", "final accuracy, mean of tasks")
def accuracy(run: FinishedRun) -> float:
    """final average accuracy, every task counting the same: `1/T sum_j R[T, j]` (Lopez-Paz & Ranzato, 2017)"""
    return run.R[-1].mean()


@_metric("%", "final accuracy, mean of samples")
def sample_accuracy(run: FinishedRun) -> float:
    """final accuracy, every test sample counting the same: `sum_j n_j R[T, j] / sum_j n_j`, n_j test samples of task
    j"""
    return (run.R[-1] * run.n_test).sum() / run.n_test.sum()


@_metric("%", None)
def anytime_accuracy(run: FinishedRun) -> float | None:
    """area under the curve of the accuracy on what was seen so far, over the stream: the mean of the tests every
    `test_every` samples (Koh et al., 2022); without these tests, the average incremental accuracy"""
    if len(curve := run.tally.tests):
        return float((curve[:, 1] / np.maximum(curve[:, 2], 1)).mean())
    return average_incremental_accuracy(run)


@_metric("%")
def average_incremental_accuracy(run: FinishedRun) -> float:
    """mean over the ends of tasks of the accuracy on the tasks seen so far: `1/T sum_i 1/i sum_{j<=i} R[i, j]`
    (Rebuffi et al., 2017)"""
    return float(np.array([row[: i + 1].mean() for i, row in enumerate(run.R)]).mean())


@_metric("%", "accuracy right after learning")
def learning_accuracy(run: FinishedRun) -> float:
    """accuracy on each task right after learning it: `1/T sum_j R[j, j]` (Riemer et al., 2019)"""
    return np.diagonal(run.R).mean()


@_metric("%", None)
def prequential_accuracy(run: FinishedRun) -> float | None:
    """share of labelled training samples predicted right just before they were learned, judged by the label the
    learner was given (noisy where the curriculum makes it so)"""
    return run.tally.hits / run.tally.predicted if run.tally.predicted else None


@_metric("%", None, lower_is_better=True)
def forgetting(run: FinishedRun) -> float | None:
    """how far each earlier task fell from its best: `1/(T-1) sum_{j<T} (max_{j<=i<T} R[i, j] - R[T, j])` (Chaudhry et
    al., 2018)"""
    if len(run.R) < 2:
        return None
    # NaN below the diagonal must stay NaN, so unseen entries are masked rather than skipped.
    best = np.where(np.tri(len(run.R), dtype=bool), run.R, -1.0)[:-1, :-1].max(axis=0)
    return float((best - run.R[-1][:-1]).mean())


@_metric("%", None)
def backward_transfer(run: FinishedRun) -> float | None:
    """what later tasks did to earlier ones: `1/(T-1) sum_{j<T} (R[T, j] - R[j, j])`; negative when they hurt
    (Lopez-Paz & Ranzato, 2017)"""
    return float((run.R[-1] - np.diagonal(run.R))[:-1].mean()) if len(run.R) > 1 else None


@_metric("%", None)
def forward_transfer(run: FinishedRun) -> float | None:
    """what earlier tasks did for the next: `1/(T-1) sum_{j>1} (R[j-1, j] - R[0, j])` (Lopez-Paz & Ranzato, 2017)"""
    return float((np.diagonal(run.R, 1) - run.before[1:]).mean()) if len(run.R) > 1 else None


@_metric("%")
def balanced_accuracy(run: FinishedRun) -> float | None:
    """mean of the final recalls of the classes, however many test samples each has: `1/C sum_c n_cc / n_c`"""
    return None if run.recalls is None else float(np.nanmean(run.recalls))


@_metric("%")
def lowest_recall(run: FinishedRun) -> float | None:
    """final recall of the class that has the smallest: `min_c n_cc / n_c`"""
    return None if run.recalls is None else float(np.nanmin(run.recalls))


@_metric()
def kappa(run: FinishedRun) -> float | None:
    """final agreement beyond chance: `(a - e) / (1 - e)`, a the accuracy and e what the shares of true and predicted
    classes give by chance (Cohen, 1960)"""
    if run.confusion is None:
        return None
    table = run.confusion / run.confusion.sum()
    by_chance = float((table.sum(axis=1) * table.sum(axis=0)[:-1]).sum())
    return None if by_chance == 1 else (float(np.trace(table)) - by_chance) / (1 - by_chance)


@_metric("%")
def accuracy_after_drift(run: FinishedRun) -> float | None:
    """accuracy on each task but the first right after learning it: `1/(T-1) sum_{j>1} R[j, j]`"""
    return float(np.diagonal(run.R)[1:].mean()) if len(run.R) > 1 else None


@_metric(label="samples/s, learning", measured=True)
def samples_per_second(run: FinishedRun) -> float:
    """training samples by the seconds spent inside the learner learning them"""
    return run.tally.learned / max(run.tally.learn_seconds, 1e-9)


@_metric(label="samples/s, overall", measured=True)
def samples_per_second_overall(run: FinishedRun) -> float:
    """training samples by all seconds of the run: learning, testing, reading, writing"""
    return run.tally.learned / max(run.tally.total_seconds, 1e-9)


@_metric(label="synaptic updates per sample", lower_is_better=True)
def synaptic_updates_per_sample(run: FinishedRun) -> float:
    """weight changes by training samples"""
    return run.learner.synaptic_updates / max(run.tally.learned, 1)


@_metric(lower_is_better=True)
def operations_per_sample(run: FinishedRun) -> float | None:
    """multiply-adds of learning one sample, counted the same way for every learner (`lab/evaluation/_operations.py`)"""
    return run.operations


@_metric(lower_is_better=True)
def energy_per_sample(run: FinishedRun) -> float | None:
    """estimated energy of learning one sample, in joules: operations x 4.6 pJ, a multiplication and an addition of
    32-bit floats at 45 nm, without memory (Horowitz, 2014)"""
    return None if run.operations is None else run.operations * PICOJOULES * 1e-12


@_metric("%")
def learned_share(run: FinishedRun) -> float | None:
    """share of the training samples that were learned, the others having come while the learner was busy
    (`compute_budget`, `rate`)"""
    return run.counted("learned_share", 1.0)


@_metric("%")
def labels_given(run: FinishedRun) -> float | None:
    """share of the training samples whose label the learner had"""
    return run.counted("labels_given", run.tally.labelled / max(run.tally.learned, 1))


@_metric("B", "state", lower_is_better=True)
def state_bytes(run: FinishedRun) -> int:
    """bytes the learner must keep to keep learning, at the end of the stream"""
    return run.learner.state_bytes


@_metric("B", "peak memory growth", measured=True, lower_is_better=True)
def peak_memory_bytes(run: FinishedRun) -> int:
    """largest growth of the process's resident memory during the run, data set open and learner built, the mapped data
    set left out"""
    return run.tally.peak_bytes


@_metric("s", measured=True, lower_is_better=True)
def learn_seconds(run: FinishedRun) -> float:
    """seconds inside the learner while learning"""
    return run.tally.learn_seconds


@_metric("s", measured=True, lower_is_better=True)
def test_seconds(run: FinishedRun) -> float:
    """seconds inside the learner while being tested"""
    return run.tally.test_seconds


@_metric("s", measured=True, lower_is_better=True)
def total_seconds(run: FinishedRun) -> float:
    """seconds of the run in all; a resumed run adds up its parts"""
    return run.tally.total_seconds
