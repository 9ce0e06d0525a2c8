"""What a model is composed of, with nothing left open: the answer of `recommend`, and what an engine is built from."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon.errors import MemoryBudgetError
from kenyon.features import FeaturesPart, Layout, Patches, Ramps, Setting, Windows, inputs_beside, layout_of
from kenyon.features.front import FrontPart
from kenyon.layers import Counting, Declared, Diagonal, Layer, LayerPart, LocalError, SecondOrder, axis_sizes, bytes_of
from kenyon.model.calibration import Calibration
from kenyon.model.options import OPTIONS
from kenyon.model.scale import Scaler
from kenyon.model.units import Units
from kenyon.utils.options import is_default

if TYPE_CHECKING:
    from kenyon.model.engine import Engine

FEWEST_UNITS = 16
"""A model with fewer units is refused."""

SERIES_UNIT = 0.25
"""What a deviation of a series becomes, for windows that expect numbers from 0 to 1."""


@dataclass(frozen=True, repr=False)
class Spec:
    """The parts of a model and how its samples are taken; no value is `"auto"`.

    It prints as the code that makes the same model.

    Attributes:
        n_inputs: width of a sample.
        front: what makes samples of a sensor's, if anything.
        features, hidden, layer: the parts.
        shape, axes, scale, missing, unit_norm, memory_budget: as in `KenyonClassifier`.

    Example:
        >>> from kenyon import recommend
        >>> recommend(784, shape=(28, 28), memory_budget="20KB").layer
        SecondOrder(bits=16, arithmetic='integer', prior='equal')
    """

    n_inputs: int
    features: FeaturesPart
    layer: LayerPart
    hidden: LocalError | None = None
    shape: tuple[int, ...] | None = None
    axes: str = "auto"
    scale: bool | str = False
    missing: str = "error"
    unit_norm: bool = True
    memory_budget: int | None = None
    front: FrontPart | None = None

    @property
    def layout(self) -> Layout:
        """How a sample with a shape lies in memory."""
        return layout_of(self.shape or (), None if self.axes == "auto" else self.axes, 0, self.n_inputs)

    @property
    def widths(self) -> tuple[int, ...]:
        """Widths of the hidden layers."""
        return () if self.hidden is None else tuple(self.hidden.widths)

    @property
    def integer(self) -> bool:
        """Whether everything is computed in integers."""
        return getattr(self.layer, "arithmetic", "float") == "integer"

    @property
    def in_bytes(self) -> bool:
        """Whether the activity of units is bytes: in integers, and before a layer that adds them up exactly."""
        sums = isinstance(self.layer, (SecondOrder, Counting)) and isinstance(self.features, Windows)
        sums = sums or isinstance(self.features, Patches)
        few = isinstance(self.layer, SecondOrder) and self.features.name == "dense" and self.layer.bits != 32
        return self.integer or sums or few

    def setting(self, seed: int = 0) -> Setting:
        """What the parts are built for."""
        return Setting(
            n_inputs=self.n_inputs,
            seed=seed,
            shape=self.shape,
            axes=self.axes,
            unit_norm=self.unit_norm,
            in_bytes=self.in_bytes,
            integer=self.integer,
            own_range=self.scale == "range",
            features=self.features,
            hidden=self.widths,
        )

    @property
    def n_units(self) -> int:
        """Units of the feature layer."""
        return self.features.n_units(self.setting())

    def with_units(self, n_units: int) -> Spec:
        """The same with another number of units."""
        features: Any = self.features
        return replace(self, features=replace(features, units=n_units))

    def declared(self, n_classes: int) -> list[tuple[tuple[Declared, ...], dict[str, int]]]:
        """What each layer keeps, hidden layers first, with the sizes of its axes."""
        hidden = [] if self.hidden is None else [self.hidden.declare()] * len(self.widths)
        widths = pairwise([self.n_units, *self.widths, n_classes])
        kept = [*hidden, self.layer.declare(self.setting())]
        return [(own, axis_sizes(units, neurons)) for own, (units, neurons) in zip(kept, widths, strict=True)]

    def array_bytes(self, n_classes: int) -> int:
        """Bytes of the arrays with that many classes: layers, counters, moments of scaled inputs."""
        scaler = self.scaler()
        moments = 0 if scaler is None else scaler.state_bytes
        moments += Calibration(self.n_units, self._n_beside).state_bytes_with(n_classes) if self.calibrates else 0
        return sum(bytes_of(declared, sizes) for declared, sizes in self.declared(n_classes)) + 16 + moments

    @property
    def calibrates(self) -> bool:
        """Whether samples are predicted before they are learned: tables, whose readout is solved in a moment."""
        ramps = isinstance(self.features, Ramps) and isinstance(self.layer, SecondOrder)
        return ramps or isinstance(self.layer, Diagonal)

    @property
    def _n_beside(self) -> int:
        """Inputs that are units of their own, before ramps."""
        return inputs_beside(self.n_inputs, self.n_units) if isinstance(self.features, Ramps) else 0

    def scaler(self) -> Scaler | Units | None:
        """What scales the inputs: each by itself, or a series by its channels; None where they are not scaled.

        Sums of ramps can be re-expressed in other units where the inputs stand beside them."""
        if self.scale is not True:
            return None
        half_life = getattr(self.layer, "half_life", None)
        if self._n_beside and half_life is None:
            return Units(self.n_inputs)
        if not isinstance(self.features, Windows):
            return Scaler(np.arange(self.n_inputs), half_life=half_life)
        layout = self.layout
        channels = layout.places() // (layout.height * layout.width)
        return Scaler(channels.astype(np.int64), SERIES_UNIT, half_life)

    def build(self, seed: int, params: Mapping[str, Any]) -> Engine:
        """An engine that has learned nothing.

        Args:
            seed: what is drawn is drawn from it.
            params: the classifier's parameters, kept for the model's file.
        """
        from kenyon.model.engine import Engine

        setting = self.setting(seed)
        features = self.features.build(setting)
        layers: list[Layer] = []
        n_units = features.n_outputs
        for width in self.widths:
            assert self.hidden is not None
            layers.append(self.hidden.build(n_units, width, seed + len(layers) + 1))
            n_units = width
        layers.append(self.layer.build(n_units, seed + len(layers) + 1, setting))
        n_threads = threads_of(OPTIONS["n_jobs"].check(params["n_jobs"]))
        calibration = Calibration(features.n_outputs, self._n_beside) if self.calibrates else None
        known = (self.layer.moving, seed, n_threads, self, params)
        return Engine(features, layers, *known, scaler=self.scaler(), calibration=calibration)

    def __repr__(self) -> str:
        own = {field.name: getattr(self, field.name) for field in fields(self) if field.name in OPTIONS}
        changed = [f"{name}={value!r}" for name, value in own.items() if not is_default(OPTIONS[name], value)]
        return f"KenyonClassifier({', '.join(changed)})"


def threads_of(n_jobs: int | None) -> int:
    """Threads of an `n_jobs`: None is one, -1 all processors, -2 all but one, and so on."""
    if n_jobs is None:
        return 1
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)


def units_within(lowest: int, highest: int, budget: int, bytes_with: Callable[[int], int]) -> int:
    """The most units from `lowest`, which fits, to `highest` that a budget holds: the state grows with the units."""
    while lowest < highest:
        middle = (lowest + highest + 1) // 2
        lowest, highest = (middle, highest) if bytes_with(middle) <= budget else (lowest, middle - 1)
    return lowest


def check_budget(budget: int | str | None, needed: int, new: Sequence[Hashable]) -> None:
    """Refuse new classes that would not fit, or sums that became wider where there are none."""
    most = OPTIONS["memory_budget"].check(budget)
    if most is not None and needed > most and not new:
        raise MemoryBudgetError(
            f"these samples would make the state {needed:,} bytes, since its sums have outgrown 32 bits: "
            f"expected at most {most:,}, the memory budget"
        )
    if most is not None and needed > most:
        raise MemoryBudgetError(
            f"{len(new)} more class(es), {', '.join(map(repr, new[:5]))}, would make the state {needed:,} bytes: "
            f"expected at most {most:,}, the memory budget. Raise memory_budget or expected_classes."
        )
