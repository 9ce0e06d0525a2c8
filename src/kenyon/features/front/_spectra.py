"""Spectra of sound in integers: int16 samples in, bytes with the shape (frames, bands) out.

A frame is made of every `hop` samples and those before them, N in all; before the first sample there are zeros. With
x the samples of a frame, and `>>` rounding down:

    s     = the largest number up to 14 with max |x| 2^s <= 2^14      the frame's own scale, -1 at least
    y_n   = (x_n h_n + 2^(14-s)) >> (15 - s)                          h = (2^15 - cos) >> 1, a Hann window
    z_n   = y_2n + i y_2n+1                                           two real numbers as one complex number
    Z     = FFT of z of N / 2 points, halved in each step             radix 2, decimation in time
    X_k   = (Z_k + Z*_N/2-k - i W^k (Z_k - Z*_N/2-k)) / 2             2 / N times the spectrum of y
    E_b   = sum_k w_bk |X_k|^2                                        triangles of 0 to 256, even on the mel scale
    l_b   = 8 log2 E_b - 16 s - 32,  within 0 to 255                  a step is 0.376 dB
    e     = the same of sum_b E_b                                     the level of the frame

The last `kept` frames are kept, `bands` + 1 bytes each. A window is made of these alone, of no sample to come:

    p     = the first frame with the largest e
    e_on  = max(e_p - 48, min(20 + the least e, e_p - 16))            18 dB below, or above the noise
    a, c  = the first and last frame around p with e >= e_on, one more on each side;
            at most `gap` frames in a row are below
    m, n_b = the largest l in a to c; the least l_b of all kept frames, which is noise
    v_tb  = max(0, r(m - l_tb) - r(m - n_b)),   r(d) = 255 2^(-d/32)  fourth roots of energies
    d_t   = sum_b |v_tb - v_t-1,b|                                    how much the sound changes, a < t <= c
    s_t   = d_t + 2 sum_t d_t / 3 (c - a) + 1                         three fifths change, two fifths time
    y_j   = v at the place where the s_t add up to j / (frames - 1) of their sum
    u_jb  = (y_j,b-1 + 2 y_jb + y_j,b+1 + 2) / 4                      the band at an edge is its own neighbour

Every sound gets the same length, and entries lie closer where it changes: speakers hold vowels for different times
(trace segmentation: Kuhn and Tomaschewski, 1983). Vocal tracts differ in length, which moves a sound by a part of a
band: bands are mixed with their neighbours.

A stream is cut into segments after each frame. With n kept frames, the newest of which is n - 1:

    ended    = n - 1 - c >= max(1, gap)           frames up to c are then forgotten, so that the next sound is found;
                                                  one that begins with what is left of it (a = 0) is none
    goes on  = n = kept,  a <= gap,  not ended    asked about every 16 frames

A recording gives the window that the stream has `kept` / 2 frames after the loudest of all frames, or at its end.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kenyon.errors import ConfigError, InputError
from kenyon.features.front._base import FrontPart
from kenyon.features.front._events import MOST_CLIPPED, Segment
from kenyon.features.front._integers import CIRCLE, check_between, checked_samples, log8, sines, spectrum
from kenyon.utils.options import option

FRAME = {8000: 256, 16000: 512}
"""Samples of a frame, by the rate: 32 ms. A frame comes every 16 ms."""

BELOW, ABOVE, LEAST = 48, 20, 16
"""In steps of a level: how far below the peak a sound ends, how far above the noise, and at least below the peak."""

ROOTS = np.array([round(255 * 256 * 2 ** (-k / 32)) for k in range(32)])
MOST_BANDS, MOST_FRAMES, MOST_KEPT = 40, 64, 256
TOGETHER = 32
EVERY = 16
"""Frames from one segment of a sound that goes on to the next."""

PLACES = 16
"""Edges of bands lie at sixteenths of a bin."""


class Sound(NamedTuple):
    """The loudest sound of the kept frames.

    Attributes:
        length: in frames; 0 before the first frame.
        ago: frames since its end.
        level, noise: of the loudest and of the quietest frame, in steps of 0.376 dB.

    Example:
        >>> Sound(length=12, ago=3, level=180, noise=60).length
        12
    """

    length: int
    ago: int
    level: int
    noise: int


@dataclass(frozen=True, repr=False)
class Spectra(FrontPart):
    """The front end for sound. With the same `low` and `high` both rates give nearly the same windows.

    Example:
        >>> import numpy as np
        >>> tone = np.round(8000 * np.sin(np.arange(4000) * 0.8)).astype(np.int16)
        >>> Spectra(rate=8000).transform([tone]).shape
        (1, 400)
    """

    name: ClassVar[str] = "spectra"

    rate: int = option(8000, "Samples a second.", "integer", allowed=tuple(FRAME))
    frames: int = option(20, "Entries of a window along time.", "integer", low=2, high=MOST_FRAMES)
    bands: int = option(20, "Entries of a window along frequency.", "integer", low=2, high=MOST_BANDS)
    low: int = option(100, "Where the lowest band begins, in Hz.", "integer", low=0)
    high: int = option(3800, "Where the highest band ends, in Hz.", "integer", low=0)
    kept: int = option(96, "Frames that are kept, of 16 ms each.", "integer", low=2, high=MOST_KEPT)
    gap: int = option(16, "Frames in a row that a sound may be quiet for.", "integer", low=0, high=MOST_KEPT)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_between("gap", self.gap, 0, self.kept)
        check_between("low", self.low, 0, self.rate // 2)
        check_between("high", self.high, self.low, self.rate // 2)
        edges = self.edges
        if any(one >= other for one, other in pairwise(edges)):
            raise ConfigError(
                f"bands is {self.bands} from {self.low} to {self.high} Hz: expected fewer, or a wider range"
            )

    @property
    def shape(self) -> tuple[int, int]:
        return self.frames, self.bands

    @property
    def options(self) -> dict[str, Any]:
        """The options of `KenyonClassifier` for these windows."""
        return {"shape": self.shape}

    @property
    def hold(self) -> int:
        """Samples from one event to the next, at least, where nothing else is wanted: a quarter of a second."""
        return self.rate // 4

    @property
    def size(self) -> int:
        """Samples of a frame."""
        return FRAME[self.rate]

    @property
    def hop(self) -> int:
        """Samples from one frame to the next."""
        return self.size // 2

    @property
    def edges(self) -> tuple[int, ...]:
        """Where bands begin, peak and end, in sixteenths of a bin: band b has the entries b, b + 1 and b + 2."""
        low, high = (math.log2(1 + f / 700) for f in (self.low, self.high))
        mels = (low + (high - low) * b / (self.bands + 1) for b in range(self.bands + 2))
        return tuple(round(PLACES * self.size / self.rate * 700 * (2**mel - 1)) for mel in mels)

    @cached_property
    def _weights(self) -> NDArray[np.int64]:
        """w, (bins, bands): a bin between two edges belongs to the band that falls there and to the one that rises."""
        edges, half = self.edges, self.size // 2
        weights = np.zeros((half, self.bands + 2), np.int64)
        for j, (left, right) in enumerate(pairwise(edges)):
            for k in range(-(-left // PLACES), min(half, -(-right // PLACES))):
                rising = 256 * (PLACES * k - left) // (right - left)
                weights[k, j : j + 2] = 256 - rising, rising
        return weights[:, 1:-1]

    def stream(self) -> SpectraStream:
        """A new stream."""
        return SpectraStream(self)

    def windows(self, recording: NDArray) -> NDArray[np.uint8]:
        """The one window of a recording, a row."""
        return self.transform([recording])

    def transform(self, recordings: Iterable[ArrayLike]) -> NDArray[np.uint8]:
        """One window for each recording, `(n, frames * bands)`.

        Args:
            recordings: int16 samples, `(n,)` each, of any length.
        """
        windows = [self._recording_window(logs) for logs in self._recording_logs(recordings)]
        return np.array(windows, np.uint8).reshape(len(windows), self.frames * self.bands)

    def _recording_logs(self, recordings: Iterable[ArrayLike]) -> Iterator[NDArray[np.int64]]:
        """l and e of each recording; some are computed together, which is faster."""
        rest = iter(recordings)
        while some := list(islice(rest, TOGETHER)):
            framed = [self._framed(recording) for recording in some]
            ends = np.cumsum([len(frames) for frames in framed])
            yield from np.split(self._logs(np.concatenate(framed)), ends[:-1])

    def _framed(self, recording: ArrayLike) -> NDArray[np.int64]:
        samples = checked_samples(recording, "samples")
        if not len(samples):
            raise InputError("a recording has no samples: expected some")
        return self._frames(np.pad(samples, (self.hop, -len(samples) % self.hop)))

    def _frames(self, samples: NDArray[np.int64]) -> NDArray[np.int64]:
        """All frames in the samples, (n, N)."""
        n = (len(samples) - self.size) // self.hop + 1
        return samples[np.arange(n)[:, None] * self.hop + np.arange(self.size)]

    def _recording_window(self, logs: NDArray[np.int64]) -> NDArray[np.uint8]:
        end = min(len(logs), int(logs[:, -1].argmax()) + self.kept // 2 + 1)
        return self._window(logs[max(0, end - self.kept) : end])

    def _logs(self, x: NDArray[np.int64]) -> NDArray[np.int64]:
        """l and e of frames x, (n, bands + 1)."""
        top = np.abs(x).max(axis=1, initial=0)
        s = np.full(len(x), 14)
        for scale in range(14, -1, -1):
            s[top << scale > 1 << 14] = scale - 1
        s = s[:, None]
        turn = CIRCLE // self.size
        hann = (32768 - sines(np.arange(self.size) * turn + CIRCLE // 4)) >> 1
        re, im = spectrum((x * hann + (1 << (14 - s))) >> (15 - s))
        energies = (re * re + im * im) @ self._weights
        energies = np.concatenate([energies, energies.sum(axis=1, keepdims=True)], axis=1)
        return np.clip(log8(energies) - 16 * s - 32, 0, 255)

    def _sound(self, levels: NDArray[np.int64]) -> tuple[int, int]:
        """a and c."""
        peak = int(levels.argmax())
        loudest = levels[peak]
        on = levels >= max(loudest - BELOW, min(levels.min() + ABOVE, loudest - LEAST))
        first = last = peak
        for t in range(peak, -1, -1):
            if first - t > self.gap + 1:
                break
            first = t if on[t] else first
        for t in range(peak, len(levels)):
            if t - last > self.gap + 1:
                break
            last = t if on[t] else last
        return max(0, first - 1), min(len(levels) - 1, last + 1)

    def _window(self, logs: NDArray[np.int64]) -> NDArray[np.uint8]:
        first, last = self._sound(logs[:, -1])
        values = self._values(logs[first : last + 1, :-1], logs[:, :-1])
        at, part = self._places(values)
        following = np.minimum(at + 1, len(values) - 1)
        entries = (values[at] * (256 - part) + values[following] * part + 128) >> 8
        return self._mixed(entries).astype(np.uint8)

    def _places(self, values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The frame before each entry, and how far behind it in 1/256."""
        moved = np.abs(np.diff(values, axis=0)).sum(axis=1)
        steps = np.append(moved + 2 * moved.sum() // (3 * max(1, len(moved))) + 1, 1)
        sums = np.cumsum(steps) - steps
        wanted = np.arange(self.frames) * sums[-1] // (self.frames - 1)
        at = np.searchsorted(sums, wanted, side="right") - 1
        return at, ((wanted - sums[at]) * 256 // steps[at])[:, None]

    def _mixed(self, entries: NDArray[np.int64]) -> NDArray[np.int64]:
        """Each band with its neighbours."""
        padded = np.pad(entries, ((0, 0), (1, 1)), "edge")
        return (padded[:, :-2] + 2 * entries + padded[:, 2:] + 2) >> 2

    def _values(self, sound: NDArray[np.int64], kept: NDArray[np.int64]) -> NDArray[np.int64]:
        """v of the frames of a sound."""
        top = sound.max()
        return np.maximum(0, _root(top - sound) - _root(top - kept.min(axis=0)))


class SpectraStream:
    """Sound as it comes.

    Example:
        >>> import numpy as np
        >>> stream = Spectra(rate=8000).stream()
        >>> [stream.feed(np.zeros(100, np.int16)) for _ in range(4)]
        [0, 1, 1, 1]
    """

    def __init__(self, front: Spectra) -> None:
        self.front = front
        self._frames = 0
        self.gap()

    def gap(self) -> None:
        """Samples are missing here: drop the buffered sound, so that no segment spans the gap. Time goes on."""
        self._samples = np.zeros(self.front.hop, np.int64)
        self._logs = np.zeros((0, self.front.bands + 1), np.int64)
        self._wait, self._clipped, self._cut = 0, 0, False

    def feed(self, samples: ArrayLike) -> int:
        """Take samples, and give how many frames they completed."""
        new = self._take(samples)[0]
        self._frames += len(new)
        self._logs = np.concatenate([self._logs, new])[-self.front.kept :]
        return len(new)

    def segments(self, samples: ArrayLike) -> list[Segment]:
        """Take samples, and give the sounds that ended in them, and windows of one that goes on."""
        found = []
        for log, clipped in zip(*self._take(samples), strict=True):
            self._frames += 1
            self._clipped = min(MOST_CLIPPED, self._clipped + int(clipped))
            self._cut = self._cut and len(self._logs) < self.front.kept
            self._logs = np.concatenate([self._logs, log[np.newaxis]])[-self.front.kept :]
            found += self._segment()
        return found

    def _take(self, samples: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The frames that samples complete, and how many new samples of each are at the limits."""
        samples = np.concatenate([self._samples, checked_samples(samples, "samples")])
        hop = self.front.hop
        n = len(samples) // hop - 1
        self._samples = samples[n * hop :]
        if not n:
            return np.zeros((0, self.front.bands + 1), np.int64), np.zeros(0, np.int64)
        new = samples[hop : (n + 1) * hop].reshape(n, hop)
        clipped = ((new == 32767) | (new == -32768)).sum(axis=1)
        return self.front._logs(self.front._frames(samples[: (n + 1) * hop])), clipped

    def _segment(self) -> list[Segment]:
        """The segment that the newest frame completes."""
        front, levels = self.front, self._logs[:, -1]
        self._wait = max(0, self._wait - 1)
        if not levels.max():
            return []
        first, last = front._sound(levels)
        newest = len(levels) - 1
        ended = newest - last >= max(1, front.gap)
        goes_on = not ended and newest + 1 == front.kept and first <= front.gap and not self._wait
        begins = first > 0 or not self._cut
        found = []
        if (ended and begins) or goes_on:
            oldest = self._frames - len(levels)
            start, end = ((oldest + first) * front.hop, (oldest + last + 1) * front.hop)
            found = [Segment(self.window(), start, end, self._frames * front.hop, ended, self._clipped)]
            self._clipped = 0
        if ended:
            self._logs, self._cut, self._wait = self._logs[last + 1 :], True, 0
        elif goes_on:
            self._wait = EVERY
        return found

    def sound(self) -> Sound:
        """The loudest sound of the kept frames."""
        if not len(self._logs):
            return Sound(0, 0, 0, 0)
        levels = self._logs[:, -1]
        first, last = self.front._sound(levels)
        return Sound(last - first + 1, len(levels) - 1 - last, int(levels.max()), int(levels.min()))

    def window(self) -> NDArray[np.uint8]:
        """The window of now, `(frames, bands)`; zeros before the first frame."""
        if not len(self._logs):
            return np.zeros(self.front.shape, np.uint8)
        return self.front._window(self._logs)


def _root(d: NDArray[np.int64]) -> NDArray[np.int64]:
    return ((ROOTS[d & 31] >> (d >> 5)) + 128) >> 8
