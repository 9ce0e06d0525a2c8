"""Sums that a regression is solved from: those of a second-order layer of one class, and of activity times targets.

    T <- T + x x',   s <- s + x,   P <- P + x y',   n <- n + 1         for a sample x with targets y
    y = mean y + B' (x - mean x),          B = (S + lambda mean(diag S) I)^-1 (P - s mean y'),      S = T - s s' / n

Targets are kept less the first of them, in float64. When the inputs get other units, all sums are re-expressed
together, targets standing beside the inputs (`features/_rescaling.py`). Predictions stay within the range of the
targets, widened by a tenth on either side.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.errors import MergeError
from kenyon.features import BLOCK, Active, RampUnits, Rescaling
from kenyon.layers import Samples, SecondOrderLayer, bytes_of
from kenyon.model.scale import Scaler
from kenyon.model.spec import Spec
from kenyon.model.units import Change, Units

BEYOND = 0.1
"""Predictions lie at most this share of the targets' range beyond it."""

SUMS = ("products", "targets", "squares")
NAMES = (*SUMS, "first", "low", "high")

ROUNDED = 1e-4
"""Share by which sums in floats may be off."""

Floats = NDArray[np.float64]


class Line(NamedTuple):
    """y = offset + x' slopes.

    Attributes:
        slopes: (units, targets).
        offset: (targets,).
    """

    slopes: Floats
    offset: Floats


