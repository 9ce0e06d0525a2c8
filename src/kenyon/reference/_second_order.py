"""The second-order layer: sums of co-activity, and a readout that is solved from them when it is asked for.

With a half-life, the counts of classes are halved, rounded up, when they add up to twice as many samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.reference._activity import Active
from kenyon.reference._coactivity import Sums
from kenyon.reference._few_bits import FewBits
from kenyon.reference._integer_readout import IntegerReadout, solve_integers
from kenyon.reference._readout import Readout, solve


class SecondOrder:
    """The output layer; arguments as in `_plastic.py`."""

    def __init__(self, n_units: int, seed: int, spec: Any) -> None:
        self.n_units, self.spec = n_units, spec
        dtype: type[np.number] = np.uint64 if spec.in_bytes else np.float32
        self.sums = FewBits(n_units, spec.layer.bits) if spec.layer.bits < 32 else Sums(n_units, dtype)
        self.solved: Readout | IntegerReadout | None = None
        self.last: NDArray[np.int64] | None = None  # weights of the last readout in integers
        self.n_learned = 0  # samples since
        self.first = 0  # units that are read, 0 for all (`_race.py`)

    def add_class(self) -> None:
        self.sums.add_class()
        self.solved = self.solved.widened() if isinstance(self.solved, IntegerReadout) else None

    def readout(self, first: int = 0) -> Any:
        """The readout of the present sums, of the first units alone where `first`."""
        sums, spec, known = self.sums, self.spec, np.flatnonzero(self.sums.counts)
        if spec.integer and isinstance(sums, FewBits):
            unit = float(sums.counts.sum()) / 2.0**sums.halvings / 4.0**sums.doublings / 256
            how = (known, float(spec.layer.shrinkage), unit, self.last, self.n_learned)
            found = solve_integers(sums.pairs, sums.means, *how)
            self.last, self.n_learned = found.weights, 0
            return found
        return solve(sums.moments(known), known, len(sums.counts), spec, first)

    def outputs(self, x: Active) -> NDArray[np.float32]:
        self.solved = self.solved or self.readout(self.first)
        return self.solved.outputs(x)

    def learn(self, x: Active, label: int, plastic: Sequence[int], beta: Sequence[np.float32]) -> int:
        dense = np.zeros(self.n_units, x[1].dtype)
        dense[x[0]], self.solved = x[1], None
        self.n_learned += 1
        visited = self.sums.add(dense, len(x[0]), label)
        counts, half_life = self.sums.counts, self.spec.layer.half_life
        if half_life is not None and counts.sum() >= 2 * half_life:
            self.sums.weigh((counts + np.uint64(1)) // np.uint64(2))
            self.last = None
        return visited

    def rescale(self, ramps: Sequence[tuple], change: tuple[NDArray, NDArray, NDArray]) -> None:
        """Re-express the sums, since inputs got other units."""
        self.sums.rescale(ramps, change)  # type: ignore[union-attr]
        self.solved = self.last = None

    def merge(self, other: SecondOrder, neurons: NDArray[np.int64]) -> None:
        self.sums.merge(other.sums, neurons)  # type: ignore[arg-type]
        self.solved = self.last = None

    def grow(self, spec: Any, ramps: Sequence[tuple]) -> None:
        """More ramps, of which nothing was learned."""
        self.n_units, self.spec, self.solved, self.last = spec.n_units, spec, None, None
        self.sums.grow(spec.n_units, ramps)  # type: ignore[union-attr]

    def cut(self, spec: Any) -> None:
        """Keep the first units alone."""
        self.n_units, self.spec, self.solved, self.last = spec.n_units, spec, None, None
        self.sums.cut(spec.n_units)

    def arrays(self) -> dict[str, NDArray]:
        return self.sums.arrays()
