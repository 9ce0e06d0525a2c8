"""A model that counted in wide sums as one with synapses of few bits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from kenyon.errors import ConfigError
from kenyon.layers import Counting, CountingLayer, FewBitLayer, Plastic
from kenyon.model.fitted import Core
from kenyon.model.recommend import settle
from kenyon.rules import MEAN


def narrowed_layer(part: Any, bits: Literal[8, 4, 3, 2]) -> Plastic:
    """The plastic part with few bits that a counting one is narrowed to."""
    if not isinstance(part, Counting):
        raise ConfigError(f"the layer is {part!r}: expected layer='counting', whose sums are narrowed")
    if part.readout == "bayes":
        raise ConfigError("readout is 'bayes': expected another, since naive Bayes needs the sums as they are")
    if bits not in (8, 4, 3, 2):
        raise ConfigError(f"bits is {bits!r}: expected 8, 4, 3 or 2")
    return Plastic(MEAN(part.cap), bits=bits)


def narrowed_core(core: Core, bits: Literal[8, 4, 3, 2]) -> Core:
    """The same model with weights of few bits."""
    engine, layer = core.engine, core.engine.layers[-1]
    part = narrowed_layer(engine.spec.layer, bits)
    params: Mapping[str, Any] = {**engine.params, "layer": part}
    spec = settle(params, engine.n_inputs, 0, core.inputs.floats, n_units=engine.spec.n_units)
    narrow = replace(spec, scale=engine.spec.scale).build(engine.seed, params)
    few = narrow.layers[-1]
    assert isinstance(layer, CountingLayer) and isinstance(few, FewBitLayer)
    for _ in range(engine.n_classes):
        few.add_class()
    few.take(layer.state)
    narrow.clock[:] = engine.clock
    if narrow.scaler is not None and engine.scaler is not None:
        narrow.scaler.restore(engine.scaler.kept())
    return Core(narrow, core.heads, core.inputs)
