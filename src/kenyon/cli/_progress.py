"""Progress on stderr while jobs run: a live view on a terminal, lines elsewhere.

Runs, sweeps, searches, transfers, reproductions and shards send the same events, so they have the same display.
"""

from __future__ import annotations

import sys
from time import monotonic
from typing import Any, Self

import numpy as np

from kenyon.lab.executor import reason
from kenyon.utils.events import Event, Watch
from kenyon.utils.wording import duration

MOST_LINES = 20
"""Lines that the tasks of one run have."""


def make_display(quiet: bool, single: bool = False) -> Display:
    """A display that suits this stderr.

    Args:
        quiet: whether nothing is shown.
        single: whether one configuration is run: its tasks are shown too, and its first failure ends the command,
            which then says so.
    """
    if quiet:
        return Display()
    return LiveDisplay(single) if sys.stderr.isatty() else LineDisplay(single)


class Display(Watch):
    """Shows nothing; the base class of displays, which are context managers."""

    def note(self, event: Event) -> None:
        """Ignored."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing to close."""


class Counts:
    """Counts of jobs done and running, the best score, and the expected time left."""

    def __init__(self) -> None:
        self.what, self.total, self.done, self.found, self.failed = "jobs", 0, 0, 0, 0
        self.best: float | None = None
        self.running: dict[str, float] = {}
        self._took: dict[str, list[float]] = {}

    def plan(self, event: Event) -> None:
        self.what, self.total, self.best = event.message, event.total, event.score
        self.done = event.done if event.message != "runs" else 0  # runs in the store are sent one by one

    def start(self, event: Event) -> None:
        self.running[event.job] = monotonic()

    def end(self, event: Event) -> None:
        self.done += 1
        self.running.pop(event.job, None)
        if event.kind == "failed":
            self.failed += 1
        elif event.seconds == 0:
            self.found += 1
        else:
            self._took.setdefault(event.group, []).append(event.seconds)
        if event.score is not None and (self.best is None or event.score > self.best):
            self.best = event.score

    @property
    def seconds_left(self) -> float | None:
        """From the jobs that have ended; None before the first."""
        took = [seconds for own in self._took.values() for seconds in own]
        if not took or self.done >= self.total:
            return None
        return (self.total - self.done) * sum(took) / len(took) / max(1, len(self.running))

    @property
    def left(self) -> str:
        seconds = self.seconds_left
        return "" if seconds is None else f", about {duration(seconds)} left"

    @property
    def line(self) -> str:
        words = [f"{self.done} of {self.total} {self.what}"]
        words += [f"{self.found} found in the store"] if self.found else []
        words += [f"{self.failed} failed"] if self.failed else []
        words += [f"{len(self.running)} running"] if self.running else []
        words += [f"best {100 * self.best:.2f} %"] if self.best is not None and self.total > 1 else []
        return ", ".join(words) + self.left