class RegressionSums:
    """What a regressor has learned.

    Args:
        spec: features, and how samples are scaled.
        n_targets: targets of a sample.
        shrinkage: lambda at least; more where the sums need it.
        seed: what the features are drawn from.
    """

    def __init__(self, spec: Spec, n_targets: int, shrinkage: float, seed: int) -> None:
        self.spec, self.n_inputs, self.n_targets, self.shrinkage = spec, spec.n_inputs, n_targets, shrinkage
        self.features, self.units = spec.features.build(spec.setting(seed)), spec.scaler()
        self.layer = SecondOrderLayer(spec.n_units, in_bytes=spec.in_bytes)
        self.layer.add_class()
        self.arrays: dict[str, Floats] = {name: np.zeros(n_targets) for name in NAMES}
        self.arrays["products"] = np.zeros((spec.n_units, n_targets))
        self._line: Line | None = None

    @property
    def n_samples(self) -> int:
        return int(self.layer.class_counts()[0])

    # ---- learning

    def learn(self, X: NDArray, y: Floats) -> None:
        """Learn samples in order."""
        self._line = None
        workspace = self.features.workspace()
        if not self.n_samples:
            self.arrays |= {"first": y[0].copy(), "low": y[0].copy(), "high": y[0].copy()}
        self.arrays["low"] = np.minimum(self.arrays["low"], y.min(axis=0))
        self.arrays["high"] = np.maximum(self.arrays["high"], y.max(axis=0))
        for start in range(0, len(X), BLOCK):
            block, targets = X[start : start + BLOCK], y[start : start + BLOCK] - self.arrays["first"]
            everyone, changes, scaled = np.ones(len(block), bool), list[Change](), block
            if isinstance(self.units, Units):
                scaled, changes = self.units.count(block, everyone)
            elif self.units is not None:
                scaled = self.units.count(block, everyone)
            active, at = self.features.activate(scaled, workspace), 0
            for stop, change in [*changes, (len(block), None)]:
                self._add(active, at, stop, targets)
                if change is not None:
                    self.rescale(change)
                at = stop

    def _add(self, active: Active, a: int, b: int, targets: Floats) -> None:
        if a == b:
            return
        none = np.zeros((len(targets), 2), np.float32)
        self.layer.learn(Samples(active, a, b, np.zeros(len(targets), np.int64), None, none))
        rows = self.layer.coactivity.dense(active, np.arange(a, b))
        for row, target in zip(rows.astype(np.float64), targets[a:b], strict=True):  # one order, whatever the block
            self.arrays["products"] += np.multiply.outer(row, target)
            self.arrays["targets"] += target
            self.arrays["squares"] += target * target

    def rescale(self, change: Rescaling) -> None:
        """Re-express the sums, since the inputs get other units."""
        if not (isinstance(self.features, RampUnits) and change.changed.any()):
            return
        ramps = self.features
        n, more, total = self.n_inputs, self.n_targets, self.features.n_outputs
        places = np.concatenate([np.arange(n), np.arange(n + more, total + more)])  # targets go behind the inputs
        beside = np.arange(n, n + more)

        def how(pairs: Floats, sums: Floats, counts: Floats) -> tuple[Floats, Floats]:
            every, all_sums = np.zeros((total + more, total + more)), np.zeros((total + more, 1))
            every[np.ix_(places, places)], all_sums[places] = pairs, sums
            every[np.ix_(places, beside)] = self.arrays["products"]
            every[np.ix_(beside, places)] = self.arrays["products"].T
            every[beside, beside], all_sums[beside, 0] = self.arrays["squares"], self.arrays["targets"]
            same = zip(change, (1.0, 0.0, 0.0), strict=True)
            wide = Rescaling(*(np.concatenate([own, np.full(more, rest)]) for own, rest in same))
            every, all_sums = ramps.rescaled(wide, every, all_sums, counts)
            self.arrays["products"] = every[np.ix_(places, beside)].copy()
            return every[np.ix_(places, places)], all_sums[places]

        self.layer.rescale(how)
        self._line = None

    # ---- reading

    def predict(self, X: NDArray) -> Floats:
        """(samples, targets)."""
        line, workspace, found = self.line(), self.features.workspace(), []
        for start in range(0, len(X), BLOCK):
            block = self._scaled(X[start : start + BLOCK])
            active = self.features.activate(block, workspace)
            rows = self.layer.coactivity.dense(active, np.arange(len(block))).astype(np.float64)
            found.append(rows @ line.slopes + line.offset)
        return np.clip(np.concatenate(found), *self.bounds())

    def _scaled(self, block: NDArray) -> NDArray:
        return block if self.units is None else self.units.scale(block)

    def bounds(self) -> tuple[Floats, Floats]:
        """The least and the largest prediction of each target."""
        low, high = self.arrays["low"], self.arrays["high"]
        margin = BEYOND * (high - low)
        return low - margin, high + margin

    def line(self) -> Line:
        """The regression of the present sums."""
        if self._line is None:
            views, d = self.layer.state.views(), self.features.n_outputs
            lower, n, sums = np.tril_indices(d), float(views["class_counts"][0]), views["sums"][:, 0].astype(np.float64)
            full, mean = np.zeros((d, d)), self.arrays["targets"] / n
            full[lower] = full.T[lower] = views["pairs"]
            full -= np.multiply.outer(sums, sums / n)
            trace, oracle = float(np.trace(full)), np.empty(1)
            core.oracle_shrinkage(trace, float((full * full).sum()), n, d, oracle)
            full.flat[:: d + 1] += max(self.shrinkage, float(oracle[0])) * trace / d + 1e-9 * n
            moved = self.arrays["products"] - np.multiply.outer(sums, mean)
            slopes = np.asarray(np.linalg.solve(full, moved), np.float64)
            self._line = Line(slopes, self.arrays["first"] + mean - sums / n @ slopes)
        return self._line

    # ---- adding up, taking out, keeping

    def unlearn(self, X: NDArray, y: Floats) -> None:
        """Take samples out again. Units of the inputs and the range of the targets stay."""
        taken, workspace = copy.deepcopy(self), self.features.workspace()
        for array in (*taken.layer.state.arrays.values(), *(taken.arrays[name] for name in SUMS)):
            array[...] = 0
        taken.layer.settle()
        for start in range(0, len(X), BLOCK):
            block = self._scaled(X[start : start + BLOCK])
            targets = y[start : start + BLOCK] - self.arrays["first"]
            taken._add(self.features.activate(block, workspace), 0, len(block), targets)
        diagonal, n_left = self.layer.coactivity.diagonal, self.n_samples - taken.n_samples
        before, out = (sums.layer.state.views()["pairs"][diagonal] for sums in (self, taken))
        if n_left < 0 or (out > before * (1 + ROUNDED) + ROUNDED).any():
            raise MergeError("the samples cannot have been learned: expected those that were, each as often as it was")
        if self.layer.sums_floats:
            for mine, theirs in zip(self.layer.state.views().values(), taken.layer.state.views().values(), strict=True):
                mine -= theirs
            self.layer.settle()
        else:
            self.layer.subtract(taken.layer.state, np.zeros(1, np.int64))
        for name in SUMS:
            self.arrays[name] = self.arrays[name] - taken.arrays[name]
        self._line = None

    def merge(self, other: RegressionSums) -> None:
        """Add what other sums have learned; theirs are changed to common units, so pass a copy."""
        if isinstance(self.units, Units) and isinstance(other.units, Units):
            own, theirs = self.units.merge(other.units)
            self.rescale(own)
            other.rescale(theirs)
        elif isinstance(self.units, Scaler) and isinstance(other.units, Scaler):
            self.units.merge(other.units)
        n, apart, mine, them = other.n_samples, other.arrays["first"] - self.arrays["first"], self.arrays, other.arrays
        sums = other.layer.state.views()["sums"][:, 0].astype(np.float64)
        mine["products"] = mine["products"] + them["products"] + np.multiply.outer(sums, apart)
        mine["squares"] = mine["squares"] + them["squares"] + 2 * apart * them["targets"] + n * apart * apart
        mine["targets"] = mine["targets"] + them["targets"] + n * apart
        mine["low"], mine["high"] = np.minimum(mine["low"], them["low"]), np.maximum(mine["high"], them["high"])
        self.layer.merge(other.layer.state, np.zeros(1, np.int64))
        self._line = None

    def kept(self) -> dict[str, NDArray]:
        """Everything that was learned, copied, by its name in a file."""
        views = {f"{name}.0": view.copy() for name, view in self.layer.state.views().items()}
        units = {} if self.units is None else self.units.kept()
        return {**views, **units, **{name: array.copy() for name, array in self.arrays.items()}}

    def restore(self, kept: Mapping[str, NDArray]) -> None:
        """Take over the arrays of a file."""
        self.layer.load(kept, ".0", 1)
        if self.units is not None:
            self.units.restore(kept)
        for name, array in self.arrays.items():
            array[...] = kept[name]
        self._line = None

    @property
    def state_bytes(self) -> int:
        """Bytes of what must be kept."""
        return regression_bytes(self.spec, self.n_targets)


def regression_bytes(spec: Spec, n_targets: int) -> int:
    """Bytes of what a regressor keeps."""
    scaler, n_numbers = spec.scaler(), n_targets * (spec.n_units + len(NAMES) - 1)
    arrays = sum(bytes_of(declared, sizes) for declared, sizes in spec.declared(1))
    return arrays + 8 * n_numbers + (0 if scaler is None else scaler.state_bytes)
