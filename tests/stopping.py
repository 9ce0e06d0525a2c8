"""Stop a call at one of its lines, as Ctrl-C, or a lack of memory, would."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import kenyon

HOME = str(Path(kenyon.__file__).parent)


class Stop(BaseException):
    """What Ctrl-C, or a lack of memory, would raise."""


Lines = list[tuple[str, int]]


@contextmanager
def stop_at(line: int) -> Iterator[Lines]:
    """Raise at the n-th line of ours that is executed, once; gives the lines executed: file and number."""
    lines: Lines = []

    def trace(frame: FrameType, event: str, argument: object) -> Callable[..., Any] | None:
        if not frame.f_code.co_filename.startswith(HOME):
            return None
        if event == "line":
            lines.append((frame.f_code.co_filename, frame.f_lineno))
            if len(lines) == line:
                raise Stop
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield lines
    finally:
        sys.settrace(before)
