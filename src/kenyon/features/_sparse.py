"""The mushroom body's feature layer: a sparse random projection with a dynamic threshold.

    x_e = ReLU(W_e u - mu - beta sigma),   then x_e / |x_e|

Each of M units sums K of the N inputs with weight +1 (excitatory) or -1 (inhibitory). `mu` and `sigma` are
mean and standard deviation of that sample's own projection `W_e u`, so beta sets how few units
answer to a sample, whatever its brightness. The first part is the paper's equation; scaling to length 1 is an
addition of ours, which `unit_norm=False` leaves out.

With `exact` everything is in integers and only bytes are taken: the threshold is that of `_windows.py`, and the
activity is bytes,

    x_e = min(255, (W_e u - threshold) // 2^b)

with b such that 2^(b + 11) is above every possible projection, or 0: typical projections are an eighth of those.
Units whose byte is zero are not active.

Reference: Madireddy, Yanguas-Gil and Balaprakash, section 3.1; Litwin-Kumar et al., "Optimal degrees of
synaptic connectivity", Neuron 93, 2017.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

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
    check_bytes,
    check_exact,
    make_active,
    n_connections,
    strength_of,
)
from kenyon.utils.options import Auto, option

THRESHOLD, TABLE_THRESHOLD = 2.3, 1.0
"""Rows of a table have few inputs, which are separated by units that see half of them, of both signs."""
SECOND_ORDER_THRESHOLD, LINEAR_BUDGET = 0.3, 100_000
"""Before a second-order layer; none within a budget of so few units that linear ones separate more."""
MOST_CONNECTIONS = 32
"""Inputs of a unit where the density is left open: more of them cost time and gain little."""
COUNTED_AT_ONCE = 1 << 23
"""Connections."""


@dataclass(frozen=True, repr=False)
class Sparse(FeaturesPart):
    """A sparse random projection with a dynamic threshold: for bytes and other samples without a shape.

    Example:
        >>> from kenyon.features import Setting
        >>> Sparse(units=500, density=6, inhibitory=0.0, threshold=1.8).build(Setting(n_inputs=64)).n_outputs
        500
    """

    name: ClassVar[str] = "sparse"

    units: int | Auto = option("auto", "Units; 'auto' is the classifier's n_hidden.", "integer", auto=True)
    density: float | int | Auto = option(
        "auto",
        "Inputs of each unit: a share of the inputs (a fraction) or a count (an integer); 'auto' is a quarter of them, "
        "32 at the most.",
        "share", auto=True,
    )  # fmt: skip
    inhibitory: float | Auto = option(
        "auto",
        "Share of a unit's inputs that inhibit it; 'auto' is 0, and 0.5 for rows of a table.",
        "number", low=0.0, high=1.0, auto=True,
    )  # fmt: skip
    threshold: float | Auto | None = option(
        "auto",
        "Threshold in standard deviations of the sample's own projection; 'auto' is 2.3, 1 for rows of a table, 0.3 "
        "before a second-order layer, and None there within a memory budget of 100 KB.",
        "number", low=-100.0, high=100.0, auto=True, off=True,
    )  # fmt: skip

    def settled(self, case: Case) -> Sparse:
        most = max(1, min(MOST_CONNECTIONS, case.n_inputs // (2 if case.table else 4)))
        threshold: float | None = TABLE_THRESHOLD if case.table else THRESHOLD
        if case.second_order:
            linear = case.memory_budget is not None and case.memory_budget <= LINEAR_BUDGET
            threshold = None if linear else TABLE_THRESHOLD if case.table else SECOND_ORDER_THRESHOLD
        return replace(
            self,
            density=n_connections(self.density, case.n_inputs, most),
            inhibitory=(0.5 if case.table else 0.0) if self.inhibitory == "auto" else self.inhibitory,
            threshold=threshold if self.threshold == "auto" else self.threshold,
        )

    def build(self, setting: Setting) -> SparseProjection:
        return SparseProjection(self, setting)

    @property
    def nested(self) -> bool:
        return self.threshold is None

    def table_bytes(self, setting: Setting) -> int:
        return 4 * int(self.units) * int(self.density)


class SparseProjection:
    """N inputs to M sparse units.

    Args:
        part: with no option left open.
        setting: what it is built for.

    Example:
        >>> import numpy as np
        >>> features = Sparse(units=500, density=6, inhibitory=0.0, threshold=1.8).build(Setting(n_inputs=64))
        >>> units, values, counts = features.activate(np.arange(64, dtype=np.uint8)[None, :], features.workspace())
        >>> round(float((values[0, : counts[0]] ** 2).sum()), 3)
        1.0
    """

    def __init__(self, part: Sparse, setting: Setting) -> None:
        settled: Any = part
        n_units, n_connections, n_inputs = settled.units, settled.density, setting.n_inputs
        threshold, exact, seed = settled.threshold, setting.integer, setting.seed
        self.n_outputs, self.threshold, self.exact, self.seed = n_units, threshold, exact, seed
        self._n_excitatory = n_connections - round(settled.inhibitory * n_connections)
        # the narrowest type that holds every possible sum of bytes exactly
        self._largest = 255 * max(self._n_excitatory, n_connections - self._n_excitatory)
        if exact and threshold is not None:
            check_exact(n_units, self._largest)
        self._shift = max(0, self._largest.bit_length() - 11)
        strength = strength_of(threshold, exact)
        self._byte_sums: type[np.number] = np.int16 if self._largest <= np.iinfo(np.int16).max else np.int32
        self.inputs = np.empty((n_units, n_connections), np.uint16 if n_inputs <= 1 << 16 else np.uint32)
        self._n_inputs = n_inputs
        core.draw_inputs(seed, self._n_excitatory, np.empty(n_inputs, np.uint32), self.inputs)
        excited, inhibited = self.inputs[:, : self._n_excitatory], self.inputs[:, self._n_excitatory :]
        self._degrees = _degrees(excited, n_inputs) - _degrees(inhibited, n_inputs)
        self._how = core.pack(strength, threshold is not None, setting.unit_norm, 2.0**-self._shift, exact)
        self._for_blocks = core.pack(self.inputs, self._n_excitatory, self._degrees, self._largest, self._how)
        self._for_one: core.Pack | None = None
        self._group_bytes = 0

    def matrix(self) -> NDArray[np.int8]:
        """`W_e` as a matrix of -1, 0 and 1, (inputs, units)."""
        matrix = np.zeros((self._n_inputs, self.n_outputs), np.int8)
        units = np.arange(self.n_outputs)[:, np.newaxis]
        matrix[self.inputs[:, : self._n_excitatory], units] = 1
        matrix[self.inputs[:, self._n_excitatory :], units] = -1
        return matrix

    def plan(self) -> dict[str, int]:
        """The numbers that another implementation of it needs, beside `inputs`, for integers."""
        return {
            "excitatory": self._n_excitatory,
            "shift": self._shift,
            "thresholded": int(self.threshold is not None),
            "strength": int(strength_of(self.threshold, True)),
            "largest": self._largest,
        }

    def workspace(self) -> Workspace:
        return Workspace(make_active(self.n_outputs, dtype=np.uint8 if self.exact else np.float32))

    def prepare(self) -> None:
        """The projection the other way round, for single samples."""
        if self._for_one is None:
            groups = self._group(0, self._n_excitatory) + self._group(self._n_excitatory, self.inputs.shape[1])
            self._group_bytes = sum(array.nbytes for array in groups)
            self._for_one = core.pack(*groups, self.n_outputs, self._how)

    def _group(self, first: int, last: int) -> tuple[NDArray, NDArray]:
        # the narrowest numbers, since a sample has most of this table pass through the cache
        narrow = self.n_outputs <= 1 << 16
        units = np.empty(self.n_outputs * (last - first), np.uint16 if narrow else np.uint32)
        starts = np.empty(self._n_inputs + 1, np.int64)
        core.group_by_input(self.inputs, first, last, starts, units)
        return starts, units

    def activate(self, samples: NDArray, workspace: Workspace) -> Active:
        if self.exact:
            check_bytes(samples)
        sums = self._byte_sums if samples.dtype == np.uint8 else np.float32
        if len(samples) > FEW:
            core.sparse_block(samples, self._for_blocks, workspace.pack(self._block_scratch, samples.dtype, sums))
        else:
            self.prepare()
            core.sparse_one(samples, self._for_one, workspace.pack(self._one_scratch, sums))
        return workspace.active

    def _block_scratch(self, dtype: np.dtype, sums: type[np.number]) -> tuple[NDArray, NDArray]:
        return aligned((self._n_inputs, LANES), dtype), aligned((self.n_outputs + 1, LANES), sums)

    def _one_scratch(self, sums: type[np.number]) -> tuple[NDArray, NDArray]:
        return aligned((self.n_outputs,), sums), aligned((self.n_outputs if sums is np.float32 else 0,), sums)

    @property
    def nbytes(self) -> int:
        return self.inputs.nbytes + self._degrees.nbytes + self._group_bytes


def _degrees(inputs: NDArray, n_inputs: int) -> NDArray[np.int32]:
    """How many units each input goes to; a part of the units at a time, since counting takes eight bytes for each."""
    degrees = np.zeros(n_inputs, np.int32)
    step = max(1, COUNTED_AT_ONCE // max(1, inputs.shape[1]))
    for start in range(0, len(inputs) if inputs.size else 0, step):
        degrees += np.bincount(inputs[start : start + step].ravel(), minlength=n_inputs).astype(np.int32)
    return degrees
