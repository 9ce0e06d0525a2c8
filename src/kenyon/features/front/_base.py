"""The base of front ends: parts that turn the samples of a sensor into bytes with a shape."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kenyon.features.front._events import Segment
from kenyon.utils.options import Part


class FrontStream(Protocol):
    """What a front end keeps between chunks of a stream."""

    def segments(self, samples: ArrayLike) -> list[Segment]:
        """Take samples, and give the segments that they completed."""
        ...

    def gap(self) -> None:
        """Samples are missing from here on: forget those before. Time goes on."""
        ...


class FrontPart(Part):
    """A front end. `KenyonClassifier(front=...)` takes one, and saves and exports it with the model.

    Subclass it as a frozen dataclass with its options.
    """

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Shape of a window."""

    @property
    @abstractmethod
    def options(self) -> dict[str, Any]:
        """The options of `KenyonClassifier` for these windows."""

    @property
    @abstractmethod
    def hold(self) -> int:
        """Samples from one event to the next, at least, where `Events` does not say."""

    @property
    def axes(self) -> int | None:
        """Numbers of a reading; None for a single channel, whose recordings have one dimension."""
        return None

    @abstractmethod
    def stream(self) -> FrontStream:
        """A stream that has seen nothing yet."""

    @abstractmethod
    def windows(self, recording: NDArray) -> NDArray[np.uint8]:
        """The windows of one recording, a row each."""
