"""The train-and-test loop, the same for every learner and every stream.

    test before learning (row 0)
    for each task i:
        take its samples in order: predict each, then learn it (prequential; this can be left out)
        end the task
        test on every task j (row i)

The stream is cut into chunks on multiples of the learner's batch size, counted from the start of
the task, so a chunk is only a way to pass many samples at once. After each chunk and each
test the recorder may take a checkpoint; the tally says where to go on.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kenyon.data.protocol import Learner
from kenyon.data.streams import Episode, Stream
from kenyon.errors import InputError
from kenyon.lab.evaluation._machine import MemoryGauge
from kenyon.lab.evaluation._tally import Tally
from kenyon.utils.events import Event, Watch

if TYPE_CHECKING:
    from kenyon.lab.evaluation._checkpoint import Recorder

CHUNK = 1024
TEST_BLOCK = 1024
TEST_KEPT = 16 << 20
"""Bytes of test samples that are kept from one test to the next rather than read again."""
BATCHES = 8
TESTS = ("all", "seen", "last")
"""Which entries of the matrix are tested: all of them, those of tasks learned so far, or the last row alone."""
WITHHELD = 255
"""The outcome of a sample that came without a label, or was not predicted; 1 is right, 0 wrong."""


def weights_stride(learner: Learner, n_train: int, every: int | None) -> int:
    """Samples between two records of the weights, 0 for none: `every`, up to whole batches.

    Args:
        every: None for about 100 records per run; 0 for none.
    """
    if every == 0 or not hasattr(learner, "weight_means"):
        return 0
    every = max(1, n_train // 100) if every is None else every
    return -(-every // learner.batch_size) * learner.batch_size


def n_records(stream: Stream, stride: int) -> int:
    """Rows of weight means a run writes: one every `stride` samples, counted from each task's start."""
    return sum(episode.n_train // stride for episode in stream.episodes) if stride else 0


def chunk_size(learner: Learner) -> int:
    """1,024 samples for a learner that takes them one by one, eight batches for one that does not.

    Example:
        >>> from kenyon.learners import make_learner
        >>> from kenyon.data.streams import Curriculum, load_dataset
        >>> info = Curriculum().open(load_dataset("digits")).info
        >>> chunk_size(make_learner("ncm", info, 0, "class-incremental"))
        1024
    """
    return CHUNK if learner.batch_size == 1 else BATCHES * learner.batch_size


@dataclass
class Loop:
    """A run within one process, from where its tally is to the end.

    Attributes:
        stream: what to learn.
        learner: in the state that belongs to the tally.
        recorder: takes the records and the checkpoints; its tally is changed in place.
        watch: receives the events.
        stride: samples between two records of the weights (`weights_stride`).
        tests: one of `TESTS`.
        boundaries: False where the learner is not notified of task ends, only of the end of the stream.
        prequential: False where samples are learned without being predicted first.
        test_every: samples between two tests on what was seen so far; 0 for none. The tally has a row for each.
    """

    stream: Stream
    learner: Learner
    recorder: Recorder
    watch: Watch
    stride: int = 0
    tests: str = "all"
    boundaries: bool = True
    prequential: bool = True
    test_every: int = 0

    def __post_init__(self) -> None:
        self.tally: Tally = self.recorder.tally
        self.n_test = [episode.n_test for episode in self.stream.episodes]
        self.heads = self.stream.info.task_heads
        self.chunk = chunk_size(self.learner)
        # A learner that can record within a call gets whole chunks; another is cut at every record.
        records = self.prequential and 0 < self.stride < self.chunk
        self.recorded = getattr(self.learner, "learn_recorded", None) if records else None
        if self.recorded:
            self.chunk += -self.chunk % self.stride
        self.kept: dict[tuple[int, int], tuple[NDArray, NDArray[np.int64]]] = {}
        self.space = TEST_KEPT
        self.gauge = MemoryGauge()
        self.clock = perf_counter()

    def run(self) -> None:
        tally, episodes = self.tally, self.stream.episodes
        while tally.row <= len(episodes):
            if tally.row and not tally.ended:
                self.train(episodes[tally.row - 1])
            for column in range(tally.tested, len(episodes)):
                if self._is_tested(column):
                    self.test(episodes[column], column)
                tally.tested = column + 1
                self.pause(task_end=False)
            self.watch(Event("tested", tally=tally, n_test=self.n_test))
            tally.next_row()
            self.pause(task_end=True)

    def _is_tested(self, column: int) -> bool:
        """Whether this row of the matrix has an entry in a column."""
        if self.tests == "last":
            return self.tally.row == len(self.stream.episodes)
        return self.tests == "all" or column < self.tally.row

    def train(self, episode: Episode) -> None:
        """Train on the rest of a task's samples, then end it."""
        tally, n_train = self.tally, episode.n_train
        while tally.trained < n_train:
            start = tally.trained
            stop = min(start + self.chunk, n_train)
            if self.stride and not self.recorded:
                stop = min(stop, start - start % self.stride + self.stride)
            if self.test_every:
                stop = min(stop, start + self._until_test())
            point = self._point()
            self._learn(episode, start, stop)
            if self._point() > point:
                self._test_seen(self._point() - 1)
            if stop < n_train:
                self.pause(task_end=False)
        last = tally.row == len(self.stream.episodes)
        if last or self.boundaries:
            begin = perf_counter()
            self.learner.end_task(last)
            tally.learn_seconds += perf_counter() - begin
        tally.ended = 1
        self.pause(task_end=True)

    def _point(self) -> int:
        """How many tests within the stream are due by now."""
        done = self.tally.learned == self.stream.info.n_train
        return len(self.tally.curve) if done else self.tally.learned // self.test_every if self.test_every else 0

    def _until_test(self) -> int:
        """Samples until the next test, up to whole batches."""
        left = self.test_every - self.tally.learned % self.test_every
        return -(-left // self.learner.batch_size) * self.learner.batch_size

    def _test_seen(self, point: int) -> None:
        """Test on the classes seen so far; on the tasks seen so far where tasks have classes in common."""
        tally, stream = self.tally, self.stream
        n = stream.info.n_classes
        by_task = self.heads or stream.shared_classes
        once = len(stream.episodes) // stream.curriculum.repeats
        counts = np.zeros((2, n), np.int64)
        for episode in stream.episodes[: min(once, tally.row) if by_task else once]:
            if not by_task and not tally.seen[list(episode.classes)].any():
                continue
            for start in range(0, episode.n_test, TEST_BLOCK):
                X, y = self._test_block(episode, start, min(start + TEST_BLOCK, episode.n_test))
                known = tally.seen[y] > 0
                if not known.all():
                    X, y = X[known], y[known]
                begin = perf_counter()
                right = _checked(self.learner.predict(X, episode.task if self.heads else None), len(y)) == y
                tally.test_seconds += perf_counter() - begin
                counts += (np.bincount(y[right], minlength=n), np.bincount(y, minlength=n))
        tally.curve[point] = [tally.learned, *counts.sum(axis=1), *counts.ravel()]

    def _learn(self, episode: Episode, start: int, stop: int) -> None:
        tally, learner, means, predicted = self.tally, self.learner, None, None
        X, y = episode.train(start, stop)
        task = episode.task if self.heads else None
        begin = perf_counter()
        if self.recorded:
            predicted, means = self.recorded(X, y, task, self.stride)
        else:
            if self.prequential:
                predicted = learner.test_then_learn(X, y, task)
            else:
                learner.learn(X, y, task)
            if self.stride and stop % self.stride == 0:
                means = learner.weight_means()[None]  # type: ignore[attr-defined]
        tally.learn_seconds += perf_counter() - begin
        known = y >= 0
        if len(tally.seen):
            tally.seen[np.unique(y[known])] = 1
        outcomes = np.full(len(y), WITHHELD, np.uint8)
        if predicted is not None:
            right = _checked(predicted, len(y)) == y
            outcomes[known] = right[known]
            tally.predicted += int(np.count_nonzero(known))
            tally.hits += int(np.count_nonzero(right & known))
        self.recorder.outcomes(outcomes)
        if means is not None:
            self.recorder.weights(means)
            tally.records += len(means)
        tally.trained = stop
        tally.learned += stop - start
        tally.labelled += int(np.count_nonzero(known))
        self.watch(Event("progress", tally=tally))

    def test(self, episode: Episode, column: int) -> None:
        """Count the right answers on a task's test samples."""
        task = episode.task if self.heads else None
        correct, seconds, n_test = 0, 0.0, episode.n_test
        for start in range(0, n_test, TEST_BLOCK):
            X, y = self._test_block(episode, start, min(start + TEST_BLOCK, n_test))
            begin = perf_counter()
            predicted = self.learner.predict(X, task)
            seconds += perf_counter() - begin
            correct += int(np.count_nonzero(_checked(predicted, len(y)) == y))
        self.tally.correct[self.tally.row, column] = correct
        self.tally.test_seconds += seconds

    def _test_block(self, episode: Episode, start: int, stop: int) -> tuple[NDArray, NDArray[np.int64]]:
        """A block of test samples; small test sets are read once, since each is asked for after every task."""
        block = self.kept.get((episode.task, start))
        if block is None:
            block = episode.test(start, stop)
            if self.space >= block[0].nbytes:
                self.space -= block[0].nbytes
                self.kept[episode.task, start] = block
        return block

    def pause(self, task_end: bool) -> None:
        """Bring the clocks up to date and let the recorder take a checkpoint."""
        now = perf_counter()
        self.tally.total_seconds += now - self.clock
        self.clock = now
        if task_end:
            self.tally.peak_bytes = max(self.tally.peak_bytes, self.gauge.peak_growth())
        self.recorder.pause(task_end)


def _checked(predicted: NDArray, n: int) -> NDArray:
    if np.shape(predicted) != (n,):
        raise InputError(
            f"the learner returned predictions of shape {np.shape(predicted)} for {n} samples: expected ({n},)"
        )
    return predicted
