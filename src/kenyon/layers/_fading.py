"""A half-life: what a layer of sums keeps is halved after every half-life, so that it follows a stream that changes.

When the layer has learned twice `half_life` samples, the count of every class is halved, rounded up, and with it the
weight of what is kept for the class: means and the scatter per sample stay as they are, and what comes next moves
them twice as far. So a sample counts for half after `half_life` others, for a quarter after twice as many, and no
class is ever forgotten altogether. It follows from the counts alone, so the stream may be cut in any way, and nothing
more is kept.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kenyon.layers._base import NO_LABEL, Layer, Samples
from kenyon.layers._state import State


class Fading(Protocol):
    """A layer whose sums can be halved."""

    half_life: int
    state: State

    def learn_on(self, samples: Samples, outputs: NDArray[np.float32] | None) -> None:
        """Learn samples between two halvings."""

    def fade(self) -> None:
        """Halve the weight of everything that was learned."""


FADES = "what came earlier fades in each model by its own time"
"""Why merged models that fade are not the model of a single pass."""


def halved(counts: NDArray) -> NDArray:
    """Counts halved, rounded up."""
    return (counts + counts.dtype.type(1)) // counts.dtype.type(2)


def learn_and_fade(layer: Fading, samples: Samples, outputs: NDArray[np.float32] | None) -> int:
    """Learn samples in order, halving the weight of what was learned whenever it is time."""
    assert isinstance(layer, Layer)
    at = first = samples.first
    while at < samples.last:
        part = samples._replace(first=at)
        some = part.labels[at : part.last]
        (labelled,) = np.nonzero(some != NO_LABEL)
        class_counts = labelled[part.plastic_in(layer)[some[labelled]]]
        room = max(1, 2 * layer.half_life - int(layer.state.arrays["class_counts"].sum()))
        full = class_counts.size >= room
        end = at + int(class_counts[room - 1]) + 1 if full else part.last
        layer.learn_on(part._replace(last=end), None if outputs is None else outputs[at - first : end - first])
        if full:
            layer.fade()
        at = end
    return samples.last
