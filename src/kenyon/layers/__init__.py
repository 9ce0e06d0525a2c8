"""Learning layers `F_l`: from the activity `x_e` to the output `x_o`, and how it learns.

>>> import numpy as np
>>> from kenyon.rules import MSE
>>> layer = LAYERS["plastic"](n_inputs=100, rule=MSE(), clamp=(np.float32(-1), np.float32(1)))
>>> layer.add_class()
>>> isinstance(layer, Layer), isinstance(layer, PlasticLayer), layer.weights.shape
(True, True, (100, 1))
>>> NO_LABEL
-1
"""

from kenyon.errors import ConfigError
from kenyon.layers._base import DIVERGED, NO_LABEL, Layer, Samples, Undo
from kenyon.layers._counting import CountingLayer
from kenyon.layers._few_bit_weights import FewBitLayer
from kenyon.layers._local_error import LocalErrorLayer
from kenyon.layers._plastic import PlasticLayer
from kenyon.layers._readout import NEVER
from kenyon.layers._second_order import SecondOrderLayer
from kenyon.layers._state import Declared, State, axis_sizes, bytes_of
from kenyon.layers._whole_readout import WholeReadout, whole_readout_numbers
from kenyon.utils.outside import is_outside, load_class

LAYERS: dict[str, type[Layer]] = {
    "plastic": PlasticLayer,
    "few-bit": FewBitLayer,
    "counting": CountingLayer,
    "second-order": SecondOrderLayer,
}
"""The kinds of layer by name."""


def layer_class(name: str) -> type[Layer]:
    """A kind of layer by name, or a class from outside the package as `module:Class`.

    Example:
        >>> layer_class("plastic").__name__
        'PlasticLayer'
    """
    if not is_outside(name):
        return LAYERS[name]
    found = load_class(name, "layer")
    if not issubclass(found, Layer):
        raise ConfigError(f"layer = {name!r}: expected a subclass of kenyon.layers.Layer")
    return found


__all__ = [
    "DIVERGED",
    "LAYERS",
    "NEVER",
    "NO_LABEL",
    "CountingLayer",
    "Declared",
    "FewBitLayer",
    "Layer",
    "LocalErrorLayer",
    "PlasticLayer",
    "Samples",
    "SecondOrderLayer",
    "State",
    "Undo",
    "WholeReadout",
    "axis_sizes",
    "bytes_of",
    "layer_class",
    "whole_readout_numbers",
]
