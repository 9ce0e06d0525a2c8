"""Two readouts of a table race: of all units, and of the inputs that stand beside ramps alone.

Readouts of the state after t labelled samples predict those that follow, until there are t // 4 + 1 more, or inputs get
other units. Of the samples that one of them alone was right on, w were right by the inputs and l by all units; both
are multiplied by 0.8 when the readouts are replaced. Then the inputs lead where w - l > sqrt(w + l). Samples of the
class of the one before do not count.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from kenyon.reference._activity import Active
from kenyon.reference._readout import Readout


class Race:
    """Which units a second-order layer reads.

    Args:
        layer: the layer.
        n_beside: inputs that are its first units.
    """

    def __init__(self, layer: Any, n_beside: int) -> None:
        self.layer, self.n_beside = layer, n_beside
        self.since, self.wins, self.losses, self.last = 0, 0.0, 0.0, -1
        self.readouts: tuple[Readout, Readout] | None = None

    def note(self, x: Active, label: int, plastic: list[int], time: int) -> None:
        """Predict a sample before it is learned."""
        if time and (not self.since or time >= self.since + self.since // 4 + 1):
            self.since, self.wins, self.losses = time, 0.8 * self.wins, 0.8 * self.losses
            leads = self.wins - self.losses > sqrt(self.wins + self.losses)
            self.layer.first = self.n_beside if leads else 0
            self.layer.solved = None
            self.readouts = (self.layer.readout(0), self.layer.readout(self.n_beside))
        if not self.since or self.readouts is None:
            return
        known = [neuron for neuron in plastic if neuron in self.readouts[0].known]
        changed, self.last = label != self.last, label
        if changed and label in known and len(known) > 1:
            every, plain = (known[int(readout.outputs(x)[known].argmax())] == label for readout in self.readouts)
            self.wins += plain and not every
            self.losses += every and not plain

    def outdated(self) -> None:
        """The state was changed by something other than learning."""
        self.since = 0
