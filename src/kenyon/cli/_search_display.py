"""What `kenyon search` shows while it searches: a live table on a terminal, one line per new best elsewhere."""

from __future__ import annotations

import sys
from typing import Any

from kenyon.lab.search import DONE, Evaluation, SearchWatch, best_of


def make_display(quiet: bool) -> Any:
    """A context manager that gives a `SearchWatch` that suits this stderr."""
    if quiet:
        return _Silent()
    return LiveDisplay() if sys.stderr.isatty() else LineDisplay()


def by_rule(evaluations: list[Evaluation]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Evaluations and best accuracy of each rule (or layer, where the space begins with these), best first."""
    rules = sorted({e.choice for e in evaluations})
    rows = []
    for rule in rules:
        own = [e for e in evaluations if e.choice == rule]
        best, done = best_of(own), sum(e.outcome.status == DONE for e in own)
        shown = f"{100 * best.outcome.score:.2f}" if best else "-"
        rows.append((best.outcome.score if best else -1.0, (rule, str(len(own)), str(len(own) - done), shown)))
    rows.sort(key=lambda row: -row[0])
    first = next(iter(evaluations[0].point)) if evaluations else "rule"
    return (first, "evaluations", "of them given up", "best"), [row for _, row in rows]


class _Silent(SearchWatch):
    def __enter__(self) -> SearchWatch:
        return self

    def __exit__(self, *error: object) -> None:
        """A `SearchWatch` that shows nothing, as a context manager."""


class LineDisplay(_Silent):
    """Prints a line for every new best."""

    def started(self, evaluations: list[Evaluation], wanted: int) -> None:
        best = best_of(evaluations)
        self._best, self._done, self._wanted = best.outcome.score if best else -1.0, len(evaluations), wanted
        if evaluations:
            _say(f"going on after {len(evaluations)} of {wanted} evaluations")

    def ended(self, evaluation: Evaluation, running: int) -> None:
        self._done += 1
        if evaluation.outcome.status == DONE and evaluation.outcome.score > self._best:
            self._best = evaluation.outcome.score
            _say(f"{self._done} of {self._wanted}: new best {100 * self._best:.2f} % with {evaluation.choice}")


class LiveDisplay(_Silent):
    """Shows the evaluations done, running and failed, the best so far, and the same by rule."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live

        self._live = Live(console=Console(stderr=True), transient=True, auto_refresh=False)

    def __enter__(self) -> SearchWatch:
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def started(self, evaluations: list[Evaluation], wanted: int) -> None:
        self._evaluations, self._wanted = list(evaluations), wanted
        self._show(0)

    def ended(self, evaluation: Evaluation, running: int) -> None:
        self._evaluations.append(evaluation)
        self._show(running)

    def _show(self, running: int) -> None:
        from rich.table import Table

        best = best_of(self._evaluations)
        shown = f"best {100 * best.outcome.score:.2f} % ({best.choice})" if best else "no result yet"
        title = f"{len(self._evaluations)} of {self._wanted} evaluations, {running} running, {shown}"
        table = Table(title=title, title_justify="left")
        columns, rows = by_rule(self._evaluations)
        for i, column in enumerate(columns):
            table.add_column(column, justify="left" if i == 0 else "right")
        for row in rows:
            table.add_row(*row)
        self._live.update(table, refresh=True)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
