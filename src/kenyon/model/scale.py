"""Scaling on the fly: inputs in standard deviations, by moments that are part of the state.

    z_i = (u_i - mean_i) / deviation_i,     beyond 4 deviations  sign(z_i) (2 sqrt(4 |z_i|) - 4),  10,000 at most

A sample is scaled by the moments of the labelled samples before it, and then counted. Samples without a label, and
those that are predicted, are scaled and not counted. So the result does not depend on how the stream is cut, and
`predict` sees a sample as `partial_fit` would.

What was learned was learned in the units of its time. Moments that moved with every class that arrives would leave
the first classes where they no longer are, so the moments of an input stand still once it was counted 64 times. (With
a `half_life` they follow the last samples, as everything else does.) An input that has not varied yet is zero, and is
counted 16 times at most, so that one that begins to vary late finds its scale all the same. An absent value (NaN,
with `missing="absent"`) is zero, as if it were the mean, and is not counted.

The inputs of ramps have units of their own (`_units.py`).

The channels of a series have one mean and one deviation each, whatever the time; a window then sees quarters of a
deviation, so that what it sums has the size of bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.errors import ModelFileError
from kenyon.layers import Declared, State, axis_sizes

COUNTED = 64
"""How often an input is counted before its moments stand still."""

HELD = 16
"""An input that never varied is counted this often at most."""

ROUNDS = 16
"""How often values far out are drawn in when the moments of many samples are taken at once."""

KNEE = 4.0
"""Beyond this many deviations, a value grows with the root of its distance only."""

FARTHEST = 1e4
"""A value that is farther from the mean, in deviations, is taken to be as far as this."""

DECLARED = tuple(Declared(name, ("inputs",), np.float64) for name in ("counts", "means", "spreads"))

IN_FILE = ".scale"
"""Follows the names of these arrays in a model file."""


class Scaler:
    """Running moments of the inputs.

    Args:
        groups: the number of the moments that each input belongs to, from 0 on without a gap; as many inputs in each.
        unit: what one deviation becomes.
        half_life: half-life in samples of moments that keep moving; None for those that stand still.

    Example:
        >>> scaler = Scaler(np.arange(1))
        >>> values = np.array([[1.0], [3.0], [5.0]])
        >>> scaler.count(values, np.ones(3, bool)).ravel().tolist()
        [0.0, 0.0, 3.0]
    """

    knee = KNEE

    def __init__(self, groups: NDArray[np.int64], unit: float = 1.0, half_life: float | None = None) -> None:
        self.groups, self.unit = groups, unit
        n_groups = int(groups.max()) + 1
        each = len(groups) // n_groups
        self.state = State(DECLARED, axis_sizes(0, 0, inputs=n_groups))
        self._most = float(each * (COUNTED if half_life is None else max(COUNTED, half_life / log(2))))
        self._held, self._moving = float(each * HELD), half_life is not None

    @property
    def moments(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Counts, means and sums of squared distances from the mean."""
        counts, means, spreads = (self.state.arrays[one.name] for one in DECLARED)
        return counts, means, spreads

    @property
    def farthest(self) -> NDArray[np.float64]:
        """How far out a value may be, in deviations."""
        return np.full(len(self.moments[0]), FARTHEST)

    @property
    def centres(self) -> NDArray[np.float64]:
        """The mean of each moment."""
        return self.moments[1]

    @property
    def deviations(self) -> NDArray[np.float64]:
        """The standard deviation of each moment, 0 where nothing has varied."""
        counts, _, spreads = self.moments
        return np.sqrt(spreads / np.maximum(counts, 1))

    def scale(self, samples: NDArray) -> NDArray[np.float32]:
        """Samples by the moments as they are."""
        return self._scaled(samples, None)

    def count(self, samples: NDArray, labelled: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Scale each sample by the moments of those before it, and count it where it has a label."""
        return self._scaled(samples, labelled)

    def _scaled(self, samples: NDArray, labelled: NDArray[np.bool_] | None) -> NDArray[np.float32]:
        out, counts = np.empty(samples.shape, np.float32), self.moments[0]
        limits = (KNEE, FARTHEST, self.unit, self._held, self._most, self._moving)
        scratch = np.empty(len(counts) + samples.shape[1])
        scale = core.scale if labelled is None else core.scale_and_count
        scale(samples, labelled, self.groups, *self.moments, *limits, scratch, out)
        return out

    def settle(self, samples: NDArray) -> None:
        """Take the moments of all of these samples, before any of them is learned; they then stand still."""
        n_groups = len(self.moments[0])
        columns = samples[:, np.argsort(self.groups, kind="stable")].reshape(len(samples), n_groups, -1)
        counts, means, spreads = self.moments
        means[:], deviations = settled_moments(columns.transpose(0, 2, 1).reshape(-1, n_groups))
        counts[:] = np.where(deviations > 0, self._most, self._held)
        spreads[:] = counts * deviations**2

    # ---- keeping

    def kept(self) -> dict[str, NDArray]:
        """The moments, copied, by their names in a file."""
        return {name + IN_FILE: view.copy() for name, view in self.state.views().items()}

    def restore(self, kept: Mapping[str, NDArray]) -> None:
        """Take over moments from a file, or from before a call."""
        self.state.filled(kept, IN_FILE)
        counts, _, spreads = self.moments
        if (counts < 0).any() or (counts > self._most).any() or (spreads < 0).any():
            raise ModelFileError(f"the moments of the inputs are not those of 0 to {self._most:g} values")

    # ---- merging

    def is_like(self, other: object) -> bool:
        """Whether the moments are the same: of models that went on from one whose moments stood still."""
        return isinstance(other, Scaler) and all(
            np.array_equal(own, theirs) for own, theirs in zip(self.moments, other.moments, strict=True)
        )

    def merge(self, other: Scaler) -> None:
        """Moments of what both have counted, as if of at most the number of values at which they stop changing.

        What each has learned stays in the units of its own moments, so that this is no more than close.
        """
        merge_moments(self.moments, other.moments, self._most)

    @property
    def state_bytes(self) -> int:
        """Bytes of the moments."""
        return self.state.state_bytes


Moments = Sequence[NDArray[np.float64]]
"""Counts, means and sums of squared distances from the mean."""


def merge_moments(moments: Moments, others: Moments, most: float) -> None:
    """Add others to moments, as if of `most` values at most."""
    (n, mean, spread), (m, other_mean, other_spread) = moments, others
    total = n + m
    share = np.divide(m, total, out=np.zeros_like(total), where=total > 0)
    away = other_mean - mean
    spread += other_spread + n * share * away**2
    mean += share * away
    kept = np.minimum(total, most)
    spread *= np.divide(kept, total, out=np.ones_like(total), where=total > 0)
    n[:] = kept


def settled_moments(columns: NDArray) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and deviation of each column, without NaN; values beyond four deviations count as if they lay there."""
    values = columns.astype(np.float64)
    there = ~np.isnan(values)
    n = np.maximum(there.sum(axis=0), 1)
    values[~there] = 0.0
    low, high = np.full(values.shape[1], -np.inf), np.full(values.shape[1], np.inf)
    for _ in range(ROUNDS):
        inside = np.where(there, np.clip(values, low, high), 0.0)
        mean = inside.sum(axis=0) / n
        deviation = np.sqrt((np.where(there, inside - mean, 0.0) ** 2).sum(axis=0) / n)
        low, high = mean - KNEE * deviation, mean + KNEE * deviation
    return mean, deviation
