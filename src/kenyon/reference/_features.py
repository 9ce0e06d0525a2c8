"""Feature layers without a shape: sparse, dense, ramps, identity. Each is drawn from the seed and never learned."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.reference._activity import Active, activity, in_order, root, unit_length
from kenyon.reference._random import Generator


class Sparse:
    """x_e = ReLU(W_e u - mu - beta sigma): unit i sums some inputs with weight +1 and some with -1, all different.

    In integer arithmetic x_e = min(255, (W_e u - threshold) // 2^b), 2^(b + 11) being above every possible sum.
    """

    def __init__(self, spec: Any, seed: int) -> None:
        k = spec.features.density
        self.spec, self.excitatory = spec, k - round(spec.features.inhibitory * k)
        generator, pool = Generator(seed), list(range(spec.n_inputs))
        drawn = [generator.choose(pool, k) for _ in range(spec.n_units)]
        self.inputs = np.array([sorted(row[: self.excitatory]) + sorted(row[self.excitatory :]) for row in drawn])
        bits = (255 * max(self.excitatory, k - self.excitatory)).bit_length()
        self.exact = spec.integer
        self.scale = 0.5 ** max(0, bits - 11) if self.exact else None

    def __call__(self, u: NDArray) -> Active:
        terms = (u.astype(np.int64) if u.dtype == np.uint8 else u)[self.inputs.T]
        v = in_order(terms[: self.excitatory]) - in_order(terms[self.excitatory :])
        spec = self.spec
        how = {"parts": 8, "exact": self.exact, "unit_norm": spec.unit_norm, "scale": self.scale}
        return activity(v, spec.features.threshold, **how)


class Dense:
    """x = S u / sqrt(N), S random signs. As bytes, of samples of length 1: rint(12 S u / |u|) + 128, in 0 .. 255."""

    def __init__(self, spec: Any, seed: int) -> None:
        n, units = spec.n_inputs, spec.n_units
        generator, bits = Generator(seed), n * units
        words = [generator.word() for _ in range(-(-bits // 64))]
        signs = np.array([2 * (words[bit // 64] >> bit % 64 & 1) - 1 for bit in range(bits)], np.float32)
        self.signs = signs.reshape(n, units) * np.float32(1 / sqrt(n))
        self.root, self.bytes = spec.features.root, spec.in_bytes

    def __call__(self, u: NDArray) -> Active:
        u = (root(u) if self.root else u).astype(np.float32)
        x = in_order(u[:, np.newaxis] * self.signs)
        if self.bytes:
            length = sqrt(in_order(u.astype(np.float64) ** 2))
            steps = np.rint(x.astype(np.float64) * (12 * sqrt(len(u)) / length if length else 0.0)) + 128
            x = np.clip(steps, 0, 255).astype(np.uint8)
        return np.arange(len(x)), x


class Ramps:
    """x = max(0, sum_k s_k u_k / sqrt(K) - b) / 4: K inputs, random signs s, an offset b from -2 to 2 for each unit.

    K goes round m, 2m, 4m, 8m from unit to unit, with m = N / 32 from 1 to 4. The first units are the inputs
    themselves, if there are at most 500 and at least as many ramps are left.
    """

    def __init__(self, spec: Any, seed: int) -> None:
        n, units = spec.n_inputs, spec.n_units
        self.beside = n if n <= 500 and units >= 2 * n else 0
        first = min(max(n // 32, 1), 4)
        sizes = [first << step for step in range(4) if first << step <= n]
        sizes = sizes if spec.features.density == "auto" else [spec.features.density]
        generator, pool, self.ramps = Generator(seed), list(range(n)), []
        for unit in range(units - self.beside):
            k = sizes[unit % len(sizes)]
            inputs = sorted(generator.choose(pool, k))
            signs = [-1 if generator.below(2**16) < round(2**16 * spec.features.inhibitory) else 1 for _ in inputs]
            offset = np.float32((generator.below(2**16 + 1) - 2**15) / 2**14)
            self.ramps.append((inputs, np.array(signs, np.float32), np.float32(1 / sqrt(k)), offset))

    def __call__(self, u: NDArray) -> Active:
        u = u.astype(np.float32)
        above = [scale * in_order(signs * u[inputs]) - b for inputs, signs, scale, b in self.ramps]
        x = np.concatenate([u[: self.beside], np.maximum(np.array(above, np.float32), 0) * np.float32(0.25)])
        return np.flatnonzero(x), x[x != 0]


class Identity:
    """x = u, or u / |u|: no feature layer."""

    def __init__(self, spec: Any, seed: int) -> None:
        self.unit_norm, self.root, self.exact = spec.unit_norm, spec.features.root, spec.integer

    def __call__(self, u: NDArray) -> Active:
        u = root(u) if self.root else u
        units = np.flatnonzero(u)
        x = u[units] if self.exact else u[units].astype(np.float32)
        return units, unit_length(x, 8) if self.unit_norm and not self.exact else x
