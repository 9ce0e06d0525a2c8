"""A model that counted in wide sums as one with synapses of few bits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kenyon.errors import ConfigError
from kenyon.layers import CountingLayer, FewBitLayer
from kenyon.model.build import build_engine, settle
from kenyon.model.fitted import Core


def narrowed_core(core: Core, params: Mapping[str, Any]) -> Core:
    """The same model with these parameters, which differ in layer and bits alone."""
    engine, layer = core.engine, core.engine.layers[-1]
    if not isinstance(layer, CountingLayer):
        raise ConfigError(f"the layer is a {type(layer).__name__}: expected layer='counting', whose sums are narrowed")
    if layer.bayes:
        raise ConfigError("readout is 'bayes': expected another, since naive Bayes needs the sums as they are")
    params = dict(engine.params) | {name: params[name] for name in ("layer", "bits")}
    settings = settle(params, engine.n_inputs, 0, 0, n_units=layer.n_inputs, floats=core.inputs.floats)
    narrow = build_engine(settings, engine.n_inputs, engine.seed, params)
    few = narrow.layers[-1]
    if not isinstance(few, FewBitLayer):
        raise ConfigError(f"bits is {params['bits']!r}: expected 8, 4, 3 or 2")
    for _ in range(engine.n_classes):
        few.add_class()
    few.take(layer.state)
    narrow.clock[:] = engine.clock
    if narrow.scaler is not None and engine.scaler is not None:
        narrow.scaler.restore(engine.scaler.kept())
    return Core(narrow, core.heads, core.inputs)
