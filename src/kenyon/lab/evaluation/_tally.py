"""How far a run is and what it has counted so far: everything that a checkpoint holds besides the learner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

_COUNTS = ("row", "trained", "ended", "tested", "learned", "labelled", "predicted", "hits", "records", "peak_bytes")
_SECONDS = ("learn_seconds", "test_seconds", "total_seconds")


@dataclass
class Tally:
    """Counts of one run.

    Attributes:
        correct: `(T + 1, T)` right answers on task j in row i, -1 where not tested. Row 0 is before
            any learning, row i after learning the i-th task.
        row: the row under way; row i first learns task i, then is tested.
        trained: samples of the row's task learned so far.
        ended: 1 once the row's task was ended, else 0.
        tested: columns of the row done so far.
        learned: training samples handed over in total.
        labelled: samples with a label among `learned`.
        predicted, hits: those of them that were predicted before they were learned, and right.
        records: rows of weight means written.
        peak_bytes: largest resident growth seen.
        learn_seconds, test_seconds, total_seconds: time spent.
        seen: 1 for each class of which a labelled sample has come.
        curve: a row for each test within the stream: samples learned, right answers, samples tested, and the two
            counts for each class; -1 where it was not yet done.

    Example:
        >>> import numpy as np
        >>> tally = Tally.empty(n_tasks=2)
        >>> tally.correct.shape
        (3, 2)
    """

    correct: NDArray[np.int64]
    row: int = 0
    trained: int = 0
    ended: int = 0
    tested: int = 0
    learned: int = 0
    labelled: int = 0
    predicted: int = 0
    hits: int = 0
    records: int = 0
    peak_bytes: int = 0
    learn_seconds: float = 0.0
    test_seconds: float = 0.0
    total_seconds: float = 0.0
    seen: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    curve: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 3), np.int64))

    @classmethod
    def empty(cls, n_tasks: int, n_classes: int = 0, n_points: int = 0) -> Tally:
        correct, curve = np.full((n_tasks + 1, n_tasks), -1), np.full((n_points, 3 + 2 * n_classes), -1)
        return cls(correct, seen=np.zeros(n_classes, np.int64), curve=curve)

    @property
    def tests(self) -> NDArray[np.int64]:
        """The rows of `curve` that were tested: a learner with large batches cannot be stopped at every point."""
        return self.curve[self.curve[:, 0] >= 0]

    def next_row(self) -> None:
        self.row, self.trained, self.ended, self.tested = self.row + 1, 0, 0, 0

    def accuracies(self, n_test: NDArray[np.int64]) -> NDArray[np.float64]:
        """`correct / n_test`, NaN where not tested."""
        return np.where(self.correct < 0, np.nan, self.correct / np.maximum(n_test, 1))

    def to_arrays(self) -> dict[str, NDArray]:
        return {
            "correct": self.correct.copy(),
            "counts": np.array([getattr(self, name) for name in _COUNTS], dtype=np.int64),
            "seconds": np.array([getattr(self, name) for name in _SECONDS], dtype=np.float64),
            "seen": self.seen.copy(),
            "curve": self.curve.copy(),
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray]) -> Tally:
        wanted = {"correct": np.int64, "counts": np.int64, "seconds": np.float64, "seen": np.int64, "curve": np.int64}
        for name, dtype in wanted.items():
            if arrays[name].dtype != dtype:
                raise ValueError(f"{name} is of type {arrays[name].dtype}: expected {np.dtype(dtype)}")
        if not np.isfinite(arrays["seconds"]).all():
            raise ValueError("seconds are not finite")
        counts = dict(zip(_COUNTS, arrays["counts"].tolist(), strict=True))
        seconds = dict(zip(_SECONDS, arrays["seconds"].tolist(), strict=True))
        seen, curve = arrays["seen"].copy(), arrays["curve"].copy()
        return cls(arrays["correct"].copy(), **counts, **seconds, seen=seen, curve=curve)

    def check(self, n_train: Sequence[int], n_records: int, like: Tally) -> None:
        """Refuse counts that a run of these sizes cannot have.

        Args:
            n_train: training samples of each task.
            n_records: rows of weight means that the whole run has.
            like: an empty tally of this run.
        """
        n, rows = len(n_train), self.row
        here = n_train[rows - 1] if 0 < rows <= n else 0
        done = sum(n_train[: max(0, rows - 1)]) + self.trained
        fits = {
            "its answers": self.correct.shape == (n + 1, n) and bool((self.correct >= -1).all()),
            "its row": 0 <= rows <= n + 1 and 0 <= self.tested <= n and self.ended in (0, 1),
            "its samples": 0 <= self.trained <= here and self.learned == done,
            "its hits": 0 <= self.hits <= self.predicted <= self.labelled <= self.learned
            and 0 <= self.records <= n_records,
            "its curve": self.curve.shape == like.curve.shape and self.seen.shape == like.seen.shape,
            "its memory": 0 <= self.peak_bytes < 2**62,
        }
        for what, true in fits.items():
            if not true:
                raise ValueError(f"{what} do not belong to this run")
