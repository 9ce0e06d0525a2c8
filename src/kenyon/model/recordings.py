"""Recordings of a sensor as samples: one window of a sound, or all windows of a motion."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kenyon.errors import ConfigError, InputError
from kenyon.features.front import FrontPart, front_part

CLIPPED = 0.01
"""Share of a recording's values at the limits of int16 that is warned of."""


def windows_of(front: FrontPart | None, X: Any) -> tuple[Any, NDArray[np.int64] | None]:
    """Samples in bytes, and how many each recording has; None where the samples are windows already.

    Example:
        >>> from kenyon.features.front import Spectra
        >>> tone = np.round(8000 * np.sin(np.arange(4000) * 0.8)).astype(np.int16)
        >>> windows, counts = windows_of(Spectra(), [tone, tone])
        >>> windows.shape, counts.tolist()
        ((2, 400), [1, 1])
    """
    if front is None:
        return X, None
    width = front.shape[0] * front.shape[1]
    if isinstance(X, np.ndarray) and X.dtype == np.uint8:
        return (X.reshape(-1, width) if X.shape[1:] == front.shape else X), None
    if isinstance(X, np.ndarray) and X.ndim == (1 if front.axes is None else 2):
        raise InputError(f"X has shape {X.shape}: expected a list of recordings; [recording] for a single one")
    if not hasattr(X, "__iter__"):
        raise InputError(f"X is {X!r}: expected a list of recordings, an array of int16 each")
    found = [_windows(front, recording, number) for number, recording in enumerate(X)]
    counts = np.array([len(windows) for windows in found], np.int64)
    return np.concatenate([np.zeros((0, width), np.uint8), *found]), counts


def front_of(value: Any) -> FrontPart | None:
    """The front end that an option stands for, if any."""
    return None if value is None else front_part(value)


def front_options(values: Mapping[str, Any], n_inputs: int) -> dict[str, Any]:
    """The front end, and options that it sets where they are left open; refuses those that contradict it."""
    front = front_of(values["front"])
    if front is None:
        return {}
    width = front.shape[0] * front.shape[1]
    if n_inputs != width:
        raise InputError(f"a sample has {n_inputs} bytes: expected {width}, a window of {front}")
    if values["shape"] not in (None, front.shape):
        raise ConfigError(f"shape is {values['shape']}: expected None, or {front.shape} as the front end has it")
    own = {name: value for name, value in front.options.items() if values[name] in (None, "auto")}
    return {"front": front, **own}


def of_each_window(values: ArrayLike | None, counts: NDArray[np.int64] | None, what: str) -> Any:
    """What belongs to recordings, repeated for each of their windows."""
    if counts is None or values is None:
        return values
    if len(values) != len(counts):  # type: ignore[arg-type]
        raise InputError(f"{what} has {len(values)} entries: expected {len(counts)}, one for each recording")  # type: ignore[arg-type]
    rows = np.repeat(np.arange(len(counts)), counts)
    return [values[row] for row in rows] if isinstance(values, (list, tuple)) else np.asarray(values)[rows]


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


def _windows(front: FrontPart, recording: Any, number: int) -> NDArray[np.uint8]:
    samples = np.asarray(recording)
    if samples.ndim == 0:
        raise InputError(f"recording {number} is {recording!r}: expected an array of int16")
    if not samples.size:
        raise InputError(f"recording {number} has no samples: expected some")
    windows = front.windows(samples)
    if not len(windows):
        raise InputError(f"recording {number} has {len(samples)} readings: expected more, those of a window")
    if front.axes is None and not windows.any():
        raise InputError(f"recording {number} is silent: expected sound")
    limits = int(((samples == 32767) | (samples == -32768)).sum())
    if limits > CLIPPED * samples.size:
        warnings.warn(
            f"recording {number} is clipped: {limits} of {samples.size} values are at the limits of int16", stacklevel=5
        )
    return windows
