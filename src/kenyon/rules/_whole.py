"""Constants of rules in whole numbers."""

from __future__ import annotations

import math


def rounded(value: float, bits: int) -> int:
    """The nearest whole number that has at most so many bits, and a sign."""
    most = (1 << bits) - 1
    return max(-most, min(most, round(max(-(2.0**62), min(2.0**62, value)))))


def as_shifted(value: float) -> tuple[int, int]:
    """(m, s), with m / 2^s the nearest to a positive number below 2^30 that 30 bits can say; s is at most 62.

    Example:
        >>> as_shifted(0.75)
        (805306368, 30)
    """
    shift = min(62, 30 - math.frexp(value)[1])
    return rounded(math.ldexp(value, shift), 30), shift
