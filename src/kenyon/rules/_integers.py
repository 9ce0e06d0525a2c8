"""Constants of rules in integers."""

from __future__ import annotations

import math


def rounded(value: float, bits: int) -> int:
    """The nearest integer that has at most this many bits, and a sign.

    Example:
        >>> rounded(-2.6, bits=4), rounded(99.0, bits=4)
        (-3, 15)
    """
    most = (1 << bits) - 1
    return max(-most, min(most, round(max(-(2.0**62), min(2.0**62, value)))))


def as_shifted(value: float) -> tuple[int, int]:
    """(m, s), with m / 2^s the nearest to a number from 0 to 2^20 that twenty bits can say; s is at most 62.

    Example:
        >>> as_shifted(0.75)
        (786432, 20)
    """
    shift = min(62, 20 - math.frexp(value)[1])
    return rounded(math.ldexp(value, shift), 20), shift
