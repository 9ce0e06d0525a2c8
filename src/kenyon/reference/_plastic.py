"""Synapses in float32 that follow a rule.

    x_o[j]  = sum_i read(W[i, j]) x_e[i]                        read(w) = w, unless the rule has a readout
                                                                at least 0 with `output` relu, from 0 to 1 with clip
    W[i, j] = clamp(W[i, j] + l delta(x_e[i], x_o[j], x_m[j], W[i, j]))    where beta |W[i, j] - mean_i W[i, j]| <= 1

delta is the rule: GEN x_m (x_e - b1) (x_o - b2), OJA x_m (x_e x_o - b1 x_o^2 W), MSE (x_m - x_o) x_e, MEAN x_m x_e. The
condition is INEL's; other rules have none. The modulatory signal x_m is the one-hot label, or for a hidden layer a
random code of it. Rules see numbers in float32, and a Python number among them is one, too, as NumPy 2 has it; a
`local` factor of the learning rate or of a parameter sees the count in float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.reference._activity import Active, in_order
from kenyon.rules import Rule
from kenyon.utils.modulation import Locals


def factors(local: Locals, synapse: Sequence[Any]) -> list[Any]:
    """What the learning rate, the window and the parameters are multiplied with at a synapse (x_e, x_o, x_m, w, n)."""
    seen = *synapse[:4], np.float64(synapse[4])
    return [1 if factor is None else factor(*seen) for factor in local or (None, None)]


def change(rule: Rule, local: Locals, rate: np.float32, beta: Sequence[Any], *synapse: Any) -> np.float32:
    """l delta of a synapse (x_e, x_o, x_m, w, n), n being the samples that its neuron has learned."""
    own, _, *others = factors(local, synapse)
    beta = [value * factor for value, factor in zip(beta, others, strict=True)] if others else beta
    return np.float32(rate * own * rule.delta(*(synapse if rule.counted else synapse[:4]), *beta))


def constants(rule: Rule) -> list[np.float32]:
    """Parameters of a rule as its readout sees them."""
    return [np.float32(0 if callable(value) else value) for value in rule.parameters.values()]


class Plastic:
    """A layer of neurons.

    Args:
        n_units: presynaptic units.
        seed: unused here.
        spec: what the model is composed of (`kenyon.Spec`).
    """

    def __init__(self, n_units: int, seed: int, spec: Any) -> None:
        self.rule, self.window = spec.layer.rule.plasticity, spec.layer.rule.window is not None
        self.local = spec.layer.local
        self.low, self.high = spec.layer.bounds
        initial = self.rule.initial_weight if spec.layer.initial_weight == "auto" else spec.layer.initial_weight
        self.initial = np.clip(np.float32(initial), self.low, self.high)
        self.low_output = np.float32(-np.inf if spec.layer.output == "linear" else 0)
        self.high_output = np.float32(1 if spec.layer.output == "clip" else np.inf)
        self.counting = self.rule.counted or self.rule.readout is not None or bool(self.local)
        self.weights = np.zeros((n_units, 0), np.float32)
        self.sums, self.counts = np.zeros(0), np.zeros(0, np.uint32)

    def add_class(self) -> None:
        self.weights = np.pad(self.weights, ((0, 0), (0, 1)), constant_values=self.initial)
        self.sums = np.append(self.sums, float(self.initial) * len(self.weights))
        self.counts = np.append(self.counts, np.uint32(0))

    def outputs(self, x: Active) -> NDArray[np.float32]:
        """x_o of every neuron."""
        units, values = x
        return in_order(self._read(units) * values[:, np.newaxis]).clip(self.low_output, self.high_output)

    def _read(self, units: NDArray[np.int64]) -> NDArray[np.float32]:
        weights, read = self.weights[units], self.rule.readout
        if read is None:
            return weights
        n_units, beta = np.float32(len(self.weights)), constants(self.rule)
        counts = np.maximum(self.counts, 1).astype(np.float32)
        rows = [[read(w, n, n_units, *beta) for w, n in zip(row, counts, strict=True)] for row in weights]
        return np.array(rows, np.float32).reshape(weights.shape)

    def learn(
        self, x: Active, label: int, plastic: Sequence[int], beta: Sequence[np.float32], modulation: float = 1.0
    ) -> int:
        """Learn a sample, and give the number of synapses visited.

        Args:
            label: its class.
            plastic: the neurons that may learn.
            beta: learning rate, window, the rule's parameters.
            modulation: x_m of the label's neuron.
        """
        rate, reach, *own = beta
        n_units, x_o = len(self.weights), self.outputs(x)
        labelled = np.eye(self.weights.shape[1])[label]
        x_m = labelled * np.float32(modulation)
        x_e = np.zeros(n_units, np.float32)
        x_e[x[0]] = x[1]
        units = x[0] if self.rule.event_driven else np.arange(n_units)
        alone = self.rule.gated  # the labelled neuron, whose sum of changes is in float64
        for j in plastic:
            if self.rule.gated and not labelled[j]:
                continue
            self.counts[j] += labelled[j] != 0
            n = np.float32(max(self.counts[j], 1) if self.counting else 1)
            mean = np.float32(self.sums[j] / n_units)
            moved = np.float64(0) if alone else np.float32(0)
            for i in units:
                w = self.weights[i, j]
                synapse = (x_e[i], x_o[j], np.float32(x_m[j]), w, n)
                if self.window and not np.float32(reach * factors(self.local, synapse)[1]) * abs(w - mean) <= 1:
                    continue
                new = w + change(self.rule, self.local, rate, own, *synapse)
                new = self.weights[i, j] = max(min(new, self.high), self.low)
                moved += np.float64(new) - np.float64(w) if alone else new - w
            self.sums[j] += moved
        return len(units) * (1 if alone else len(plastic))

    def merge(self, other: Plastic, neurons: NDArray[np.int64]) -> None:
        """Add the weights of a rule that only adds."""
        self.weights[:, neurons] = np.clip(self.weights[:, neurons] + other.weights, self.low, self.high)
        self.counts[neurons] += other.counts

    def arrays(self) -> dict[str, NDArray]:
        kept: dict[str, NDArray] = {"weights": self.weights}
        if self.window:
            kept["sums"] = self.sums
        if self.counting:
            kept["counts"] = self.counts
        return kept
