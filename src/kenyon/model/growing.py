"""Tables have more ramps where the stream goes on: few samples cannot tell many units apart, many can.

    ramps(t) = ramps * 2 from t = 8,192 labelled samples on,  * 4 from t = 65,536;   SECOND_ORDER_UNITS in all at most

Units are added before a labelled sample when the number of those before it is a power of two, and as many as the memory
budget holds with the classes known by then. Sums of the new ones with what came before are those that normal classes
with the same moments would have left (`features/_rescaling.py`), so the stream may be cut in any way. Where the inputs
alone lead the race of readouts (`calibration.py`), no ramps are added. Units that were given explicitly stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kenyon.features import Ramps, RampUnits, inputs_beside
from kenyon.layers import SecondOrder, SecondOrderLayer, State, axis_sizes
from kenyon.model.labels import NO_LABEL
from kenyon.model.recommend import SECOND_ORDER_UNITS, usual_ramps
from kenyon.model.spec import Spec

if TYPE_CHECKING:
    from kenyon.model.engine import Engine

STEPS = ((1 << 13, 2), (1 << 16, 4))
"""(labelled samples, factor): from so many on there are so many times the ramps."""


def grows(spec: Spec, params: Mapping[str, Any]) -> bool:
    """Whether ramps may be added: their number was left open, and the inputs, in units of their own, stand beside."""
    explicit = params["n_hidden"] != "auto" or getattr(params["features"], "units", "auto") != "auto"
    plain = isinstance(spec.features, Ramps) and isinstance(spec.layer, SecondOrder) and spec.layer.half_life is None
    return plain and not explicit and spec.scale is True and bool(inputs_beside(spec.n_inputs, spec.n_units))


def wanted_units(spec: Spec, time: int) -> int:
    """Units after so many labelled samples, whatever the memory budget.

    Example:
        >>> from kenyon import recommend
        >>> [wanted_units(recommend(20, dtype=float), time) for time in (8_191, 8_192, 1_000_000)]
        [220, 420, 820]
    """
    factor = max((factor for least, factor in STEPS if time >= least), default=1)
    return min(spec.n_inputs + factor * usual_ramps(spec.n_inputs), SECOND_ORDER_UNITS)


def growth(engine: Engine, neurons: NDArray[np.int64]) -> dict[int, int]:
    """The samples of a call before which units are added, with the number that is wanted in all.

    Args:
        neurons: of the samples, NO_LABEL where they have no label.
    """
    if not grows(engine.spec, engine.params):
        return {}
    (labelled,), first, found = np.nonzero(neurons != NO_LABEL), STEPS[0][0], dict[int, int]()
    time = max(first, 1 << (engine.time - 1).bit_length()) if engine.time else first  # a power of two from now on
    while time < engine.time + len(labelled):
        wanted = wanted_units(engine.spec, time)
        if wanted > engine.spec.n_units:
            found[int(labelled[time - engine.time])] = wanted
        time *= 2
    return found


def grown_layer(layer: SecondOrderLayer, ramps: RampUnits, spec: Spec, seed: int) -> SecondOrderLayer:
    """A layer with the units of the spec, which has learned what this one did."""
    views, before, n_units = layer.state.views(), layer.n_inputs, spec.n_units
    pairs, lower = np.zeros((before, before)), np.tril_indices(before)
    pairs[lower] = pairs.T[lower] = views["pairs"]
    how = (views["sums"].astype(np.float64), views["class_counts"].astype(np.float64))
    pairs, sums = ramps.grown(before, pairs, *how)
    sizes = {name: axis_sizes(n_units, 0)[name] for name in ("units", "pairs")}
    state = State(layer.state.declared, layer.state.sizes | sizes)
    new = {"pairs": pairs[np.tril_indices(n_units)], "sums": sums, "class_counts": views["class_counts"]}
    for name, view in state.views().items():
        view[...] = new[name]
    large = spec.layer.build(n_units, seed, spec.setting(seed))
    assert isinstance(large, SecondOrderLayer)
    large.restore((state, layer.n_classes))
    return large
