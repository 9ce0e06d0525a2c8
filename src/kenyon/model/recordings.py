"""Recordings of a sensor as samples: one window of a sound, or all windows of a motion."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import ConfigError, InputError
from kenyon.features.front import Motion, Spectra

CLIPPED = 0.01
"""Share of a recording's samples at the limits of int16 that is warned of."""


def windows_of(front: Spectra | Motion, X: Any) -> tuple[Any, NDArray[np.int64] | None]:
    """Samples in bytes, and how many each recording has; None where the samples are windows already.

    Example:
        >>> front = Spectra()
        >>> tone = np.round(8000 * np.sin(np.arange(4000) * 0.8)).astype(np.int16)
        >>> windows, counts = windows_of(front, [tone, tone])
        >>> windows.shape, counts.tolist()
        ((2, 400), [1, 1])
    """
    if getattr(X, "dtype", None) == np.uint8:
        return X, None
    found = [_windows(front, recording, number) for number, recording in enumerate(X)]
    counts = np.array([len(windows) for windows in found], np.int64)
    width = front.shape[0] * front.shape[1]
    return np.concatenate([np.zeros((0, width), np.uint8), *found]), counts


def check_front(front: Any) -> Spectra | Motion | None:
    """A front end, or None."""
    if front is not None and not isinstance(front, (Spectra, Motion)):
        raise ConfigError(f"front is {front!r}: expected None, Spectra(...) or Motion(...) of kenyon.features.front")
    return front


def front_options(values: Mapping[str, Any], n_inputs: int) -> dict[str, Any]:
    """Options that the front end sets where they are left open; refuses those that contradict it."""
    front = check_front(values["front"])
    if front is None:
        return {}
    width = front.shape[0] * front.shape[1]
    if n_inputs != width:
        raise InputError(f"a sample has {n_inputs} bytes: expected {width}, a window of {front}")
    if values["shape"] not in (None, front.shape):
        raise ConfigError(f"shape is {values['shape']}: expected None, or {front.shape} as the front end has it")
    return {name: value for name, value in front.options.items() if values[name] in (None, "auto")}


def mean_of_each(scores: NDArray, counts: NDArray[np.int64] | None) -> NDArray:
    """The mean over the windows of each recording."""
    if counts is None or (counts == 1).all():
        return scores
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    return np.add.reduceat(scores, starts, axis=0) / counts.reshape(-1, *[1] * (scores.ndim - 1))


def first_of_each(values: NDArray, counts: NDArray[np.int64] | None) -> NDArray:
    """What stands at the first window of each recording."""
    if counts is None or len(values) != counts.sum():
        return values
    return values[np.cumsum(counts) - counts]


def _windows(front: Spectra | Motion, recording: Any, number: int) -> NDArray[np.uint8]:
    samples = np.asarray(recording)
    if not samples.size:
        raise InputError(f"recording {number} has no samples: expected some")
    if samples.ndim == 0:
        raise InputError(f"recording {number} is {recording!r}: expected a list of recordings, an array of int16 each")
    windows = front.transform([samples]) if isinstance(front, Spectra) else front.transform(samples)
    if isinstance(front, Spectra) and not samples.any():
        raise InputError(f"recording {number} is silent: expected sound")
    if not len(windows):
        needed = front.length * front.step if isinstance(front, Motion) else 1
        raise InputError(
            f"recording {number} has {len(samples)} readings: expected {needed} or more, those of a window"
        )
    limits = int(((samples == 32767) | (samples == -32768)).sum())
    if limits > CLIPPED * samples.size:
        warnings.warn(
            f"recording {number} is clipped: {limits} of {samples.size} values are at the limits of int16", stacklevel=5
        )
    return windows
