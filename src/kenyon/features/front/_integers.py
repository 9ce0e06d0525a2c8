"""Integer arithmetic that the front ends share: sines, spectra, roots, logarithms, and checks of what comes in."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kenyon.errors import ConfigError, InputError

CIRCLE = 512
"""Steps of a full turn in the table of sines."""

LOGS = np.array([round(2 ** (15 + k / 8)) for k in range(8)])
"""2^(15 + k / 8): where the eighths of an octave begin."""


def sines(angles: NDArray[np.int64]) -> NDArray[np.int64]:
    """32768 sin, rounded to the nearest and at most 32767, of angles in steps of a CIRCLE."""
    quarter = [min(32767, round(32768 * math.sin(2 * math.pi * k / CIRCLE))) for k in range(CIRCLE // 4 + 1)]
    half = quarter + quarter[-2:0:-1]
    return np.array(half + [-value for value in half])[angles % CIRCLE]


def log8(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """8 log2 rounded down, by the first 16 bits; 0 of 0.

    >>> log8(np.array([0, 1, 2, 3, 1 << 40])).tolist()
    [0, 0, 8, 12, 320]
    """
    octave = np.zeros(values.shape, np.int64)
    for bits in (32, 16, 8, 4, 2, 1):
        octave += np.where(values >> octave >> bits > 0, bits, 0)
    lead = np.where(octave > 15, values >> np.maximum(octave - 15, 0), values << np.maximum(15 - octave, 0))
    return np.where(values > 0, 8 * octave + np.searchsorted(LOGS, lead, side="right") - 1, 0)


def isqrt(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Square roots rounded down, of numbers below 2^52."""
    return np.floor(np.sqrt(values.astype(np.float64))).astype(np.int64)


def spectrum(y: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Real and imaginary parts of X_k, (n, N / 2), of y (n, N)."""
    n, size = y.shape
    half = size // 2
    turn = CIRCLE // size
    order = np.zeros(1, np.int64)
    while len(order) < half:
        order = np.concatenate([2 * order, 2 * order + 1])
    re, im = y[:, 0::2][:, order], y[:, 1::2][:, order]
    length = 2
    while length <= half:
        angles = np.arange(length // 2) * (CIRCLE // length)
        wr, wi = sines(angles + CIRCLE // 4), -sines(angles)
        (ar, br), (ai, bi) = (np.split(part.reshape(n, -1, length), 2, axis=2) for part in (re, im))
        tr, ti = br * wr - bi * wi, br * wi + bi * wr
        ar, ai = (ar << 15) + (1 << 15), (ai << 15) + (1 << 15)
        re = np.concatenate([(ar + tr) >> 16, (ar - tr) >> 16], axis=2).reshape(n, half)
        im = np.concatenate([(ai + ti) >> 16, (ai - ti) >> 16], axis=2).reshape(n, half)
        length *= 2
    back = -np.arange(half) % half
    cr, ci = re[:, back], -im[:, back]
    angles = np.arange(half) * turn
    wr, wi = sines(angles + CIRCLE // 4), -sines(angles)
    tr = ((re - cr) * wr - (im - ci) * wi + (1 << 14)) >> 15
    ti = ((re - cr) * wi + (im - ci) * wr + (1 << 14)) >> 15
    return (re + cr + ti + 1) >> 1, (im + ci - tr + 1) >> 1


def checked_samples(samples: ArrayLike, what: str, channels: int | None = None) -> NDArray[np.int64]:
    """Samples of int16 as wide integers: `(n,)`, or `(n, channels)`."""
    array = np.asarray(samples)
    wanted = "(n,)" if channels is None else f"(n, {channels})"
    if array.dtype != np.int16:
        raise InputError(f"{what} are of type {array.dtype}: expected int16")
    if array.ndim != (1 if channels is None else 2) or (channels is not None and array.shape[1] != channels):
        raise InputError(f"{what} have shape {array.shape}: expected {wanted}")
    return array.astype(np.int64)


def check_between(name: str, value: Any, low: int, high: int) -> None:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not low <= value <= high:
        raise ConfigError(f"{name} is {value!r}: expected an integer from {low} to {high}")
