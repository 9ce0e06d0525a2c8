"""A run through Python's `logging`: a logger for each run, `kenyon.NAME`, for whatever handlers a program has.

Tests and results are INFO, progress is DEBUG, a failure ERROR. Numbers are in the message, and in `record.values`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kenyon.lab.watchers import _curves
from kenyon.lab.watchers._table import Log
from kenyon.utils.events import Event


class PythonLog(Log):
    """One line for each test, and one for the results."""

    def __init__(self, folder: Path, name: str, config: Mapping[str, Any], seed: int) -> None:
        super().__init__(folder, name, config, seed)
        self._logger = logging.getLogger("kenyon").getChild(name.replace(".", "-"))

    def opened(self, event: Event) -> None:
        self._say(logging.INFO, f"begins after {event.tally.learned:,} of {event.info.n_train:,} samples", {})

    def progress(self, event: Event) -> None:
        self._say(logging.DEBUG, f"{event.tally.learned:,} samples", _curves.learning(event.tally))

    def tested(self, event: Event) -> None:
        self._say(logging.INFO, f"tested after {event.tally.row} of {len(event.n_test)} tasks", _curves.testing(event))

    def finished(self, event: Event) -> None:
        self._say(logging.INFO, "finished", _curves.final(event.result))

    def failed(self, event: Event) -> None:
        self._logger.error("failed: %s", event.error)

    def _say(self, level: int, text: str, values: Mapping[str, float]) -> None:
        shown = ", ".join(f"{name} {value:.4g}" for name, value in values.items() if "/task_" not in name)
        self._logger.log(level, "%s", f"{text}: {shown}" if shown else text, extra={"values": dict(values)})
