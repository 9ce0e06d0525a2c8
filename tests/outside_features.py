"""Features from outside the package: products of two inputs, each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kenyon.features import Active, Features, FeaturesPart, Setting, Workspace, make_active
from kenyon.utils.options import option


@dataclass(frozen=True)
class Pairs(FeaturesPart):
    """x_u = u_i u_j / |x| for a random pair of inputs, or its complement."""

    units: int | str = option("auto", "Units; 'auto' is the classifier's n_hidden.", "integer", auto=True)
    flip: bool = option(False, "Take the inputs from the other end.", "flag")

    def build(self, setting: Setting) -> Features:
        return PairUnits(setting.n_inputs, int(self.units), self.flip, setting.seed)


class PairUnits:
    def __init__(self, n_inputs: int, n_units: int, flip: bool, seed: int) -> None:
        self.n_outputs, self._flip = n_units, flip
        self._pairs = np.random.default_rng(seed).integers(0, n_inputs, (2, n_units))

    def workspace(self) -> Workspace:
        return Workspace(make_active(self.n_outputs))

    def prepare(self) -> None: ...

    def activate(self, samples: NDArray, workspace: Workspace) -> Active:
        u = samples[:, ::-1] if self._flip else samples
        x = u[:, self._pairs[0]].astype(np.float32) * u[:, self._pairs[1]]
        x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9)
        units, values, counts = workspace.active
        for s, row in enumerate(x):
            (on,) = np.nonzero(row)
            counts[s] = on.size
            units[s, : on.size], values[s, : on.size] = on, row[on]
        return workspace.active

    @property
    def nbytes(self) -> int:
        return self._pairs.nbytes
