"""Features in whole numbers throughout: what they take, and how a threshold is written down."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import ConfigError, InputError

FRACTION = 12
"""Bits of the fraction with which a threshold in standard deviations is taken in integers; `threshold.h` has it too."""


def check_bytes(samples: NDArray) -> None:
    """Refuse samples that are not bytes."""
    if samples.dtype != np.uint8:
        raise InputError(
            f"the samples are numbers of type {samples.dtype}: expected bytes (uint8), since the model learns with "
            "arithmetic='integer'"
        )


def check_exact(n_units: int, largest: int) -> None:
    """Refuse units whose sums and sums of squares could pass the 63 bits that a threshold is worked out in."""
    most = min((2**31 - 1) // largest, (2**53 - 1) // largest**2)
    if n_units > most:
        raise ConfigError(
            f"{n_units:,} units that answer with up to {largest:,}: expected at most {most:,} of them for a threshold "
            "in whole numbers"
        )


def strength_of(threshold: float | None, exact: bool) -> float:
    """beta as the kernels take it: as it is, or in whole units of 2^-FRACTION."""
    strength = 0.0 if threshold is None else float(threshold)
    return float(round(strength * 2.0**FRACTION)) if exact else strength
