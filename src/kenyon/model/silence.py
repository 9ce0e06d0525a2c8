"""A learner whose units stay silent learns nothing: it says so, and what to change."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

MANY = 100
"""So many samples in a row that no unit answers to are no accident."""


class Silence:
    """Counts the samples in a row that no unit answered to; no part of the state.

    Example:
        >>> silence = Silence()
        >>> silence.note(np.array([3, 0, 0]))
        >>> silence.length
        2
    """

    def __init__(self) -> None:
        self.length = 0
        self._said = False

    def note(self, counts: NDArray[np.int64]) -> None:
        """Take note of how many units were active for each of some samples."""
        (heard,) = np.nonzero(counts)
        if heard.size:
            self.length, self._said = len(counts) - 1 - int(heard[-1]), False
        else:
            self.length += len(counts)

    def warn(self, threshold: object) -> None:
        """Say it once, until a unit is heard again."""
        if self.length >= MANY and not self._said:
            self._said = True
            warnings.warn(
                f"no unit answered to the last {self.length} samples, so they taught nothing: expected some to. "
                f"Lower threshold (it is {threshold!r}), raise density, or set scale=True if inputs differ in scale.",
                UserWarning,
                stacklevel=6,
            )
