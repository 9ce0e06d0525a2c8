"""Ramps: a feature layer for samples that are rows of a table, a few scaled numbers without a shape.

    x_u = g max(0, sum_k s_uk u_k / sqrt(K_u) - b_u)

A unit sums K_u inputs with a random sign s of +1 or -1 and answers above an offset b_u of its own, drawn evenly from
-2 to 2: inputs are expected in standard deviations (`scale`), so that the sum is about as wide. Sizes K go round m, 2m,
4m, 8m from unit to unit, m being a 32nd of the inputs, from 1 to 4: units of one input see thresholds, units of many
see directions. Where there is room the inputs themselves come first, as units of their own. The gain g of 1/4 keeps
ramps below them, so that a readout that shrinks begins with what is linear.

Nothing is stored but the seed: inputs, signs and offsets are drawn from it (`draw_ramps`).

Reference: Rahimi and Recht, "Weighted sums of random kitchen sinks", 2008.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.core import LANES
from kenyon.features._base import (
    FEW,
    Active,
    Case,
    FeaturesPart,
    Setting,
    Workspace,
    aligned,
    make_active,
    n_connections,
)
from kenyon.features._rescaling import Rescaling, Summing, rescaled
from kenyon.utils.options import Auto, option

REACH = 2
"""Offsets lie within this many standard deviations."""

GAIN = np.float32(0.25)

SIZES = 4
"""Sizes that units go round, each twice the one before."""

MOST_BESIDE = 500
"""Up to this many inputs are units of their own, where at least as many ramps are left."""


@dataclass(frozen=True, repr=False)
class Ramps(FeaturesPart):
    """Units for rows of a table, before a second-order layer.

    Example:
        >>> Ramps(units=100, inhibitory=0.4)
        Ramps(units=100, inhibitory=0.4)
    """

    name: ClassVar[str] = "ramps"
    signed: ClassVar[bool] = True

    units: int | Auto = option("auto", "Units; 'auto' is the classifier's n_hidden.", "integer", auto=True)
    density: float | int | Auto = option(
        "auto",
        "Inputs of each ramp: a share of the inputs (a fraction) or a count (an integer); 'auto' is sizes that go "
        "round.",
        "share", auto=True,
    )  # fmt: skip
    inhibitory: float = option(0.5, "How likely a sign is negative.", "number", low=0.0, high=1.0)

    def settled(self, case: Case) -> Ramps:
        if self.density == "auto":
            return self
        return replace(self, density=n_connections(self.density, case.n_inputs, case.n_inputs))

    def build(self, setting: Setting) -> RampUnits:
        given = None if self.density == "auto" else int(self.density)
        return RampUnits(setting.n_inputs, int(self.units), given, inhibitory=self.inhibitory, seed=setting.seed)

    @property
    def nested(self) -> bool:
        return True

    def table_bytes(self, setting: Setting) -> int:
        each = ramp_sizes(setting.n_inputs)[-1] if self.density == "auto" else int(self.density)
        return 4 * int(self.units) * each


class RampUnits:
    """N inputs to M units: the inputs themselves where there is room, and ramps.

    Args:
        n_inputs: N.
        n_units: M.
        n_connections: inputs of every ramp; None for sizes that go round.
        inhibitory: how likely a sign is negative.
        seed: the ramps are drawn from it, the same everywhere.

    Example:
        >>> import numpy as np
        >>> features = RampUnits(n_inputs=4, n_units=100)
        >>> units, values, counts = features.activate(np.ones((1, 4), np.float32), features.workspace())
        >>> units[0, :4].tolist(), bool(counts[0] > 10)
        ([0, 1, 2, 3], True)
    """

    def __init__(
        self, n_inputs: int, n_units: int, n_connections: int | None = None, *, inhibitory: float = 0.5, seed: int = 0
    ) -> None:
        self.n_outputs = n_units
        self.n_beside = inputs_beside(n_inputs, n_units)
        n_ramps = n_units - self.n_beside
        sizes = ramp_sizes(n_inputs)
        if n_connections is not None:
            sizes = [n_connections]
        self._sizes = np.resize(np.array(sizes, np.int64), n_ramps)
        most = int(self._sizes.max())
        self._inputs = np.zeros((n_ramps, most), np.uint32)
        self._signs = np.zeros((n_ramps, most), np.int8)
        self._offsets = np.empty(n_ramps, np.float32)
        self._scales = (1 / np.sqrt(self._sizes)).astype(np.float32)
        negative = round(65536 * inhibitory)
        drawn = (np.empty(n_inputs, np.uint32), self._inputs, self._signs, self._offsets)
        core.draw_ramps(seed, self._sizes, negative, REACH, *drawn)
        ramps = (self._inputs, self._signs, self._sizes, self._scales, self._offsets)
        self.pack = core.pack(*ramps, GAIN, self.n_beside)
        self._n_inputs = n_inputs

    def matrix(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The ramps as (matrix, offsets): the activity of ramps is max(0, u @ matrix - offsets), gains included."""
        matrix = np.zeros((self._n_inputs, len(self._sizes)), np.float32)
        for unit, size in enumerate(self._sizes):
            matrix[self._inputs[unit, :size], unit] = GAIN * self._scales[unit] * self._signs[unit, :size]
        return matrix, GAIN * self._offsets

    def rescaled(
        self, change: Rescaling, pairs: NDArray[np.float64], sums: NDArray[np.float64], counts: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sums of a second-order layer after its inputs, which stand beside the ramps, got other units."""
        return rescaled(self._summing(), change, pairs, sums, counts)

    def grown(
        self, n_before: int, pairs: NDArray[np.float64], sums: NDArray[np.float64], counts: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sums of a second-order layer that had the first units alone; those of the others are what normal classes
        with the same moments would have left (`_rescaling.py`)."""
        n, n_new = self._n_inputs, self.n_outputs - n_before
        pairs, sums = np.pad(pairs, (0, n_new)), np.pad(sums, ((0, n_new), (0, 0)))
        return rescaled(self._summing(), Rescaling(np.ones(n), np.zeros(n), np.zeros(n)), pairs, sums, counts, n_new)

    def _summing(self) -> Summing:
        """The ramps as sums of inputs, gains included."""
        own = np.arange(self._inputs.shape[1]) < self._sizes[:, np.newaxis]
        weights = np.where(own, (GAIN * self._scales)[:, np.newaxis] * self._signs, np.float32(0))
        return Summing(self._inputs.astype(np.int64), weights.astype(np.float64), (GAIN * self._offsets).astype(float))

    def workspace(self) -> Workspace:
        return Workspace(make_active(self.n_outputs))

    def prepare(self) -> None:
        """Nothing to prepare."""

    def activate(self, samples: NDArray, workspace: Workspace) -> Active:
        samples = samples.astype(np.float32, copy=False)
        core.ramps(samples, self.pack, workspace.pack(self._scratch, len(samples) > FEW))
        return workspace.active

    def _scratch(self, block: bool) -> tuple[NDArray, NDArray]:
        """The samples of a block side by side, and the ramps' sums; single samples need none."""
        sizes = (self._n_inputs, len(self._sizes)) if block else (0, 0)
        return aligned((sizes[0], LANES), np.float32), aligned((sizes[1], LANES), np.float32)

    @property
    def nbytes(self) -> int:
        return sum(a.nbytes for a in (self._inputs, self._signs, self._sizes, self._scales, self._offsets))


def ramp_sizes(n_inputs: int) -> list[int]:
    """How many inputs ramps have, unit after unit.

    Example:
        >>> ramp_sizes(3), ramp_sizes(20), ramp_sizes(64)
        ([1, 2], [1, 2, 4, 8], [2, 4, 8, 16])
    """
    first = min(max(n_inputs // 32, 1), 4)
    return [size for size in (first << step for step in range(SIZES)) if size <= n_inputs]


def inputs_beside(n_inputs: int, n_units: int) -> int:
    """How many inputs are units of their own.

    Example:
        >>> inputs_beside(12, 200), inputs_beside(784, 2000), inputs_beside(12, 20)
        (12, 0, 0)
    """
    return n_inputs if n_inputs <= MOST_BESIDE and n_units >= 2 * n_inputs else 0
