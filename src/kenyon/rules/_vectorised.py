"""The learning step of a rule in NumPy, sample by sample: what `core/learn.h` and `core/few_bits.h` do, to the bit.

It needs no compiler, so user-defined rules begin with it. Sums of floats are made in the same order as in C: over
active units, ascending.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.rules._evaluate import evaluate
from kenyon.rules._source import Program

NO_LABEL, DIVERGED = -1, 1e12
GOLDEN = 0x9E3779B9
MOST_COUNT = 2**31 - 1
LARGEST_STEP, LARGEST_CHANGE = 2**34, 512 * 2.0**32

Array = NDArray[Any]


class Vectorised:
    """The functions of a rule, with the arguments that the core's entries have (`core/host/rule.h`)."""

    def __init__(self, program: Program) -> None:
        self._program = program

    # ---- weights in float32

    def learn(
        self, by_column: bool, weights: Array, sums: Array | None, class_counts: Array | None, units: Array,
        values: Array, counts: Array, first: int, last: int, labels: Array, plastic: Array, beta: Array, lowest: float,
        highest: float, least: float, most: float, outputs: Array | None, dense: Array | None, clock: Array | None,
        modulation: Array | None = None,
    ) -> int:  # fmt: skip
        n_units = len(weights)
        low, high, bounds = np.float32(lowest), np.float32(highest), (np.float32(least), np.float32(most))
        for s in range(first, last):
            unit, x_e = units[s, : counts[s]], values[s, : counts[s], np.newaxis]
            rate, reach, own = beta[s, 0], beta[s, 1], beta[s, 2:]
            x_o = np.zeros(weights.shape[1], np.float32)
            if outputs is not None or not by_column:
                x_o = self._output(weights, class_counts, unit, x_e, own)
            if outputs is not None:
                outputs[s - first] = bounded(x_o, *bounds)
            if labels[s] == NO_LABEL:
                continue
            labelled = np.arange(weights.shape[1]) == labels[s]
            x_m = labelled * np.float32(1 if modulation is None else modulation[s])
            visited: Array = unit
            if dense is not None:
                everywhere = np.zeros((n_units, 1), np.float32)
                everywhere[unit] = x_e
                visited = np.arange(n_units)
            for neurons in self._together(by_column, labels[s], plastic):
                if by_column:
                    column = None if class_counts is None else class_counts[neurons]
                    x_o[neurons] = self._output(weights[:, neurons], column, unit, x_e, own)
                far = ~(np.abs(x_o[neurons].astype(np.float64)) < DIVERGED)
                if (far & plastic[neurons]).any():
                    return s
                x_o[neurons] = bounded(x_o[neurons], *bounds)
                mean = None if sums is None else (sums[neurons] / n_units).astype(np.float32)
                if class_counts is not None:
                    class_counts[neurons] += (plastic[neurons] & labelled[neurons]).astype(np.uint32)
                n = _counts(class_counts, neurons)
                w = weights[np.ix_(visited, neurons)]
                synapse = (x_e if dense is None else everywhere, x_o[neurons], x_m[neurons], w, n, own)
                change = self._move(rate, *synapse)
                wide = self._reach(reach, *synapse)
                if not by_column:
                    change = plastic[neurons].astype(np.float32) * change
                with np.errstate(all="ignore"):
                    inside = None if mean is None else wide * np.abs(w - mean) <= 1
                    if inside is not None and not by_column:
                        change = np.where(inside, change, np.float32(0))
                    new = w + change
                    new = np.where(new > high, high, new)
                    new = np.where(new < low, low, new)
                    if inside is not None and by_column:
                        new = np.where(inside, new, w)
                    if sums is not None:
                        exact = np.float64 if by_column else np.float32
                        sums[neurons] += in_order(new.astype(exact) - w.astype(exact))
                weights[np.ix_(visited, neurons)] = new
            if clock is not None:
                clock[0] += 1
                clock[1] += len(visited) * (1 if by_column else np.count_nonzero(plastic))
        return last

    def _together(self, by_column: bool, label: int, plastic: Array) -> Iterator[Array]:
        """Neurons that learn a sample side by side: all of them, or the labelled one alone."""
        if not by_column:
            yield np.arange(len(plastic))
        elif plastic[label]:
            yield np.array([label])

    def _move(self, rate: Any, x_e: Array, x_o: Any, x_m: Any, w: Array, n: Any, own: Array) -> Array:
        names = {"rate": rate, "x_e": x_e, "x_o": x_o, "x_m": x_m, "w": w, "n": n, **_parameters(own)}
        change = np.asarray(evaluate(self._program.move, names)).astype(np.float32)
        return np.broadcast_to(change, w.shape)

    def _reach(self, reach: Any, x_e: Array, x_o: Any, x_m: Any, w: Array, n: Any, own: Array) -> Any:
        if self._program.reach is None:
            return reach
        names = {"reach": reach, "x_e": x_e, "x_o": x_o, "x_m": x_m, "w": w, "n": n, **_parameters(own)}
        return np.asarray(evaluate(self._program.reach, names)).astype(np.float32)

    def _read(self, w: Array, n: Any, n_units: int, own: Array) -> Array:
        if self._program.read is None:
            return w
        names = {"w": w, "n": n, "units": np.float32(n_units), **_parameters(own)}
        return np.broadcast_to(np.asarray(evaluate(self._program.read, names)).astype(np.float32), w.shape)

    def _output(self, weights: Array, class_counts: Array | None, unit: Array, x_e: Array, own: Array) -> Array:
        n = _counts(class_counts, np.arange(weights.shape[1]))
        with np.errstate(all="ignore"):
            return in_order(self._read(weights[unit], n, len(weights), own) * x_e)

    def outputs(
        self, weights: Array, class_counts: Array | None, units: Array, values: Array, counts: Array, first: int,
        last: int, parameters: Array, out: Array,
    ) -> int:  # fmt: skip
        for s in range(first, last):
            x_e = values[s, : counts[s], np.newaxis]
            out[s - first] = self._output(weights, class_counts, units[s, : counts[s]], x_e, parameters)
        return 0

    def each(self, weights: Array, class_counts: Array | None, parameters: Array, out: Array) -> int:
        n_neurons = out.shape[1]
        n = _counts(class_counts, np.arange(n_neurons))
        out[...] = self._read(weights[:, :n_neurons], n, len(weights), parameters)
        return 0

    # ---- weights of few bits

    def integers(
        self, bits: int, sign: int, weights: Array, class_counts: Array, exponents: Array | None, units: Array,
        values: Array, counts: Array, first: int, last: int, n_units: int, labels: Array | None, plastic: Array | None,
        seed: int, shift: int, constants: Array, scores: Array | None,
    ) -> int:  # fmt: skip
        state = _Levels(bits, bool(sign), weights, class_counts, exponents, n_units, seed)
        names = {f"constants[{k}]": np.int64(value) for k, value in enumerate(constants)}
        for s in range(first, last):
            unit, a = units[s, : counts[s]], values[s, : counts[s]].astype(np.int64)
            length = isqrt(int((a * a).sum()) << 8)
            reciprocal = np.int64(2**32 // length if length else 0)
            if scores is not None:
                for j in range(weights.shape[1]):
                    scores[s - first, j] = self._score(state, j, unit, a, reciprocal, shift)
            for j in _learning(s, labels, plastic):
                z = np.int64(self._score(state, j, unit, a, reciprocal, shift))
                n, key = self._begin(state, j)
                q = state.levels(j)
                at_one = evaluate(self._program.step, {"z": z, "q": q[unit], "n": np.int64(n), **names})  # type: ignore
                at_one = np.clip(at_one, -LARGEST_STEP, LARGEST_STEP)
                change = (a * ((at_one * reciprocal) >> np.int64(12))) >> np.int64(state.exponent(j))
                state.step(j, q, unit, change, key)
        return 0

    def levels(
        self, bits: int, sign: int, weights: Array, class_counts: Array, exponents: Array | None, units: Array,
        values: Array, counts: Array, first: int, last: int, n_units: int, labels: Array | None, plastic: Array | None,
        seed: int, level: float, beta: Array, outputs: Array | None,
    ) -> int:  # fmt: skip
        state = _Levels(bits, bool(sign), weights, class_counts, exponents, n_units, seed)
        for s in range(first, last):
            unit, x_e = units[s, : counts[s]], values[s, : counts[s]]
            moving = beta[s if len(beta) > 1 else 0]
            rate, own = moving[0], moving[2:]
            if outputs is not None:
                for j in range(weights.shape[1]):
                    outputs[s - first, j] = self._sum(state, j, unit, x_e, level, own)
            for j in _learning(s, labels, plastic):
                x_o = self._sum(state, j, unit, x_e, level, own)
                n, key = self._begin(state, j)
                q = state.levels(j)
                exact = level * 2.0 ** state.exponent(j)
                w = q[unit].astype(np.float32) * np.float32(exact)
                change = self._move(rate, x_e, x_o, np.float32(1), w, np.float32(n), own).astype(np.float64)
                change = np.clip(change * (2.0**32 / exact), -LARGEST_CHANGE, LARGEST_CHANGE)
                state.step(j, q, unit, change.astype(np.int64), key)
        return 0

    def _limit(self, n: int, top: int) -> int | None:
        if self._program.limit is None:
            return None
        return int(evaluate(self._program.limit, {"n": np.int64(n), "top": np.int64(top)}))

    def _score(self, state: _Levels, j: int, unit: Array, a: Array, reciprocal: np.int64, shift: int) -> int:
        n, e = max(int(state.class_counts[j]), 1), state.exponent(j)
        q, limit, parts = state.levels(j)[unit], self._limit(n, state.top), 0
        if limit is not None:
            parts = max(0, 7 - state.bits)
            q = np.minimum(q << parts, min(limit << parts >> e, state.top << parts))
        z = np.int64(int((q * a).sum()) * int(reciprocal) >> shift + parts << e)
        if self._program.score is None:
            return int(z)
        return int(evaluate(self._program.score, {"z": z, "n": np.int64(n)}))

    def _sum(self, state: _Levels, j: int, unit: Array, x_e: Array, level: float, own: Array) -> np.float32:
        w = state.levels(j)[unit].astype(np.float32) * np.float32(level * 2.0 ** state.exponent(j))
        n = np.float32(max(int(state.class_counts[j]), 1))
        return in_order((self._read(w, n, state.n_units, own) * x_e)[:, np.newaxis])[0]

    def _begin(self, state: _Levels, j: int) -> tuple[int, int]:
        """Count a sample of a neuron, and halve its levels until the rule's limit fits; its count and its key."""
        n = min(int(state.class_counts[j]) + 1, MOST_COUNT)
        state.class_counts[j] = n
        key = state.key(n, j)
        while (limit := self._limit(n, state.top)) is not None and limit > state.top << state.exponent(j):
            state.halve(j, key)
        return n, key


class _Levels:
    """Packed levels of a layer, a column of them at a time."""

    def __init__(
        self,
        bits: int,
        sign: bool,
        weights: Array,
        class_counts: Array,
        exponents: Array | None,
        n_units: int,
        seed: int,
    ) -> None:
        self.bits, self.weights, self.class_counts, self._exponents = bits, weights, class_counts, exponents
        self.n_units, self._seed, self._sign = n_units, seed, sign
        self.top = (1 << (bits - sign)) - 1
        self._low = -self.top if sign else 0

    def exponent(self, j: int) -> int:
        return 0 if self._exponents is None else int(self._exponents[j])

    def levels(self, j: int) -> NDArray[np.int64]:
        found = np.unpackbits(np.ascontiguousarray(self.weights[:, j]), bitorder="little")
        q = found[: self.n_units * self.bits].reshape(self.n_units, self.bits) @ (1 << np.arange(self.bits))
        return np.where(q > self.top, q - (1 << self.bits), q) if self._sign else q

    def put(self, j: int, q: NDArray[np.int64]) -> None:
        bits = (q[:, np.newaxis] >> np.arange(self.bits) & 1).astype(np.uint8)
        self.weights[:, j] = np.packbits(bits.ravel(), bitorder="little")

    def key(self, n: int, j: int) -> int:
        return _chance(_mix(np.array([self._seed + GOLDEN * n]))[0], np.array([j]))[0]

    def halve(self, j: int, key: int) -> None:
        again = _mix(np.array([int(key) + self.exponent(j) + 1]))[0]
        self.put(j, self.levels(j) + (_chance(again, np.arange(self.n_units)) >> 31) >> 1)
        assert self._exponents is not None
        self._exponents[j] += 1

    def step(self, j: int, q: NDArray[np.int64], unit: Array, change: Array, key: int) -> None:
        moved = (change + _chance(key, unit)) >> np.int64(32)
        q[unit] = np.clip(q[unit] + moved, self._low, self.top)
        self.put(j, q)


def bounded(x_o: Array, least: Any, most: Any) -> Array:
    """Outputs within least .. most."""
    x_o = np.where(most < x_o, most, x_o)
    return np.where(least > x_o, least, x_o)


def in_order(terms: Array) -> Array:
    """The sum over the first axis, one term after the other."""
    return np.add.accumulate(np.concatenate([np.zeros((1, *terms.shape[1:]), terms.dtype), terms]), axis=0)[-1]


def _parameters(own: Array) -> dict[str, np.float32]:
    return {f"beta[{k}]": value for k, value in enumerate(own)}


def _counts(class_counts: Array | None, neurons: Array) -> Array:
    if class_counts is None:
        return np.ones(len(neurons), np.float32)
    return np.maximum(class_counts[neurons], 1).astype(np.float32)


def _learning(s: int, labels: Array | None, plastic: Array | None) -> list[int]:
    """The neuron that learns a sample, if there is one."""
    if labels is None or plastic is None or labels[s] == NO_LABEL or not plastic[labels[s]]:
        return []
    return [int(labels[s])]


def _mix(x: Array) -> NDArray[np.int64]:
    """The last step of MurmurHash3 on 32 bits, in integers of 64."""
    x = x.astype(np.uint64) & 0xFFFFFFFF
    x = x ^ x >> 16
    x = x * 0x85EBCA6B & 0xFFFFFFFF
    x = x ^ x >> 13
    x = x * 0xC2B2AE35 & 0xFFFFFFFF
    return (x ^ x >> 16).astype(np.int64)


def _chance(key: Any, numbers: Array) -> NDArray[np.int64]:
    """32 random bits for each number in the series of a key."""
    return _mix(int(key) + GOLDEN * (numbers.astype(np.int64) + 1))