class LineDisplay(Display):
    """Prints a line for every job that has ended, and for every tenth of what takes long."""

    def __init__(self, single: bool = False) -> None:
        self._counts, self._single = Counts(), single
        self._shown, self._seed, self._tenths = 0, 0, dict[str, int]()

    def planned(self, event: Event) -> None:
        self._counts.plan(event)
        resumed = f"; {event.done:,} are done" if event.done and event.message != "runs" else ""
        if not self._single:
            _print(f"{event.total:,} {event.message}{resumed}")

    def started(self, event: Event) -> None:
        self._say_found()
        self._counts.start(event)

    def opened(self, event: Event) -> None:
        self._seed = event.seed or 0
        if event.tally.learned:
            _print(f"seed {event.seed}: continues after {event.tally.learned:,} samples")

    def progress(self, event: Event) -> None:
        if event.total:
            tenth = 10 * event.done // event.total
            if tenth > self._tenths.get(event.job, 0):
                self._tenths[event.job] = tenth
                _print(f"{event.job}: {event.done:,} of {event.total:,} {event.message}")

    def tested(self, event: Event) -> None:
        tally, tasks = event.tally, len(event.n_test)
        every = -(-tasks // MOST_LINES)
        if self._single and tally.row and (tally.row % every == 0 or tally.row == tasks):
            seen = tally.accuracies(np.array(event.n_test))[tally.row, : tally.row].mean()
            accuracy = "" if np.isnan(seen) else f", accuracy on the tasks so far {100 * seen:.2f} %"
            _print(f"seed {self._seed}: task {tally.row} of {tasks} learned{accuracy}")

    def finished(self, event: Event) -> None:
        if event.total:  # pieces of shards, of which there may be thousands
            tenth = 10 * event.done // event.total
            if tenth > self._tenths.get("", 0):
                self._tenths[""] = tenth
                _print(f"{event.done:,} of {event.total:,} pieces")
            return
        self._counts.end(event)
        if event.seconds:
            counts = self._counts
            _print(f"[{counts.done}/{counts.total}] {event.job}: {outcome(event)}{counts.left}")
        elif self._counts.done == self._counts.total:
            self._say_found()

    def failed(self, event: Event) -> None:
        self._counts.end(event)
        if not self._single:
            _print(f"[{self._counts.done}/{self._counts.total}] {event.job}: {outcome(event)}")

    def waiting(self, event: Event) -> None:
        name = event.folder.name if event.folder else event.job
        _print(f"{name} is being run by another process; waiting for it")

    def note(self, event: Event) -> None:
        _print(event.message)

    def _say_found(self) -> None:
        if self._counts.found > self._shown:
            self._shown = self._counts.found
            _print(f"{self._shown} {'run' if self._shown == 1 else 'runs'} found in the store")


class LiveDisplay(Display):
    """Shows a bar, what is done, which jobs run and for how long, the last ones that ended, and the time left."""

    SHOWN = 12

    def __init__(self, single: bool = False) -> None:
        from rich.console import Console
        from rich.live import Live

        self._counts, self._recent = Counts(), list[str]()
        self._run, self._share, self._single = "", 0.0, single
        self._live = Live(
            console=Console(stderr=True), transient=True, refresh_per_second=4, get_renderable=self._render
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def planned(self, event: Event) -> None:
        self._counts.plan(event)

    def started(self, event: Event) -> None:
        self._counts.start(event)

    def opened(self, event: Event) -> None:
        self._n_train, self._n_tasks = event.info.n_train, len(event.n_test)
        self.progress(event)

    def progress(self, event: Event) -> None:
        if event.total:
            self._run, self._share = (
                f"{event.job}: {event.done:,} of {event.total:,} {event.message}",
                event.done / event.total,
            )
            return
        tally = event.tally
        speed = tally.learned / tally.learn_seconds if tally.learn_seconds else 0.0
        accuracy = tally.hits / tally.predicted if tally.predicted else 0.0
        task = min(max(tally.row, 1), self._n_tasks)
        self._share = tally.learned / self._n_train
        self._run = f"task {task} of {self._n_tasks}, {speed:,.0f} samples/s, accuracy {accuracy:.1%}"

    def finished(self, event: Event) -> None:
        self._run, self._share = "", 0.0
        if event.total:
            self._counts.done = event.done
            return
        self._counts.end(event)
        if event.seconds:
            self._recent = [*self._recent[-2:], f"{event.job}: {outcome(event)}"]

    def failed(self, event: Event) -> None:
        self._counts.end(event)
        if not self._single:
            self._print(f"{event.job}: {outcome(event)}")  # stays on the screen

    def waiting(self, event: Event) -> None:
        self._run = f"waiting for another process on {event.folder.name if event.folder else event.job}"

    def note(self, event: Event) -> None:
        self._print(event.message)

    def _print(self, line: str) -> None:
        self._live.console.print(line, markup=False, highlight=False)

    def _render(self) -> Any:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.text import Text

        counts, now = self._counts, monotonic()
        if not counts.total:
            return Text(self._run or "opening")
        running = list(counts.running.items())
        lines = [counts.line, *(f"  done     {line}" for line in self._recent)]
        more = f", {self._run}" if len(running) == 1 and self._run else ""
        lines += [f"  running  {name} ({duration(now - begin)}){more}" for name, begin in running[: self.SHOWN]]
        lines += [f"  and {len(running) - self.SHOWN} more"] if len(running) > self.SHOWN else []
        bar = ProgressBar(total=counts.total, completed=counts.done + self._share, width=40)
        return Group(bar, Text("\n".join(lines), overflow="ellipsis", no_wrap=True))


def outcome(event: Event) -> str:
    """How a job ended, as text."""
    if event.error is not None:
        return f"FAILED: {reason(event.error)}"
    words = event.message or "done"
    if event.score is not None:
        words = f"accuracy {100 * event.score:.2f} %"
    return f"{words} in {duration(event.seconds)}"


def _print(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
