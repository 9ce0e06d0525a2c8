"""A bar in a notebook while runs go on; it goes away when they have ended, and the report stands in its place."""

from __future__ import annotations

import sys
from html import escape
from typing import Any

from kenyon.utils.events import Event, Watch

MOST_UPDATES = 200
"""Times that the bar moves in a run."""


class NotebookBar(Watch):
    """A bar of all runs: how many have ended, which runs, and how far it is.

    Args:
        display: `IPython.display.display`, which gives a handle that is updated.
    """

    def __init__(self, display: Any) -> None:
        self._display, self._handle = display, None
        self._done, self._total, self._name, self._share, self._shown = 0, 0, "", 0.0, -1

    def planned(self, event: Event) -> None:
        self._done, self._total = 0, event.total
        self._show()

    def started(self, event: Event) -> None:
        self._name, self._share = event.job, 0.0
        self._show()

    def opened(self, event: Event) -> None:
        self._n_train = event.info.n_train

    def progress(self, event: Event) -> None:
        if not event.total:  # of a run, not of images that go through a backbone
            self._share = event.tally.learned / self._n_train
            self._show()

    def finished(self, event: Event) -> None:
        self._end(event)

    def failed(self, event: Event) -> None:
        self._end(event)

    def _end(self, event: Event) -> None:
        self._done, self._name, self._share, self._shown = self._done + 1, "", 0.0, -1
        self._show()

    def html(self) -> str:
        """The bar as it is now; nothing once all runs have ended."""
        if self._done >= self._total:
            return ""
        words = f"{self._done} of {self._total} runs" + (f", {escape(self._name)}" if self._name else "")
        return f'<progress value="{self._done + self._share:.3f}" max="{self._total}"></progress> {words}'

    def _show(self) -> None:
        step = int(MOST_UPDATES * (self._done + self._share))
        if step == self._shown and self._handle is not None:
            return
        self._shown = step
        shown = {"text/html": self.html(), "text/plain": ""}
        if self._handle is None:
            self._handle = self._display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)


def usual_watch() -> Watch:
    """A bar in a notebook, nothing elsewhere; outside a notebook nothing is imported to find out.

    Example:
        >>> type(usual_watch()).__name__
        'Watch'
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if type(shell).__name__ != "ZMQInteractiveShell":
        return Watch()
    from IPython.display import display

    return NotebookBar(display)
