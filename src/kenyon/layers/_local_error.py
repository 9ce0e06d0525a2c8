"""A hidden layer with a local error signal: it learns what its own fixed readout of the classes gets wrong.

    x_o = W^T x_e,   h = ReLU(x_o),   e[c] = y[c] - sum_j B[c, j] h[j]
    dW[i, j] = l * x_e[i] * sum_c B[c, j] e[c]   where x_o[j] > 0, none elsewhere

`B` is random and never changes: for each class half of the neurons count +1, the others -1, over the square root of
their number. It is drawn from the seed, so it is no part of the state. The step is that of the MSE rule with the
modulatory signal `x_m = x_o + B^T e`, and everything in it is known inside the layer: no error travels from layer to
layer, and the next layer's rule plays no part. Weights begin at random, since neurons that begin equal stay equal.

Reference: Mostafa, Ramesh and Cauwenberghs, "Deep supervised learning using local errors", Frontiers in
Neuroscience 12, 2018.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kenyon import core
from kenyon.errors import MergeError
from kenyon.features import Active
from kenyon.layers._base import Layer, Samples
from kenyon.layers._plastic import WEIGHTS
from kenyon.layers._rows_undo import KeptRows, RowsUndo, kept_bytes, kept_rows
from kenyon.layers._state import Declared
from kenyon.utils.options import Part, option


@dataclass(frozen=True, repr=False)
class LocalError(Part):
    """Hidden layers between the features and the output, each learning from an error of its own.

    Example:
        >>> LocalError((500,))
        LocalError(widths=(500,))
    """

    name: ClassVar[str] = "local-error"

    widths: Sequence[int] = option((100,), "Widths of the hidden layers, the first above the features.", "widths")
    rate: float = option(1.0, "Learning rate.", "number", low=0.0, high=1e6)

    def declare(self) -> tuple[Declared, ...]:
        """The arrays that each of the layers keeps."""
        return (WEIGHTS,)

    def build(self, n_inputs: int, width: int, seed: int) -> LocalErrorLayer:
        """One of the layers, which has learned nothing."""
        return LocalErrorLayer(n_inputs, width, seed, self.rate)


def code_of(number: int, n_hidden: int, width: int, seed: int) -> NDArray[np.uint8]:
    """The random code of a class: half of the neurons are 1, the others and the padding up to `width` 0."""
    row = np.zeros(width, np.uint8)
    core.draw_code(seed, number, n_hidden // 2, np.empty(n_hidden, np.uint32), row[:n_hidden])
    return row


class LocalErrorLayer(Layer):
    """A hidden layer that learns from its own error.

    Args:
        n_inputs: presynaptic units.
        n_hidden: the layer's width.
        seed: the readout and the first weights are drawn from it.
        rate: the learning rate.

    Example:
        >>> layer = LocalErrorLayer(n_inputs=100, n_hidden=20, seed=0, rate=1.0)
        >>> layer.add_classes(3)
        >>> layer.weights.shape, layer.codes.shape
        ((100, 20), (3, 24))
    """

    def __init__(self, n_inputs: int, n_hidden: int, seed: int, rate: float) -> None:
        super().__init__(n_inputs, n_hidden, (WEIGHTS,))
        self._seed, self._rate = seed, np.float32(rate)
        self.codes = np.zeros((0, self.width), np.float32)
        self._kept: KeptRows | None = None
        reach = np.float32(np.sqrt(3 / n_hidden))  # of variance 1 / n_hidden
        core.draw_weights(seed, reach, self.state.arrays["weights"][:, :n_hidden])

    @property
    def weights(self) -> NDArray[np.float32]:
        return self.state.arrays["weights"][:, : self.n_neurons]

    def add_class(self) -> None:
        self.add_classes(1)

    def add_classes(self, n: int) -> None:
        before = self.n_classes
        self.n_classes += n
        new = np.zeros((n, self.width), np.float32)
        for row, number in zip(new, range(before, self.n_classes), strict=True):
            signs = 2 * code_of(number, self.n_hidden, self.width, self._seed).astype(np.float32) - 1
            row[: self.n_hidden] = signs[: self.n_hidden] / np.sqrt(np.float32(self.n_hidden))
        self.codes = np.concatenate([self.codes[:before], new])  # a call that was undone leaves more

    def learn(self, samples: Samples, outputs: NDArray[np.float32] | None = None) -> int:
        active, first, last, labels, *_ = samples
        if outputs is None:
            outputs = np.empty((last - first, self.width), np.float32)
        codes, weights = self.codes[: self.n_classes], self.state.arrays["weights"]
        scratch = (np.empty(self.width, np.float32), np.empty(len(codes), np.float32))
        return core.local_error(weights, codes, *active, first, last, labels, self._rate, outputs, *scratch)

    def forward(self, active: Active, first: int, last: int) -> NDArray[np.float32]:
        outputs = np.empty((last - first, self.width), np.float32)
        core.forward(self.state.arrays["weights"], *active, first, last, outputs)
        return outputs

    def updates(self, samples: Samples, labelled: NDArray[np.bool_], n_plastic: int) -> int:
        active, first, last, *_ = samples
        return int(active[2][first:last] @ labelled) * n_plastic

    def weight_means(self) -> NDArray[np.float64]:
        means = np.empty(self.n_neurons)
        core.column_means(self.weights, means)
        return means

    def unlike_one_pass(self) -> str | None:
        raise MergeError(
            "the model has hidden layers: expected none, since a layer learns from what the one below it has become"
        )

    def mark(self) -> RowsUndo:
        self._kept = kept_rows(self.state.arrays["weights"], self._kept)
        return RowsUndo(self, self._kept)

    @property
    def keeps_rows(self) -> bool:
        """Learning changes the synapses of active units alone."""
        return True

    @property
    def nbytes(self) -> int:
        return super().nbytes + self.codes.nbytes + kept_bytes(self.state.arrays["weights"])

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_kept": None}
