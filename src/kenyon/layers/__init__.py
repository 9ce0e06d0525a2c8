"""Learning layers `F_l`: from the activity `x_e` to the output `x_o`, and how it learns.

>>> from kenyon.features import Setting
>>> from kenyon.rules import MSE
>>> part = LAYERS["plastic"](MSE(), learning_rate=0.1, clamp=None, bits=32)
>>> layer = part.build(100, 0, Setting(n_inputs=64))
>>> layer.add_class()
>>> isinstance(layer, Layer), isinstance(layer, PlasticLayer), layer.weights.shape
(True, True, (100, 1))
>>> NO_LABEL, list(HIDDEN)
(-1, ['local-error'])
"""

from kenyon.layers._base import DIVERGED, NO_LABEL, Layer, LayerPart, Samples, Undo
from kenyon.layers._counting import Counting, CountingLayer
from kenyon.layers._diagonal import Diagonal, DiagonalLayer
from kenyon.layers._few_bit_weights import FewBitLayer
from kenyon.layers._integer_readout import IntegerReadout, integer_readout_numbers
from kenyon.layers._local_error import LocalError, LocalErrorLayer
from kenyon.layers._plastic import Plastic, PlasticLayer, clamp_bounds
from kenyon.layers._readout import NEVER
from kenyon.layers._second_order import SecondOrderLayer
from kenyon.layers._second_order_part import SecondOrder
from kenyon.layers._state import Declared, State, axis_sizes, bytes_of
from kenyon.utils.options import part_named

LAYERS: dict[str, type[LayerPart]] = {
    "plastic": Plastic,
    "counting": Counting,
    "second-order": SecondOrder,
    "diagonal": Diagonal,
}
"""The kinds of learning layer by name."""

HIDDEN: dict[str, type[LocalError]] = {"local-error": LocalError}
"""The kinds of hidden layers by name."""


def layer_part(value: LayerPart | str) -> LayerPart:
    """A learning layer by name, `module:Class`, or the part itself.

    Example:
        >>> layer_part("second-order")
        SecondOrder()
    """
    return part_named(value, LAYERS, LayerPart, "layer")


def hidden_part(value: LocalError | str) -> LocalError:
    """Hidden layers by name, or the part itself.

    Example:
        >>> hidden_part("local-error")
        LocalError()
    """
    return part_named(value, HIDDEN, LocalError, "hidden")


__all__ = [
    "DIVERGED",
    "HIDDEN",
    "LAYERS",
    "NEVER",
    "NO_LABEL",
    "Counting",
    "CountingLayer",
    "Declared",
    "Diagonal",
    "DiagonalLayer",
    "FewBitLayer",
    "IntegerReadout",
    "Layer",
    "LayerPart",
    "LocalError",
    "LocalErrorLayer",
    "Plastic",
    "PlasticLayer",
    "Samples",
    "SecondOrder",
    "SecondOrderLayer",
    "State",
    "Undo",
    "axis_sizes",
    "bytes_of",
    "clamp_bounds",
    "hidden_part",
    "integer_readout_numbers",
    "layer_part",
]
