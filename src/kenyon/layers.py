"""The learning layers `F_l`: all-to-all layers that learn online, each from its own local signal.

    x_o = W^T x_e,   W <- f(x_e, x_o, x_m; W, beta)

The last layer has a neuron for each class, and its modulatory signal `x_m` is the one-hot label.
A hidden layer's signal is a fixed random code of the label: half of its neurons are told to be on
for a class, the other half to be off. Its rectified output, before it learns the sample, is the next
layer's input. No error travels from layer to layer, so a layer can learn a whole block before the
next one sees it, with the same result as sample by sample.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kenyon._kernels._vector import lanes_side_by_side
from kenyon._kernels.draw import draw_code
from kenyon._kernels.learn import NO_LABEL, WIDTH, column_means, compile_rule, forward_block, rectify
from kenyon.features import BLOCK, Active, make_active
from kenyon.rules import Rule

__all__ = ["NO_LABEL", "Layer", "LayerSnapshot"]

LayerSnapshot = tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.float32], int]


class Layer:
    """One all-to-all layer.

    Args:
        n_inputs: presynaptic units.
        rule: the plasticity rule.
        clamp: lowest and highest weight.
        n_hidden: 0 for the output layer, which grows with the classes; otherwise the layer's width.
        seed: the random codes of a hidden layer are drawn from it.
    """

    def __init__(
        self, n_inputs: int, rule: Rule, clamp: tuple[np.float32, np.float32], n_hidden: int = 0, seed: int = 0
    ) -> None:
        self.n_inputs, self.n_neurons, self.n_hidden = n_inputs, 0, n_hidden
        self.rule, self.clamp = rule, clamp
        self._seed = seed
        self._weights = np.empty((n_inputs, 0), np.float32)
        self.sums = np.empty(0, np.float64)
        self.codes = np.empty((0, 0), np.float32)
        step = rule.plasticity
        self._windowed = rule.window is not None
        # one labelled neuron is a column; a random code is half the layer, better taken by rows
        by_column = step.gated and not n_hidden
        self._learn = compile_rule(type(step).delta, len(step.parameters), by_column, step.event_driven, self._windowed)
        self._by_column, self._event_driven = by_column, step.event_driven
        self._dense = np.zeros(0 if step.event_driven else n_inputs, np.float32)
        if n_hidden:
            self._grow(n_hidden)
        self._compiled = False

    @property
    def weights(self) -> NDArray[np.float32]:
        """(n_inputs, n_neurons), a view."""
        return self._weights[:, : self.n_neurons]

    @property
    def windowed(self) -> bool:
        """True if the sum of each neuron's weights is part of the state."""
        return self._windowed

    @property
    def width(self) -> int:
        """Neurons with the padding to whole vectors."""
        return self._weights.shape[1]

    def add_class(self) -> None:
        """Make ready for one more class: a neuron of the output layer, a code of a hidden one."""
        if not self.n_hidden:
            self._grow(self.n_neurons + 1)
            self.codes = np.eye(self.n_neurons, self.width, dtype=np.float32)
            return
        code = np.zeros(self.n_hidden, np.uint8)
        draw_code(np.uint64(self._seed), len(self.codes), self.n_hidden // 2, code)
        row = np.zeros((1, self.width), np.float32)
        row[0, : self.n_hidden] = code
        self.codes = np.concatenate([self.codes.reshape(-1, self.width), row])

    def _grow(self, n_neurons: int) -> None:
        padded = -(-n_neurons // WIDTH) * WIDTH
        if padded != self.width:
            weights = np.zeros((self.n_inputs, padded), np.float32)
            weights[:, : self.n_neurons] = self.weights
            self._weights = weights
            self.sums = np.concatenate([self.sums, np.zeros(padded - self.sums.size)])
        initial = np.clip(np.float32(self.rule.plasticity.initial_weight), *self.clamp)
        self._weights[:, self.n_neurons : n_neurons] = initial
        self.sums[self.n_neurons : n_neurons] = float(initial) * self.n_inputs
        self.n_neurons = n_neurons

    def learn(
        self,
        active: Active,
        first: int,
        last: int,
        labels: NDArray[np.int64],
        plastic: NDArray[np.bool_] | None,
        beta: NDArray[np.float32],
        outputs: NDArray[np.float32] | None = None,
    ) -> int:
        """Learn samples first .. last - 1 of a block in order.

        Args:
            labels: class number of each sample of the block, or NO_LABEL.
            plastic: the output neurons that may learn (a task's head); None for all.
            beta: (block, 2 + parameters): learning rate, window, the rule's own parameters.
            outputs: room for `x_o` of each sample before it is learned, where wanted.

        Returns:
            The first sample that diverged, not learned, or `last`.
        """
        if plastic is None:
            plastic = np.arange(self.width) < self.n_neurons
        if outputs is None:
            n_outputs = 0 if self._by_column else last - first
            outputs = np.empty((n_outputs, self.width), np.float32)
        arguments = (labels, self.codes, plastic, beta[:, 0], beta[:, 2:], beta[:, 1], self.clamp, outputs, self._dense)
        if not self._compiled:
            with lanes_side_by_side():
                self._learn(self._weights, self.sums, active, 0, 0, *arguments)
            self._compiled = True
        return self._learn(self._weights, self.sums, active, first, last, *arguments)

    def updates(self, active: Active, first: int, last: int, taught: NDArray[np.bool_], n_plastic: int) -> int:
        """Synapses that the rule visits when it learns these samples, those of them that are `taught`."""
        visits = active[2][first:last] @ taught if self._event_driven else self.n_inputs * np.count_nonzero(taught)
        return int(visits) * (1 if self._by_column else n_plastic)

    def forward(self, active: Active, first: int, last: int) -> NDArray[np.float32]:
        """`x_o` of samples first .. last - 1."""
        outputs = np.empty((last - first, self.width), np.float32)
        forward_block(self._weights, active, first, last, outputs)
        return outputs

    def next_input(self, outputs: NDArray[np.float32], first: int, last: int, unit_norm: bool) -> Active:
        """The rectified output as the next layer's activity, in memory of its own."""
        active = make_active(self.n_neurons, BLOCK)
        rectify(outputs[:, : self.n_neurons], first, last, unit_norm, active)
        return active

    def weight_means(self) -> NDArray[np.float64]:
        """The mean incoming weight of each neuron."""
        return column_means(self._weights, self.n_neurons)

    def snapshot(self) -> LayerSnapshot:
        """A copy of what learning changes."""
        return self._weights.copy(), self.sums.copy(), self.codes, self.n_neurons

    def roll_back(self, snapshot: LayerSnapshot) -> None:
        """Be again as at the time of the snapshot."""
        self._weights, self.sums, self.codes, self.n_neurons = snapshot

    def load(self, weights: NDArray[np.float32], sums: NDArray[np.float64], n_classes: int) -> None:
        """Take over the weights of a saved layer."""
        if not self.n_hidden:
            self._grow(weights.shape[1])
        else:
            for _ in range(n_classes):
                self.add_class()
        self._weights[:, : self.n_neurons] = weights
        self.sums[: self.n_neurons] = sums
        if not self.n_hidden:
            self.codes = np.eye(self.n_neurons, self.width, dtype=np.float32)

    @property
    def state_bytes(self) -> int:
        """Bytes that must be kept: the weights, and their sums where the rule needs them."""
        return self.weights.nbytes + (self.sums[: self.n_neurons].nbytes if self._windowed else 0)

    @property
    def nbytes(self) -> int:
        """Bytes held in memory, padding and codes included."""
        return self._weights.nbytes + self.sums.nbytes + self.codes.nbytes + self._dense.nbytes
