"""Learning layers `F_l`: from the activity `x_e` to the output `x_o`, and how it learns."""

from kenyon.layers._base import NO_LABEL, Layer, Undo
from kenyon.layers._plastic import PlasticLayer, declared_by
from kenyon.layers._state import Declared, State, axis_sizes, bytes_of

__all__ = [
    "NO_LABEL",
    "Declared",
    "Layer",
    "PlasticLayer",
    "State",
    "Undo",
    "axis_sizes",
    "bytes_of",
    "declared_by",
]
