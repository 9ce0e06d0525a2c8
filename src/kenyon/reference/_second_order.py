"""The second-order layer: sums of co-activity, and a readout that is solved from them when it is asked for.

A readout takes as long as learning many samples, so predictions made while learning share it. It is solved anew after
max(8, units / 8, time / 16) labelled samples; and after max(1, units / 64, time / 512), if a class has its 1st, 2nd,
4th, .. or 64th sample since. Time is the sum of the classes' counts. With a half-life, counts are halved, rounded up,
when they add up to twice as many samples.
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
        whole: type[np.number] = np.uint64 if spec.in_bytes else np.float32
        self.sums = FewBits(n_units, spec.layer.bits) if spec.layer.bits < 32 else Sums(n_units, whole)
        self.solved: Readout | IntegerReadout | None = None
        self.served: tuple[Readout | IntegerReadout, int, bool] | None = None

    def add_class(self) -> None:
        self.sums.add_class()
        self.solved = None

    def readout(self) -> Readout | IntegerReadout:
        """The readout of the present sums."""
        sums, spec, known = self.sums, self.spec, np.flatnonzero(self.sums.counts)
        if spec.integer and isinstance(sums, FewBits):
            unit = float(sums.counts.sum()) / 2.0**sums.halvings / 4.0**sums.doublings / 256
            return solve_integers(sums.pairs, sums.means, known, float(spec.layer.shrinkage), unit)
        return solve(sums.moments(known), known, len(sums.counts), spec)

    def outputs(self, x: Active) -> NDArray[np.float32]:
        self.solved = self.solved or self.readout()
        return self.solved.outputs(x)

    def predicting(self, x: Active) -> NDArray[np.float32]:
        """Outputs while learning, by a readout that serves several samples; new classes have none."""
        time, d = int(self.sums.counts.sum()), self.n_units
        if self.served is not None:
            _, since, pending = self.served
            age, far, near = time - since, max(8, d // 8, time // 16), max(1, d // 64, time // 512)
        if self.served is None or age >= far or (pending and age >= near):
            self.served = self.readout(), time, False
        return self.served[0].outputs(x)

    def learn(self, x: Active, label: int, plastic: Sequence[int], beta: Sequence[np.float32]) -> int:
        dense = np.zeros(self.n_units, x[1].dtype)
        dense[x[0]], self.solved = x[1], None
        visited = self.sums.add(dense, len(x[0]), label)
        counts, half_life = self.sums.counts, self.spec.layer.half_life
        if self.served is not None:
            readout, since, pending = self.served
            self.served = readout, since, pending or counts[label] in (1, 2, 4, 8, 16, 32, 64)
        if half_life is not None and counts.sum() >= 2 * half_life:
            self.sums.weigh((counts + np.uint64(1)) // np.uint64(2))
            self.served = None
        return visited

    def rescale(self, ramps: Sequence[tuple], change: tuple[NDArray, NDArray, NDArray]) -> None:
        """Re-express the sums, since inputs got other units."""
        self.sums.rescale(ramps, change)  # type: ignore[union-attr]
        self.solved = self.served = None

    def merge(self, other: SecondOrder, neurons: NDArray[np.int64]) -> None:
        self.sums.merge(other.sums, neurons)  # type: ignore[arg-type]
        self.solved = self.served = None

    def arrays(self) -> dict[str, NDArray]:
        return self.sums.arrays()
