"""One sample of a table by one compiled call: predicted, or learned (`core/host/table.h`).

What River's loop does for each sample. The bits are those of `Engine.learn` and `Engine.scores`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.features import RampUnits, make_active
from kenyon.layers import SecondOrderLayer, State
from kenyon.model.calibration import Calibration
from kenyon.model.inputs import LARGEST
from kenyon.model.labels import Head
from kenyon.model.units import LAST, Units

if TYPE_CHECKING:
    from kenyon.model.engine import Engine


class TableStep:
    """The parts of a table's engine, taken apart once.

    Args:
        units, ramps, layer, calibration: of the engine.
        clock: the engine's.
        absent: whether NaN stands for an absent value.
    """

    def __init__(
        self,
        units: Units,
        ramps: RampUnits,
        layer: SecondOrderLayer,
        calibration: Calibration,
        clock: NDArray[np.int64],
        absent: bool,
    ) -> None:
        self.parts = (units, ramps, layer, calibration)
        self._layer, self._calibration, self._clock = layer, calibration, clock
        self._n_inputs, self._width = len(units.groups), -1
        self._inputs = core.pack(*units.packed(), LARGEST, absent, ramps.pack)
        self._benches: list[core.Pack] = []  # of this width
        self._sums: tuple[State, core.Pack] | None = None
        self._predicted: tuple[State, core.Pack] | None = None
        rule = layer.rule
        self._how = (rule.least, rule.oracle, rule.prior == "counts")
        self._reads = rule.kind == "discriminant"

    @classmethod
    def of(cls, engine: Engine) -> TableStep | None:
        """That of an engine; None where its samples are no rows of a table, or it keeps something else."""
        layer, units, ramps, calibration = engine.layers[-1], engine.scaler, engine.features, engine.calibration
        if calibration is None or not isinstance(layer, SecondOrderLayer) or not layer.sums_floats:
            return None
        if layer.half_life or not isinstance(units, Units) or not isinstance(ramps, RampUnits):
            return None
        return cls(units, ramps, layer, calibration, engine.clock, engine.params["missing"] == "absent")

    def best(self, sample: NDArray[np.float64], neurons: NDArray[np.int64]) -> int:
        """The index of the neuron that scores highest; -1 where the fast path does not apply."""
        if not self._reads:
            return -1
        layer = self._layer
        scored = layer.following.asked(layer.state).scored
        bench = self._take_bench(layer.width)
        place = core.best_in_table(
            sample, self._inputs, bench, scored, layer.state.arrays["class_counts"], self._how[2], neurons
        )
        self._give_back(bench, layer.width)
        return place

    @property
    def due(self) -> bool:
        """Whether it takes nothing but another calibration to learn the next sample."""
        time = int(self._clock[0])
        return bool(time & (time - 1)) and self._calibration.is_due(time)

    def renew(self) -> None:
        """Renew the calibration."""
        self._calibration.renew(self._layer, int(self._clock[0]))

    def learn(self, sample: NDArray[np.float64], neuron: int, head: Head) -> bool:
        """Learn a sample of a known class; False, and nothing is changed, where the fast path does not apply."""
        layer, following = self._layer, self._layer.following
        state, calibrated = layer.state, self._calibration.state
        if self._sums is None or self._sums[0] is not state:
            self._sums = (state, core.pack(*state.arrays.values(), layer.most_active, float(LAST), self._clock))
        if self._predicted is None or self._predicted[0] is not calibrated:
            self._predicted = (calibrated, core.pack(*self._calibration.packed()))
        bench = self._take_bench(layer.width)
        readout = following.take(1, asked=False)
        layer.settle(1)
        follows = NOTHING if readout is None else readout.followed
        done = core.learn_in_table(
            sample, self._inputs, bench, self._sums[1], self._predicted[1], head.neurons, head.mask(layer.width),
            neuron, follows[0], *self._how, follows[1],
        )  # fmt: skip
        if readout is not None and done <= 1:
            readout.left -= done
            following.put(readout)
        self._give_back(bench, layer.width)
        return done > 0

    def _take_bench(self, width: int) -> core.Pack:
        """Scratch that no other thread works on. One that an error kept is not missed."""
        if width != self._width:
            self._benches, self._width = [], width
        try:
            return self._benches.pop()
        except IndexError:
            scaled, active = np.empty(self._n_inputs, np.float32), make_active(self._layer.n_inputs, 1)
            size = max(core.calibrate_scratch(width), self._layer.n_inputs)
            return core.pack(scaled, *active, np.empty(size))

    def _give_back(self, bench: core.Pack, width: int) -> None:
        if width == self._width:
            self._benches.append(bench)


NOTHING = (core.pack(*[None] * 8), None)
"""In place of a readout that follows."""
