"""Motion in integers: int16 readings of an accelerometer, and perhaps a gyroscope, in; bytes with the shape
(length, channels) out.

With x a reading of 3 or 6 axes, `>>` rounding down, and M a running mean, which is gravity for an accelerometer:

    S     <- S + x - (S >> 6),   M = S >> 6            S starts at 2^6 times the first reading
    d     = x - M                                      motion without gravity
    g     = isqrt(d_x^2 + d_y^2 + d_z^2)               its magnitude, of each sensor

An entry is made of the sums D, G and V of d, g and M over `step` = 2^q readings, within 0 to 255:

    128 + (D >> (q + fine)),  G >> (q + fine + 1)      three axes and the magnitude of each sensor
    128 + (V >> (q + fine + 3))                        then gravity, of the first sensor alone

A window is the last `length` entries; the first comes when there are so many, and then one every `hop` entries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kenyon.features import Windows
from kenyon.features.front._base import FrontPart
from kenyon.features.front._events import MOST_CLIPPED, Segment
from kenyon.features.front._integers import check_between, checked_samples, isqrt
from kenyon.utils.options import option

MEAN = 6
"""The running mean is over about 2^MEAN readings."""

AXES = 3
MOST_LENGTH = 256


@dataclass(frozen=True, repr=False)
class Motion(FrontPart):
    """The front end for motion.

    Example:
        >>> import numpy as np
        >>> front = Motion(inputs=3)
        >>> front.shape, front.transform(np.zeros((300, 3), np.int16)).shape
        ((32, 7), (3, 224))
    """

    name: ClassVar[str] = "motion"

    inputs: int = option(
        3, "Axes of a reading: 3 (an accelerometer) or 6 (a gyroscope after it).", "integer", allowed=(AXES, 2 * AXES)
    )
    length: int = option(32, "Entries of a window.", "integer", low=2, high=MOST_LENGTH)
    hop: int = option(16, "Entries from one window to the next.", "integer", high=MOST_LENGTH)
    step: int = option(4, "Readings in an entry.", "integer", allowed=(1, 2, 4, 8, 16, 32, 64))
    fine: int = option(
        4,
        "2^fine units of the sensor are one step of a byte; 4 suits an accelerometer with 8192 units for 1 g.",
        "integer", low=0, high=8,
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        check_between("hop", self.hop, 1, self.length)

    @property
    def channels(self) -> int:
        """Bytes of an entry."""
        return self.inputs + self.inputs // AXES + AXES

    @property
    def shape(self) -> tuple[int, int]:
        return self.length, self.channels

    @property
    def options(self) -> dict[str, Any]:
        """The options of `KenyonClassifier` for these windows. Steps begin anywhere, so units are shifted far."""
        windows = Windows(window=max(2, self.length // 8), shifts=self.length // 2)
        return {"shape": self.shape, "axes": "tc", "features": windows}

    @property
    def axes(self) -> int | None:
        return self.inputs

    @property
    def hold(self) -> int:
        """Readings from one event to the next, at least, where nothing else is wanted: those of a window."""
        return self.length * self.step

    def stream(self) -> MotionStream:
        """A stream that has seen nothing yet."""
        return MotionStream(self)

    def windows(self, recording: NDArray) -> NDArray[np.uint8]:
        """All windows of a recording, a row each."""
        return self.transform(recording)

    def transform(self, readings: ArrayLike) -> NDArray[np.uint8]:
        """All windows of one recording, `(n, length * channels)`; `spans` says where they are."""
        windows = self.stream().feed(readings)
        return np.array(windows, np.uint8).reshape(len(windows), self.length * self.channels)

    def spans(self, n_readings: int) -> NDArray[np.int64]:
        """Where the windows of a recording with this many readings begin and end, `(n, 2)`."""
        starts = np.arange(0, n_readings // self.step - self.length + 1, self.hop) * self.step
        return np.stack([starts, starts + self.length * self.step], axis=1)


class MotionStream:
    """Motion as it comes.

    Example:
        >>> import numpy as np
        >>> stream = Motion(inputs=3).stream()
        >>> [len(stream.feed(np.zeros((64, 3), np.int16))) for _ in range(4)]
        [0, 1, 1, 1]
    """

    def __init__(self, front: Motion) -> None:
        self.front = front
        self._n_readings = 0
        self.gap()

    def gap(self) -> None:
        """Readings are missing from here on: forget those before, so that no window goes across. Time goes on."""
        front = self.front
        self._sums: NDArray[np.int64] | None = None
        self._readings = np.zeros((0, front.inputs), np.int64)
        self._entries = np.zeros((0, front.channels), np.uint8)
        self._wait, self._clipped = front.length, 0

    def segments(self, readings: ArrayLike) -> list[Segment]:
        """Take readings, and give a segment for each window that they completed."""
        front, found = self.front, []
        x = checked_samples(readings, "readings", front.inputs)
        clipped = ((x == 32767) | (x == -32768)).sum(axis=1)
        for reading, limits in zip(x.astype(np.int16), clipped, strict=True):
            self._clipped = min(MOST_CLIPPED, self._clipped + int(limits))
            for window in self.feed(reading[np.newaxis]):
                end = self._n_readings
                start = end - front.length * front.step
                found.append(Segment(window, start, end, end, False, self._clipped))
                self._clipped = 0
        return found

    def feed(self, readings: ArrayLike) -> list[NDArray[np.uint8]]:
        """Take readings, `(n, inputs)`, and give the windows that they completed, `(length, channels)` each."""
        front = self.front
        readings = np.concatenate([self._readings, checked_samples(readings, "readings", front.inputs)])
        self._n_readings += len(readings) - len(self._readings)
        n = len(readings) // front.step
        entries = np.concatenate([self._entries, self._make(readings[: n * front.step])])
        windows = []
        for end in range(len(self._entries) + 1, len(entries) + 1):
            self._wait -= 1
            if not self._wait:
                windows.append(entries[end - front.length : end])
                self._wait = front.hop
        self._readings, self._entries = readings[n * front.step :], entries[-front.length :]
        return windows

    def _make(self, x: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Entries of readings whose number is a multiple of `step`."""
        front = self.front
        means = np.empty_like(x)
        for t, reading in enumerate(x):
            if self._sums is None:
                self._sums = reading << MEAN
            self._sums = self._sums + reading - (self._sums >> MEAN)
            means[t] = self._sums >> MEAN
        d = x - means
        sensors = front.inputs // AXES
        g = isqrt((d * d).reshape(len(x), sensors, AXES).sum(axis=2))
        D, G, V = (part.reshape(-1, front.step, part.shape[1]).sum(axis=1) for part in (d, g, means[:, :AXES]))
        down = front.step.bit_length() - 1 + front.fine
        columns = [
            part for s in range(sensors)
            for part in (128 + (D[:, AXES * s : AXES * (s + 1)] >> down), G[:, s : s + 1] >> (down + 1))
        ]  # fmt: skip
        return np.clip(np.concatenate([*columns, 128 + (V >> (down + 3))], axis=1), 0, 255).astype(np.uint8)
