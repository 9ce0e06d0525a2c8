"""From a stream of windows to events, in integers; `export/c/events.c` does the same.

A front end cuts its stream into segments (`stream.segments`): a sound that has ended, or a window of something that
goes on. Each gets a label, or none: where it is of the class `nothing`, or farther from its class than `reject` allows.
With t the sample at which a segment is known:

    run   = 1 + run if the label is that of the segment before, else 1; 0 without a label
    event if  (the sound has ended and there is a label,  or  run >= agree and none of this run was an event)
              and t - (the t of the last event) >= hold
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import ConfigError
from kenyon.features.front._integers import check_between

MOST_CLIPPED = 65_535
MOST_HOLD = 2**31 - 1
MOST_REJECT = 2**20


class Segment(NamedTuple):
    """A part of a stream that is asked about.

    Attributes:
        window: bytes, as the classifier learns them.
        start, end: samples of the stream.
        known: the sample at which the segment was complete; none of those after it was needed.
        ended: whether it is a sound that has ended; else something that goes on.
        clipped: samples at the limits of int16 since the segment before.

    Example:
        >>> import numpy as np
        >>> Segment(np.zeros((20, 20), np.uint8), start=0, end=4000, known=6000, ended=True, clipped=0).ended
        True
    """

    window: NDArray[np.uint8]
    start: int
    end: int
    known: int
    ended: bool
    clipped: int


class Event(NamedTuple):
    """What was recognised in a stream, and where.

    Attributes:
        label: its class.
        start, end: the samples that it was recognised by.
        clipped: how many of them, and since the segment before, were at the limits of int16.

    Example:
        >>> Event("yes", start=1600, end=5600, clipped=0).label
        'yes'
    """

    label: Hashable
    start: int
    end: int
    clipped: int


@dataclass(frozen=True)
class Events:
    """How labels of segments become events.

    Args:
        agree: segments of something that goes on (motion, or a sound without an end) that have to agree in a row.
        hold: samples (readings of motion) from one event to the next, at least. None: the front end's own.
        nothing: the label of a class that makes no event, such as the sound of the room.
        reject: ignore what is farther from its class than this, in squared standard deviations for each unit. Samples
            of a class are at about 0.5; with some 40 examples of each class, 1 ignores most of what is like none. None
            to ignore nothing. Of second-order layers in integers.

    Example:
        >>> Events(agree=2, nothing="room", reject=1).agree
        2
    """

    agree: int = 3
    hold: int | None = None
    nothing: Hashable = None
    reject: float | None = None

    def __post_init__(self) -> None:
        check_between("agree", self.agree, 1, 255)
        if self.hold is not None:
            check_between("hold", self.hold, 1, MOST_HOLD)
        number = isinstance(self.reject, (int, float)) and not isinstance(self.reject, bool)
        if self.reject is not None and not (number and 0.1 <= self.reject <= MOST_REJECT):
            raise ConfigError(f"reject is {self.reject!r}: expected None, or 0.1 or more; 1 is usual")

    @property
    def limit(self) -> int | None:
        """`reject` in 1/256, as it is compared."""
        return None if self.reject is None else round(256 * self.reject)


class Smoothing:
    """The state between segments.

    Args:
        events: how.
        hold: the front end's own, where `events` has none.

    Example:
        >>> smoothing = Smoothing(Events(agree=2), hold=100)
        >>> going_on = Segment(None, 0, 128, 128, ended=False, clipped=0)
        >>> [smoothing.take("walk", going_on) is not None for _ in range(3)]
        [False, True, False]
    """

    def __init__(self, events: Events, hold: int) -> None:
        self.events = events
        self.hold = hold if events.hold is None else events.hold
        self.last: int | None = None
        self.forget()

    def forget(self) -> None:
        """A gap in the stream: what comes next is nothing that went on before it."""
        self._label: Any = None
        self._run, self._done = 0, False

    def take(self, label: Hashable, segment: Segment) -> Event | None:
        """The event that a segment with this label, or None, makes."""
        if label is None or label == self.events.nothing:
            self.forget()
            return None
        if self._run and label == self._label:
            self._run = min(self._run + 1, 255)
        else:
            self._label, self._run, self._done = label, 1, False
        due = segment.ended or (self._run >= self.events.agree and not self._done)
        if not due or (self.last is not None and segment.known - self.last < self.hold):
            return None
        self._done, self.last = True, segment.known
        return Event(label, segment.start, segment.end, segment.clipped)
