"""What a run is judged by, each number with its formula beside it.

`R[i, j]` is the accuracy on task j's test samples after learning task i, both counted from 1 to T;
`R[0, j]` is the accuracy before anything was learned. Accuracies are shares, 0 to 1. A number that
a run does not define (forgetting with one task, say) is None.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from kenyon.evaluation._tally import Tally


@dataclass(frozen=True)
class Metrics:
    """One run's numbers."""

    accuracy: float | None
    """Final average accuracy, every task counting the same: `1/T sum_j R[T, j]` (Lopez-Paz & Ranzato, 2017)."""
    sample_accuracy: float | None
    """Final accuracy, every test sample counting the same: `sum_j n_j R[T, j] / sum_j n_j`, n_j test samples of task j.
    Equals `accuracy` when all tasks have the same number of test samples."""
    anytime_accuracy: float | None
    """Average over the stream of the accuracy on the tasks seen so far: `1/T sum_i 1/i sum_{j<=i} R[i, j]`."""
    forgetting: float | None
    """How far each earlier task fell from its best: `1/(T-1) sum_{j<T} (max_{j<=i<T} R[i, j] - R[T, j])`
    (Chaudhry et al., 2018)."""
    backward_transfer: float | None
    """What later tasks did to earlier ones: `1/(T-1) sum_{j<T} (R[T, j] - R[j, j])`; negative when they hurt
    (Lopez-Paz & Ranzato, 2017)."""
    forward_transfer: float | None
    """What earlier tasks did for the next: `1/(T-1) sum_{j>1} (R[j-1, j] - R[0, j])` (Lopez-Paz & Ranzato, 2017)."""
    learning_accuracy: float | None
    """Accuracy on each task right after learning it: `1/T sum_j R[j, j]` (Riemer et al., 2019)."""
    prequential_accuracy: float | None
    """Test-then-train: the share of labelled training samples predicted right just before being learned,
    judged by the label the learner was given (noisy where the curriculum makes it so)."""
    state_bytes: int
    """Bytes the learner must keep to go on learning, at the end of the stream."""
    peak_memory_bytes: int
    """Largest resident memory of the process during the run less its resident memory at the start of the run
    (data set open, learner built), pages of the mapped data set left out."""
    samples_per_second: float
    """Training samples divided by the seconds spent inside the learner learning them (testing left out)."""
    samples_per_second_overall: float
    """Training samples divided by all seconds of the run: learning, testing, reading, writing."""
    synaptic_updates_per_sample: float
    """Weight changes made, divided by training samples."""
    learn_seconds: float
    """Seconds inside the learner while learning."""
    test_seconds: float
    """Seconds inside the learner while being tested."""
    total_seconds: float
    """Seconds of the run, all told; a resumed run adds up its parts."""


MEASURED = (
    "peak_memory_bytes",
    "samples_per_second",
    "samples_per_second_overall",
    "learn_seconds",
    "test_seconds",
    "total_seconds",
)
"""The metrics that depend on the machine and the moment; every other one is the same bits in every run of a config."""

METRIC_NAMES = tuple(field.name for field in fields(Metrics))


def accuracy_metrics(
    R: NDArray[np.float64], before: NDArray[np.float64], n_test: NDArray[np.int64]
) -> dict[str, float | None]:
    """The seven accuracy metrics of a T x T matrix (rows after task i), NaN where a task was not tested.

    Args:
        R: accuracy on task j after learning task i.
        before: accuracy on task j before learning anything.
        n_test: test samples of each task.
    """
    T = len(R)
    last, diagonal = R[-1], np.diagonal(R)
    seen = np.tri(T, dtype=bool)
    anytime = np.array([R[i, : i + 1].mean() for i in range(T)])
    values: dict[str, float] = {
        "accuracy": float(last.mean()),
        "sample_accuracy": float((last * n_test).sum() / n_test.sum()),
        "anytime_accuracy": float(anytime.mean()),
        "learning_accuracy": float(diagonal.mean()),
    }
    if T > 1:
        # NaN below the diagonal must stay NaN, so unseen entries are masked rather than skipped.
        best = np.where(seen, R, -1.0)[:-1, :-1].max(axis=0)
        values["forgetting"] = float((best - last[:-1]).mean())
        values["backward_transfer"] = float((last - diagonal)[:-1].mean())
        values["forward_transfer"] = float((np.diagonal(R, 1) - before[1:]).mean())
    undefined = dict.fromkeys(("forgetting", "backward_transfer", "forward_transfer"))
    return undefined | {name: (None if np.isnan(v) else v) for name, v in values.items()}


def metrics_of(tally: Tally, n_test: NDArray[np.int64], state_bytes: int, synaptic_updates: int) -> Metrics:
    """The metrics of a finished run from its counts."""
    R = tally.accuracies(n_test)
    labelled = tally.labelled
    return Metrics(
        **accuracy_metrics(R[1:], R[0], n_test),
        prequential_accuracy=tally.hits / labelled if labelled else None,
        state_bytes=int(state_bytes),
        peak_memory_bytes=int(tally.peak_bytes),
        samples_per_second=tally.learned / max(tally.learn_seconds, 1e-9),
        samples_per_second_overall=tally.learned / max(tally.total_seconds, 1e-9),
        synaptic_updates_per_sample=synaptic_updates / max(tally.learned, 1),
        learn_seconds=tally.learn_seconds,
        test_seconds=tally.test_seconds,
        total_seconds=tally.total_seconds,
    )


@dataclass(frozen=True)
class Summary:
    """A metric over repetitions."""

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
