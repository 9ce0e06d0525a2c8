"""A run as event files of TensorBoard, in the folder `tensorboard` of the run's own; `tensorboard --logdir runs` shows
them. A run that goes on from a checkpoint goes on in the same curves.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kenyon.errors import require
from kenyon.lab.watchers import _curves
from kenyon.lab.watchers._table import Log

if TYPE_CHECKING:
    from kenyon.data.protocol import StreamInfo
    from kenyon.lab.evaluation import RunResult, Tally

require("tensorboard", "tensorboard", "--log tensorboard")

from tensorboard.compat.proto.event_pb2 import Event, SessionLog  # noqa: E402
from tensorboard.compat.proto.summary_pb2 import Summary  # noqa: E402
from tensorboard.plugins.text.summary_v2 import text_pb  # noqa: E402
from tensorboard.summary.writer.event_file_writer import EventFileWriter  # noqa: E402


class TensorBoardLog(Log):
    """Accuracy and speed over the samples, the configuration as text."""

    def __init__(self, folder: Path, name: str, config: Mapping[str, Any], seed: int) -> None:
        super().__init__(folder, name, config, seed)
        self._place = folder / "tensorboard"

    def started(self, seed: int, info: StreamInfo, n_test: list[int], tally: Tally) -> None:
        if not tally.learned:  # what an earlier run left does not belong to this one
            for old in self._place.glob("events.out.tfevents.*"):
                old.unlink()
        self._n_test = n_test
        self._writer = EventFileWriter(str(self._place), flush_secs=5)
        # Curves are cut back to where the run goes on.
        self._add(Event(session_log=SessionLog(status=SessionLog.START)), tally.learned)
        rows = "\n".join(f"| {k} | {v} |" for k, v in _curves.settings(dict(self.config), seed).items())
        self._add(Event(summary=text_pb("configuration", f"| key | value |\n|---|---|\n{rows}")), 0)

    def learned(self, tally: Tally) -> None:
        self._scalars(_curves.learning(tally), tally.learned)

    def tested(self, tally: Tally) -> None:
        self._scalars(_curves.testing(tally, self._n_test), tally.learned)

    def finished(self, result: RunResult) -> None:
        self._scalars(_curves.final(result), sum(result.n_train))
        self._writer.close()

    def _scalars(self, values: Mapping[str, float], step: int) -> None:
        if values:
            entries = [Summary.Value(tag=tag, simple_value=value) for tag, value in values.items()]
            self._add(Event(summary=Summary(value=entries)), step)

    def _add(self, event: Event, step: int) -> None:
        event.step, event.wall_time = step, time.time()
        self._writer.add_event(event)
