"""What `kenyon sweep` shows while it runs: a live view on a terminal, a line for every run that ended elsewhere."""

from __future__ import annotations

import sys
from time import monotonic
from typing import Any

from kenyon.lab.evaluation import Ended, RunConfig
from kenyon.lab.sweeps import Sweep, SweepWatch, labels, why
from kenyon.utils.wording import duration


def make_display(quiet: bool) -> Any:
    """A context manager that gives a `SweepWatch` that suits this stderr."""
    if quiet:
        return _Silent()
    return LiveDisplay() if sys.stderr.isatty() else LineDisplay()


class _Silent(SweepWatch):
    def __enter__(self) -> SweepWatch:
        return self

    def __exit__(self, *error: object) -> None:
        """A `SweepWatch` that shows nothing, as a context manager."""


class Progress:
    """What is done, what runs, and how long the rest will take."""

    def __init__(self, plan: Sweep) -> None:
        names = zip(plan.configs, labels(plan.configs), strict=True)
        self.names = {config.folder_name(0): name for config, name in names}
        self.total, self.done, self.found, self.failed = plan.n_runs, 0, 0, 0
        self.running: dict[tuple[str, int], float] = {}
        self._left = {config.learner: 0 for config in plan.configs}
        for config in plan.configs:
            self._left[config.learner] += len(plan.seeds)
        self._took: dict[str, list[float]] = {}

    def name(self, config: RunConfig, seed: int) -> str:
        return f"{self.names[config.folder_name(0)]}, seed {seed}"

    def begin(self, config: RunConfig, seed: int) -> None:
        self.running[self.name(config, seed), seed] = monotonic()

    def end(self, config: RunConfig, ended: Ended) -> None:
        self.done += 1
        self._left[config.learner] -= 1
        self.running.pop((self.name(config, ended.seed), ended.seed), None)
        if ended.result is None:
            self.failed += 1
        elif ended.seconds == 0:
            self.found += 1
        else:
            self._took.setdefault(config.learner, []).append(ended.seconds)

    @property
    def seconds_left(self) -> float | None:
        """From the runs of the same learner so far, or of all where it has none; None before the first."""
        every = [seconds for took in self._took.values() for seconds in took]
        if not every:
            return None
        usual = sum(every) / len(every)
        means = {learner: sum(took) / len(took) for learner, took in self._took.items()}
        work = sum(count * means.get(learner, usual) for learner, count in self._left.items())
        return work / max(1, len(self.running))

    @property
    def line(self) -> str:
        words = [f"{self.done} of {self.total} runs"]
        words += [f"{self.found} found in the store"] if self.found else []
        words += [f"{self.failed} failed"] if self.failed else []
        words += [f"{len(self.running)} running"] if self.running else []
        left = self.seconds_left
        return ", ".join(
            words + ([f"about {duration(left)} left"] if left is not None and self.done < self.total else [])
        )


class LineDisplay(_Silent):
    """Prints a line for every run that has ended, and one for those that were there already."""

    def planned(self, plan: Sweep) -> None:
        self._progress = Progress(plan)
        self._told = 0
        _say(f"{len(plan.configs)} configurations, {plan.n_runs} runs")

    def begun(self, config: RunConfig, seed: int) -> None:
        if self._progress.found > self._told:
            self._told = self._progress.found
            _say(f"{self._told} runs found in the store")
        self._progress.begin(config, seed)

    def ended(self, config: RunConfig, ended: Ended) -> None:
        progress = self._progress
        progress.end(config, ended)
        if ended.result is not None and ended.seconds == 0:
            return
        left = progress.seconds_left
        rest = f", about {duration(left)} left" if left is not None and progress.done < progress.total else ""
        _say(f"[{progress.done}/{progress.total}] {progress.name(config, ended.seed)}: {outcome(ended)}{rest}")

    def note(self, message: str) -> None:
        _say(message)


class LiveDisplay(_Silent):
    """Shows how many runs are done, which run and for how long, the last ones that ended, and the time left."""

    SHOWN = 12

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live

        self._progress: Progress | None = None
        self._recent: list[str] = []
        self._live = Live(
            console=Console(stderr=True), transient=True, refresh_per_second=2, get_renderable=self._render
        )

    def __enter__(self) -> SweepWatch:
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def planned(self, plan: Sweep) -> None:
        self._progress = Progress(plan)

    def begun(self, config: RunConfig, seed: int) -> None:
        assert self._progress is not None
        self._progress.begin(config, seed)

    def ended(self, config: RunConfig, ended: Ended) -> None:
        assert self._progress is not None
        self._progress.end(config, ended)
        if ended.result is None:  # stays on the screen
            self.note(f"{self._progress.name(config, ended.seed)}: {outcome(ended)}")
        elif ended.seconds:
            self._recent = [*self._recent[-2:], f"{self._progress.name(config, ended.seed)}: {outcome(ended)}"]

    def note(self, message: str) -> None:
        self._live.console.print(message, markup=False, highlight=False)

    def _render(self) -> Any:
        from rich.text import Text

        if self._progress is None:
            return Text("opening")
        now, running = monotonic(), list(self._progress.running.items())
        lines = [self._progress.line, *(f"  done     {line}" for line in self._recent)]
        lines += [f"  running  {name} ({duration(now - begin)})" for (name, _), begin in running[: self.SHOWN]]
        lines += [f"  and {len(running) - self.SHOWN} more"] if len(running) > self.SHOWN else []
        return Text("\n".join(lines), overflow="ellipsis", no_wrap=True)


def outcome(ended: Ended) -> str:
    """How a run ended, in a few words."""
    if ended.result is None:
        return f"FAILED: {why(ended.error)}"
    accuracy = ended.result.metrics.accuracy
    words = "done" if accuracy is None else f"accuracy {100 * accuracy:.2f} %"
    return f"{words} in {duration(ended.seconds)}"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
