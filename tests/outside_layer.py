"""A layer from outside the package with state of its own kind: it counts how often units were active."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.features import Active, Setting
from kenyon.layers import Declared, Layer, LayerPart, Samples, State
from kenyon.utils.options import option


@dataclass(frozen=True)
class Hits(LayerPart):
    """score_j = sum over the active units of log(1 + hits_ij)."""

    step: int = option(1, "What a hit counts for.", "integer", high=100)
    tired: Any = option(0.0, "A function of time that may fail; nothing else comes of it.", "moving")

    def declare(self, setting: Setting) -> tuple[Declared, ...]:
        return Declared("hits", ("units", "neurons"), np.uint16), Declared("flags", ("units",), np.uint8, bits=1)

    def build(self, n_inputs: int, seed: int, setting: Setting) -> HitLayer:
        return HitLayer(n_inputs, 0, self.declare(setting))

    @property
    def moving(self) -> list[Any]:
        return [self.tired, 0.0]


class HitLayer(Layer):
    """A count for each unit and class."""

    def add_class(self) -> None:
        self.n_classes += 1
        self.state = self.state.grown(self.n_neurons + 1)
        self.state.arrays["hits"][:, self.n_neurons - 1] = 0

    def learn(self, samples: Samples, outputs: NDArray[np.float32] | None = None) -> int:
        active, first, last, labels, *_ = samples
        units, _, counts = active
        for s in range(first, last):
            if outputs is not None:
                outputs[s - first] = self.forward(active, s, s + 1)[0]
            if labels[s] >= 0:
                on = units[s, : counts[s]]
                self.state.arrays["hits"][on, labels[s]] += 1
                np.bitwise_or.at(self.state.arrays["flags"], on // 8, (1 << (on % 8)).astype(np.uint8))
        return last

    def forward(self, active: Active, first: int, last: int) -> NDArray[np.float32]:
        units, _, counts = active
        hits = np.log1p(self.state.arrays["hits"]).astype(np.float32)
        return np.array([hits[units[s, : counts[s]]].sum(axis=0) for s in range(first, last)], np.float32)

    def updates(self, samples: Samples, labelled: NDArray[np.bool_], n_plastic: int) -> int:
        return int(samples.active[2][samples.first : samples.last] @ labelled)

    def mark(self) -> HitUndo:
        return HitUndo(self)

    def weight_means(self) -> NDArray[np.float64]:
        return self.weights.mean(axis=0, dtype=np.float64)

    @property
    def weights(self) -> NDArray[np.float32]:
        return np.log1p(self.state.views()["hits"]).astype(np.float32)


class HitUndo:
    """A copy of everything."""

    def __init__(self, layer: HitLayer) -> None:
        self._layer, self._n_classes = layer, layer.n_classes
        self._state, self._kept = layer.state, {name: a.copy() for name, a in layer.state.arrays.items()}

    def note(self, active: Active, first: int, last: int) -> None: ...

    def undo(self) -> None:
        self._layer.state = State(self._state.declared, self._state.sizes, {k: a.copy() for k, a in self._kept.items()})
        self._layer.n_classes = self._n_classes
