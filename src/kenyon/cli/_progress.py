"""What `kenyon run` shows while it runs, on stderr: a live bar on a terminal, one line per task elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from kenyon.data.protocol import StreamInfo
from kenyon.lab.evaluation import RunResult, Tally, Watch


def make_watch(n_seeds: int, quiet: bool) -> Any:
    """A context manager that gives a `Watch` that suits this stderr."""
    if quiet:
        return _Silent()
    return LiveWatch(n_seeds) if sys.stderr.isatty() else LineWatch()


class _Silent(Watch):
    def note(self, message: str) -> None:
        """Said to nobody."""

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *error: object) -> None:
        """A `Watch` that shows nothing, as a context manager."""


class LineWatch(_Silent):
    """Prints a line for every task, and for every tenth of the images that go through a backbone."""

    def __init__(self) -> None:
        self._split, self._begin = "", 0.0
        self._elsewhere = 0

    def shared(self, n_runs: int) -> None:
        self._elsewhere = n_runs
        _say(f"{n_runs} runs are shared out among the workers")

    def extracting(self, split: str, done: int, total: int) -> None:
        if split != self._split:
            self._split, self._begin, self._first, self._tenth = split, perf_counter(), done, 0
        if done * 10 // total > self._tenth:
            self._tenth = done * 10 // total
            speed = (done - self._first) / (perf_counter() - self._begin) if done > self._first else 0.0
            left = f", {(total - done) / speed:,.0f} s left" if speed and done < total else ""
            _say(f"features of {split}: {done:,} of {total:,} images{left}")

    def note(self, message: str) -> None:
        _say(message)

    def waiting(self, folder: Path) -> None:
        _say(f"{folder.name} is being run by another process; waiting for it")

    def started(self, seed: int, info: StreamInfo, n_test: list[int], tally: Tally) -> None:
        self._seed, self._n_test = seed, np.array(n_test)
        if tally.learned:
            _say(f"seed {seed}: going on after {tally.learned:,} samples")

    def tested(self, tally: Tally) -> None:
        if tally.row:
            seen = tally.accuracies(self._n_test)[tally.row, : tally.row].mean()
            accuracy = "" if np.isnan(seen) else f", accuracy on the tasks so far {100 * seen:.2f} %"
            _say(f"seed {self._seed}: task {tally.row} of {len(self._n_test)} learned{accuracy}")

    def finished(self, result: RunResult) -> None:
        accuracy = result.metrics.accuracy
        if self._elsewhere:
            _say(f"seed {result.seed}: done" + ("" if accuracy is None else f", accuracy {100 * accuracy:.2f} %"))
        elif not hasattr(self, "_seed") or self._seed != result.seed:
            _say(f"seed {result.seed}: found complete in {result.folder}")


class LiveWatch(_Silent):
    """Shows one bar for all seeds: samples per second, accuracy so far, time left."""

    def __init__(self, n_seeds: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[speed]:>8,.0f} samples/s"),
            TextColumn("accuracy {task.fields[accuracy]:5.1%}"),
            TimeRemainingColumn(),
            TextColumn("left"),
            console=Console(stderr=True),
            transient=True,
        )
        self._id = self._bar.add_task("opening", total=None, speed=0.0, accuracy=0.0)
        self._n_seeds, self._done, self._next = n_seeds, 0, 0.0
        self._n_train, self._elsewhere = 0, False
        self._split, self._begin = "", 0.0

    def __enter__(self) -> Watch:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def extracting(self, split: str, done: int, total: int) -> None:
        if split != self._split:
            self._split, self._begin = split, perf_counter()
            self._bar.reset(self._id, description=f"features of {split}", total=total)
        seconds = perf_counter() - self._begin
        self._bar.update(self._id, completed=done, speed=done / seconds if seconds else 0.0)

    def note(self, message: str) -> None:
        self._bar.console.print(message, markup=False, highlight=False)

    def shared(self, n_runs: int) -> None:
        self._bar.reset(self._id, description=f"{n_runs} runs among the workers", total=self._n_seeds)
        self._bar.update(self._id, completed=self._done)
        self._elsewhere = True

    def waiting(self, folder: Path) -> None:
        self._bar.update(self._id, description=f"waiting for another process on {folder.name}")

    def started(self, seed: int, info: StreamInfo, n_test: list[int], tally: Tally) -> None:
        self._seed, self._n_train, self._n_tasks = seed, info.n_train, len(n_test)
        self._bar.update(self._id, total=info.n_train * self._n_seeds)
        self._show(tally)

    def learned(self, tally: Tally) -> None:
        now = perf_counter()
        if now >= self._next:
            self._next = now + 0.1
            self._show(tally)

    def tested(self, tally: Tally) -> None:
        self._show(tally)

    def finished(self, result: RunResult) -> None:
        self._done += 1
        speed, accuracy = result.metrics.samples_per_second or 0.0, result.metrics.accuracy or 0.0
        if self._elsewhere:
            self._bar.update(self._id, completed=self._done, speed=speed, accuracy=accuracy)
        else:
            self._bar.update(self._id, completed=self._done * sum(result.n_train))

    def _show(self, tally: Tally) -> None:
        task = min(max(tally.row, 1), self._n_tasks)
        self._bar.update(
            self._id,
            description=f"seed {self._seed}, task {task} of {self._n_tasks}",
            completed=self._done * self._n_train + tally.learned,
            speed=tally.learned / tally.learn_seconds if tally.learn_seconds else 0.0,
            accuracy=tally.hits / tally.labelled if tally.labelled else 0.0,
        )


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
