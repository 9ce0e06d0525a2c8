"""Few-bit learning as `kenyon.layers._few_bit_weights` defines it, in plain Python: one synapse after the other."""

from __future__ import annotations

from math import isqrt

import numpy as np
from numpy.typing import NDArray

from kenyon.rules import Rule

WORD, GOLDEN = 2**32, 0x9E3779B9


def mix(x: int) -> int:
    x ^= x >> 16
    x = x * 0x85EBCA6B % WORD
    x ^= x >> 13
    x = x * 0xC2B2AE35 % WORD
    return x ^ x >> 16


class Plain:
    """A layer of neurons that are taught bytes, or floats where there is no fraction."""

    def __init__(self, rule: Rule, bits: int, signed: bool, n_units: int, level: float, seed: int) -> None:
        self.rule, self.bits, self.level, self.seed = rule, bits, level, seed
        self.top = 2 ** (bits - 1) - 1 if signed else 2**bits - 1
        self.low = -self.top if signed else 0
        self.n_units = n_units
        self.columns: list[list[int]] = []
        self.counts: list[int] = []
        self.exponents: list[int] = []

    def add_class(self) -> None:
        self.columns.append([0] * self.n_units)
        self.counts.append(0)
        self.exponents.append(0)

    def score(self, j: int, sample: dict[int, int], fraction: int) -> int:
        n, e = max(self.counts[j], 1), self.exponents[j]
        limit, final = self.rule.whole_limit, self.rule.whole_score
        parts = max(0, 7 - self.bits) if limit else 0
        most = min(self.top << parts, limit(n, self.top) << parts >> e) if limit else self.top
        acc = sum(min(self.columns[j][i] << parts, most) * a for i, a in sample.items())
        assert abs(acc) < 2**31
        z = acc * reciprocal(sample) >> 28 - fraction + parts << e
        found = final(z, n) if final else z
        assert abs(found) < 2**22
        return found

    def learn(self, j: int, sample: dict[int, int], fraction: int, constants: tuple[int, ...]) -> None:
        z, R = self.score(j, sample, fraction), reciprocal(sample)
        key = self.begin(j)
        for i, a in sample.items():
            d = self.rule.whole_step(z, self.columns[j][i], self.counts[j], *constants)  # type: ignore[misc]
            d = max(-(2**34), min(2**34, d))
            assert abs(d * R) < 2**63
            self.move(j, i, a * (d * R >> 12) >> self.exponents[j], key)

    def learn_float(self, j: int, sample: dict[int, np.float32], rate: np.float32) -> None:
        beta = [np.float32(value) for value in self.rule.parameters.values()]
        x_o = self.output(j, sample)
        key = self.begin(j)
        exact = self.level * 2.0 ** self.exponents[j]
        for i, x in sample.items():
            w = np.float32(self.columns[j][i]) * np.float32(exact)
            d = float(np.float32(rate * self.rule.delta(x, x_o, np.float32(1), w, *beta)))
            self.move(j, i, int(max(-512 * 2.0**32, min(512 * 2.0**32, d * (2.0**32 / exact)))), key)

    def output(self, j: int, sample: dict[int, np.float32]) -> np.float32:
        scale, total, read = np.float32(self.level * 2.0 ** self.exponents[j]), np.float32(0), self.rule.readout
        more = (np.float32(max(self.counts[j], 1)), np.float32(self.n_units))
        beta = [np.float32(value) for value in self.rule.parameters.values()]
        for i, x in sample.items():
            w = np.float32(self.columns[j][i]) * scale
            total = np.float32(total + np.float32(read(w, *more, *beta) if read else w) * x)
        return total

    def begin(self, j: int) -> int:
        """Count the sample and make room for it; gives the key of its chance."""
        self.counts[j] += 1
        n, limit = self.counts[j], self.rule.whole_limit
        key = mix((mix((self.seed + GOLDEN * n) % WORD) + GOLDEN * (j + 1)) % WORD)
        while limit and limit(n, self.top) > self.top << self.exponents[j]:
            again = mix((key + self.exponents[j] + 1) % WORD)
            for i in range(self.n_units):
                h = mix((again + GOLDEN * (i + 1)) % WORD)
                self.columns[j][i] = self.columns[j][i] + (h >> 31) >> 1
            self.exponents[j] += 1
        return key

    def move(self, j: int, i: int, change: int, key: int) -> None:
        r = mix((key + GOLDEN * (i + 1)) % WORD)
        self.columns[j][i] = max(self.low, min(self.top, self.columns[j][i] + (change + r >> 32)))

    def packed(self) -> NDArray[np.uint8]:
        """(rows, neurons), by way of one long number for each column."""
        n_rows = -(-self.n_units * self.bits // 8)
        columns = [
            sum((q % 2**self.bits) << self.bits * i for i, q in enumerate(column)).to_bytes(n_rows, "little")
            for column in self.columns
        ]
        return np.array([list(column) for column in columns], np.uint8).T


def reciprocal(sample: dict[int, int]) -> int:
    length = isqrt(2**8 * sum(a * a for a in sample.values()))
    return 2**32 // length if length else 0
