"""Synapses of 8, 4, 3 or 2 bits, each step rounded up or down by chance.

A synapse holds a level q, its weight is q level 2^e: `level` a constant of the layer, e an exponent of neuron j that
stays 0 unless the rule has a limit. Numbers are integers, `>>` and `//` round down and bind weaker than products. With
a the bytes of a sample, n the samples that neuron j has learned, f bits of fraction and p = max(0, 7 - bits) where the
rule has a limit, else 0:

    R     = 2^32 // isqrt(2^8 sum a^2)                               a sample has length 1, in effect
    z     = integer_score((sum_i min(q_i << p, limit) a_i R >> 28 - f + p) << e, n)
    n     = n + 1;    while integer_limit(n, top) > top << e:  q = q + (chance >> 31) >> 1;  e = e + 1
    q_i   = q_i + (a_i (integer_step(z, q_i, n) R >> 12) >> e) + chance_i >> 32,       from low to top

Activity in float32 has x_o = sum_i read(q_i level 2^e) x_i, and l delta 2^32 / (level 2^e) in place of the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, isqrt, log2, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.reference._activity import Active, in_order
from kenyon.reference._plastic import change, constants
from kenyon.reference._random import chance, key_of, mix


def reciprocal(x: Active) -> int:
    """R: what the bytes of a sample are multiplied with."""
    length = isqrt(2**8 * sum(a * a for a in x[1].tolist()))
    return 2**32 // length if length else 0


def clipped(value: Any, low: Any, high: Any) -> Any:
    return max(low, min(high, value))


class FewBitWeights:
    """A layer of neurons; arguments as in `_plastic.py`. `levels` has a list of integers for each neuron."""

    def __init__(self, n_units: int, seed: int, spec: Any) -> None:
        self.rule, self.bits, self.n_units, self.seed = spec.layer.rule, spec.layer.bits, n_units, seed
        low, high = spec.layer.bounds
        signed = self.rule.signed and bool(low < 0)
        self.top = 2 ** (self.bits - signed) - 1
        self.low = -self.top if signed else 0
        self.level = self.rule.level(float(high), self.top, n_units)
        self.fraction = clipped(floor(log2(2**22 / (self.top * sqrt(n_units) * 17 / 16))), 0, 12)
        self.local, self.constants = spec.layer.local, ()
        if spec.in_bytes:
            self.constants = self.rule.integer_constants(self.level, float(spec.layer.rate), self.fraction)
        self.levels: list[list[int]] = []
        self.counts: list[int] = []
        self.exponents: list[int] = []

    def add_class(self) -> None:
        self.levels.append([0] * self.n_units)
        self.counts.append(0)
        self.exponents.append(0)

    def outputs(self, x: Active) -> NDArray[np.float32]:
        neurons = range(len(self.levels))
        if x[1].dtype != np.uint8:
            return np.array([self._output(j, x) for j in neurons], np.float32)
        scores = np.array([self.score(j, x) for j in neurons], np.float32)
        return scores * np.float32(self.level / 2**self.fraction)

    def score(self, j: int, x: Active) -> int:
        """The output of a neuron in levels, with f bits of fraction."""
        n, e, limit = max(self.counts[j], 1), self.exponents[j], self.rule.integer_limit
        p = max(0, 7 - self.bits) if limit else 0
        most = min(self.top << p, limit(n, self.top) << p >> e) if limit else self.top
        total = sum(min(self.levels[j][i] << p, most) * a for i, a in zip(x[0].tolist(), x[1].tolist(), strict=True))
        z = total * reciprocal(x) >> 28 - self.fraction + p << e
        return self.rule.integer_score(z, n) if self.rule.integer_score else z

    def _output(self, j: int, x: Active) -> np.float32:
        scale, read = np.float32(self.level * 2.0 ** self.exponents[j]), self.rule.readout
        weights = np.array([self.levels[j][i] for i in x[0]], np.float32) * scale
        if read is not None:
            more = (np.float32(max(self.counts[j], 1)), np.float32(self.n_units), *constants(self.rule))
            weights = np.array([read(w, *more) for w in weights], np.float32)
        return np.float32(in_order(weights * x[1]))

    def learn(self, x: Active, label: int, plastic: Sequence[int], beta: Sequence[np.float32]) -> int:
        (self._learn_bytes if x[1].dtype == np.uint8 else self._learn_floats)(label, x, beta)
        return len(x[0])

    def _learn_bytes(self, j: int, x: Active, beta: Sequence[np.float32]) -> None:
        z, R = self.score(j, x), reciprocal(x)
        key = self._begin(j)
        for i, a in zip(x[0].tolist(), x[1].tolist(), strict=True):
            step = clipped(
                self.rule.integer_step(z, self.levels[j][i], self.counts[j], *self.constants), -(2**34), 2**34
            )
            self._move(j, i, a * (step * R >> 12) >> self.exponents[j], key)

    def _learn_floats(self, j: int, x: Active, beta: Sequence[np.float32]) -> None:
        rate, _, *own = beta
        x_o, key = self._output(j, x), self._begin(j)
        level, n = self.level * 2.0 ** self.exponents[j], np.float32(self.counts[j])
        for i, x_e in zip(x[0].tolist(), x[1], strict=True):
            w = np.float32(self.levels[j][i]) * np.float32(level)
            step = change(self.rule, self.local, rate, own, x_e, x_o, np.float32(1), w, n)
            self._move(j, i, int(clipped(float(step) * (2.0**32 / level), -(2.0**41), 2.0**41)), key)

    def _begin(self, j: int) -> int:
        """Count a sample, halve the levels as long as the rule's limit passes them, and give the key of the chance."""
        self.counts[j] = n = min(self.counts[j] + 1, 2**31 - 1)
        key, limit = key_of(self.seed, n, j), self.rule.integer_limit
        while limit and limit(n, self.top) > self.top << self.exponents[j]:
            again = mix((key + self.exponents[j] + 1) % 2**32)
            self.levels[j] = [q + (chance(again, i) >> 31) >> 1 for i, q in enumerate(self.levels[j])]
            self.exponents[j] += 1
        return key

    def _move(self, j: int, i: int, step: int, key: int) -> None:
        self.levels[j][i] = clipped(self.levels[j][i] + (step + chance(key, i) >> 32), self.low, self.top)

    def merge(self, other: FewBitWeights, neurons: NDArray[np.int64]) -> None:
        """Add levels, for a rule that only adds: v + v' + (chance >> 32 - E) >> E, E the exponent of both.

        v is q << e; a level at the top stands for twice the most that is read, since the sum is at least that large.
        """
        limit = self.rule.integer_limit
        for k, j in enumerate(neurons.tolist()):
            parts = []
            for layer, at in ((self, j), (other, k)):
                n, e = layer.counts[at], layer.exponents[at]
                above = max(self.top << e, 2 * limit(n, self.top)) if limit else self.top
                parts.append([above if q == self.top else q << e for q in layer.levels[at]])
            self.counts[j] = n = min(self.counts[j] + other.counts[k], 2**31 - 1)
            e = max(self.exponents[j], other.exponents[k])
            while limit and limit(n, self.top) > self.top << e:
                e += 1
            self.exponents[j], again = e, mix((key_of(self.seed, n, j) + 64) % 2**32)
            totals = [v + w + (chance(again, i) >> 32 - e) >> e for i, (v, w) in enumerate(zip(*parts, strict=True))]
            self.levels[j] = [clipped(total, self.low, self.top) for total in totals]

    def arrays(self) -> dict[str, NDArray]:
        """Levels packed from the lowest bit of the first byte on, a column of bytes for each neuron."""
        rows = -(-self.n_units * self.bits // 8)
        numbers = [sum(q % 2**self.bits << self.bits * i for i, q in enumerate(column)) for column in self.levels]
        packed = np.array([list(number.to_bytes(rows, "little")) for number in numbers], np.uint8).T
        kept: dict[str, NDArray] = {"weights": packed, "counts": np.array(self.counts, np.uint32)}
        if self.rule.integer_limit:
            kept["exponents"] = np.array(self.exponents, np.uint8)
        return kept
