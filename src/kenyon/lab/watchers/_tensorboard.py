"""A run as event files of TensorBoard, in the folder `tensorboard` of the run's own; `tensorboard --logdir runs` shows
them. A run that continues from a checkpoint goes on in the same curves.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kenyon.errors import require
from kenyon.lab.watchers import _curves
from kenyon.utils import events

require("tensorboard", "tensorboard", "--log tensorboard")

from tensorboard.compat.proto.event_pb2 import Event, SessionLog  # noqa: E402
from tensorboard.compat.proto.summary_pb2 import Summary  # noqa: E402
from tensorboard.plugins.text.summary_v2 import text_pb  # noqa: E402
from tensorboard.summary.writer.event_file_writer import EventFileWriter  # noqa: E402


class TensorBoardLog(_curves.CurveLog):
    """Accuracy and speed over the samples, the configuration as text."""

    def __init__(self, folder: Path, name: str, config: Mapping[str, Any], seed: int) -> None:
        super().__init__(folder, name, config, seed)
        self._place = folder / "tensorboard"

    def opened(self, event: events.Event) -> None:
        if not event.tally.learned:  # what an earlier run left does not belong to this one
            for old in self._place.glob("events.out.tfevents.*"):
                old.unlink()
        self._writer = EventFileWriter(str(self._place), flush_secs=5)
        # Curves are cut back to where the run goes on.
        self._add(Event(session_log=SessionLog(status=SessionLog.START)), event.tally.learned)
        rows = "\n".join(f"| {k} | {v} |" for k, v in _curves.settings(dict(self.config), self.seed).items())
        self._add(Event(summary=text_pb("configuration", f"| key | value |\n|---|---|\n{rows}")), 0)

    def close(self) -> None:
        self._writer.close()

    def write(self, values: Mapping[str, float], step: int) -> None:
        if values:
            entries = [Summary.Value(tag=tag, simple_value=value) for tag, value in values.items()]
            self._add(Event(summary=Summary(value=entries)), step)

    def _add(self, event: Event, step: int) -> None:
        event.step, event.wall_time = step, time.time()
        self._writer.add_event(event)
