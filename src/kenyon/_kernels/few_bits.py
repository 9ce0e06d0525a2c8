"""Learn and read weights of few bits, from bytes in whole numbers or from floats.

`kenyon.layers.FewBitLayer` defines every bit of it.
"""

from functools import cache

import numpy as np
from numba.extending import register_jitable
from numba.np.unsafe.ndarray import to_fixed_tuple

from kenyon._kernels._compiled import SideBySide, digest_of
from kenyon._kernels._levels import chance, eight_ints, halving, key_of, packing, reciprocal_of
from kenyon._kernels.learn import NO_LABEL, WIDTH, make_move, make_read
from kenyon._kernels.vector import eight_floats
from kenyon.compiling import kernel

COMPILED_IN = "6a89412f010c"
"""Digest of `_levels.py`, `vector.py` and `learn.py`, which are compiled into this file's kernels."""

MOST = np.int64(2**31 - 1)
"""Samples that a neuron can count."""

LARGEST_STEP = np.int64(2**34)
LARGEST_CHANGE = np.float64(512 * 2.0**32)


def _key(bits, signed, *functions):
    """What compiled code is kept by."""
    return f"{bits} {signed} " + " ".join(digest_of(function) if function else "none" for function in functions)


def parts_of(bits, limit):
    """Bits of the fraction with which a limit in levels is taken, where the rule has one."""
    return max(0, 7 - bits) if limit is not None else 0


@cache
def compile_whole(bits, signed, step, limit, score, n_constants):
    """The kernels `learn` and `scores` of a layer that learns bytes in whole numbers; see `_whole` for their arguments.

    Args:
        bits: of a level; signed: whether levels have a sign.
        step, limit, score: `whole_step`, `whole_limit` and `whole_score` of the rule; limit and score may be None.
        n_constants: how many constants `step` has.
    """
    digest = _key(bits, signed, step, limit, score)
    return _whole(bits, signed, step, limit, score, digest, n_constants)


def _whole(bits, signed, step, limit, score, digest, n_constants):
    get, put, place = packing(bits, signed)
    top = np.int64(2 ** (bits - signed) - 1)
    low = -top if signed else np.int64(0)
    limited, scored = limit is not None, score is not None
    parts = np.int64(parts_of(bits, limit))
    whole_step = register_jitable(step)
    whole_limit = register_jitable(limit) if limited else None
    whole_score = register_jitable(score) if scored else None
    halve = halving(bits, signed, whole_limit)

    @register_jitable
    def exponent(exponents, j):
        return np.int64(exponents[j]) if limited else np.int64(0)

    @register_jitable
    def highest(n, e):
        """The limit in parts of a level."""
        return np.int32(min(whole_limit(n, top) << parts >> e, top << parts) if limited else top)

    @register_jitable
    def read(q, most):
        return min(q << parts, most) if limited else q

    @register_jitable
    def output(acc, reciprocal, shift, n, e):
        z = ((np.int64(acc) * reciprocal) >> (shift + parts)) << e
        return np.int64(whole_score(z, n)) if scored else z

    @register_jitable
    def score_all(weights, taught, exponents, units, values, s, count, reciprocal, shift, out):
        """The scores of all neurons into `out`, eight at a time."""
        total, most = eight_ints(), eight_ints()
        for group in range(0, weights.shape[1], WIDTH):
            for lane in range(WIDTH):
                total[lane] = 0
                most[lane] = highest(max(np.int64(taught[group + lane]), 1), exponent(exponents, group + lane))
            for a in range(count):
                row, after, offset = place(weights, units[s, a])
                x_e = np.int32(values[s, a])
                for lane in range(WIDTH):
                    q = get(weights, row, after, offset, np.uintp(group) + np.uintp(lane))
                    total[lane] += np.int32(read(q, most[lane])) * x_e
            for lane in range(WIDTH):
                j = group + lane
                n, e = max(np.int64(taught[j]), 1), exponent(exponents, j)
                out[j] = output(total[lane], reciprocal, shift, n, e)

    @kernel(error_model="numpy")
    def scores(weights, taught, exponents, active, first, last, shift, out):
        """The scores of samples first .. last - 1 into rows of `out` (int32)."""
        digest  # noqa: B018  part of the key of the compiled code
        units, values, counts = active
        for s in range(first, last):
            reciprocal = reciprocal_of(values, s, counts[s])
            state = (weights, taught, exponents)
            score_all(*state, units, values, s, counts[s], reciprocal, shift, out[s - first])

    @kernel(error_model="numpy")
    def learn(
        weights, taught, exponents, active, first, last, n_units, labels, codes, plastic, seed, shift, constants, out
    ):
        """Learn samples first .. last - 1 in order.

        Args:
            weights: (rows, width) packed levels, changed in place like `taught` (width,), the samples each neuron was
                taught, and `exponents` (width,), empty where the rule has no limit.
            active: (units, values, counts) of the block, values in bytes.
            n_units: units of the layer.
            labels: (n,) row of `codes` for each sample, or NO_LABEL.
            codes: (classes, width), 1 for the neurons that a class teaches.
            plastic: (width,) bool, the neurons that may change.
            seed: of the rounding, uint32.
            shift: 28 less the bits of a score's fraction.
            constants: (n,) int64, those of the rule.
            out: (last - first, width) int32, the scores of each sample before it is learned; empty where not wanted.
        """
        digest  # noqa: B018  part of the key of the compiled code
        units, values, counts = active
        own = to_fixed_tuple(constants, n_constants)
        for s in range(first, last):
            reciprocal = reciprocal_of(values, s, counts[s])
            if out.shape[0]:
                state = (weights, taught, exponents)
                score_all(*state, units, values, s, counts[s], reciprocal, shift, out[s - first])
            if labels[s] == NO_LABEL:
                continue
            for j in range(weights.shape[1]):
                if codes[labels[s], j] == 0 or not plastic[j]:
                    continue
                n, e = max(np.int64(taught[j]), 1), exponent(exponents, j)
                most, acc = highest(n, e), np.int32(0)
                for a in range(counts[s]):
                    row, after, offset = place(weights, units[s, a])
                    acc += read(get(weights, row, after, offset, j), most) * np.int32(values[s, a])
                z = output(acc, reciprocal, shift, n, e)
                n = min(np.int64(taught[j]) + 1, MOST)
                taught[j] = n
                key = key_of(seed, n, j)
                if limited:
                    e = halve(weights, n_units, j, n, e, key)
                    exponents[j] = e
                for a in range(counts[s]):
                    i = units[s, a]
                    row, after, offset = place(weights, i)
                    q = get(weights, row, after, offset, j)
                    at_one = min(max(np.int64(whole_step(z, np.int64(q), n, *own)), -LARGEST_STEP), LARGEST_STEP)
                    change = (np.int64(values[s, a]) * ((at_one * reciprocal) >> np.int64(12))) >> e
                    moved = (change + np.int64(chance(key, i))) >> np.int64(32)
                    put(weights, row, after, offset, j, min(max(np.int64(q) + moved, low), top))

    return SideBySide(learn, 3), SideBySide(scores, 3)


@cache
def compile_float(bits, signed, delta, local, readout, limit, n_params, counted):
    """The kernels `learn` and `outputs` of a layer with few-bit weights and float32 activity; see `_float`.

    Args:
        bits: of a level; signed: whether levels have a sign.
        delta, local, readout, n_params, counted: as in `compile_rule`.
        limit: `whole_limit` of the rule, or None.
    """
    digest = _key(bits, signed, delta, local, readout, limit)
    return _float(bits, signed, delta, local, readout, limit, digest, n_params, counted)


def _float(bits, signed, delta, local, readout, limit, digest, n_params, counted):
    get, put, place = packing(bits, signed)
    top = np.int64(2 ** (bits - signed) - 1)
    low = -top if signed else np.int64(0)
    limited = limit is not None
    halve = halving(bits, signed, register_jitable(limit) if limited else None)
    move = make_move(register_jitable(delta), register_jitable(local) if local else None, counted)
    read = make_read(readout)

    @register_jitable
    def level_of(level, exponents, j):
        """The weight of one level of a neuron."""
        return level * np.float64(np.int64(1) << np.int64(exponents[j])) if limited else level

    @register_jitable
    def count_of(taught, j):
        return np.float32(max(taught[j], 1))

    @register_jitable
    def read_all(weights, taught, exponents, units, values, s, count, n_units, level, beta, out):
        """`x_o` of all neurons into `out`, eight at a time."""
        total, scale, n = eight_floats(), eight_floats(), eight_floats()
        for group in range(0, weights.shape[1], WIDTH):
            for lane in range(WIDTH):
                total[lane], n[lane] = 0, count_of(taught, group + lane)
                scale[lane] = level_of(level, exponents, group + lane)
            for a in range(count):
                row, after, offset = place(weights, units[s, a])
                x_e = values[s, a]
                for lane in range(WIDTH):
                    q = get(weights, row, after, offset, np.uintp(group) + np.uintp(lane))
                    total[lane] += read(np.float32(q) * scale[lane], n[lane], np.float32(n_units), *beta) * x_e
            for lane in range(WIDTH):
                out[group + lane] = total[lane]

    @kernel(error_model="numpy")
    def outputs(weights, taught, exponents, active, first, last, n_units, level, betas, out):
        """`x_o` of samples first .. last - 1 into rows of `out` (float32)."""
        digest  # noqa: B018  part of the key of the compiled code
        units, values, counts = active
        beta = to_fixed_tuple(betas, n_params)
        for s in range(first, last):
            state = (weights, taught, exponents)
            read_all(*state, units, values, s, counts[s], n_units, level, beta, out[s - first])

    @kernel(error_model="numpy")
    def learn(
        weights, taught, exponents, active, first, last, n_units, labels, codes, plastic, seed, level, rates, betas, out
    ):
        """As in `_whole`, with `level` the weight of one level (float64), and rates and parameters of each sample."""
        digest  # noqa: B018  part of the key of the compiled code
        units, values, counts = active
        for s in range(first, last):
            beta = to_fixed_tuple(betas[s], n_params)
            if out.shape[0]:
                state = (weights, taught, exponents)
                read_all(*state, units, values, s, counts[s], n_units, level, beta, out[s - first])
            if labels[s] == NO_LABEL:
                continue
            for j in range(weights.shape[1]):
                if codes[labels[s], j] == 0 or not plastic[j]:
                    continue
                x_o, scale = np.float32(0), np.float32(level_of(level, exponents, j))
                for a in range(counts[s]):
                    row, after, offset = place(weights, units[s, a])
                    w = np.float32(get(weights, row, after, offset, j)) * scale
                    x_o += read(w, count_of(taught, j), np.float32(n_units), *beta) * values[s, a]
                n = min(np.int64(taught[j]) + 1, MOST)
                taught[j] = n
                key = key_of(seed, n, j)
                if limited:
                    exponents[j] = halve(weights, n_units, j, n, np.int64(exponents[j]), key)
                exact = level_of(level, exponents, j)
                scale, inverse = np.float32(exact), np.float64(2.0**32) / exact
                for a in range(counts[s]):
                    i = units[s, a]
                    row, after, offset = place(weights, i)
                    q = get(weights, row, after, offset, j)
                    w = np.float32(q) * scale
                    change = np.float64(move(rates[s], values[s, a], x_o, np.float32(1), w, np.float32(n), *beta))
                    change = min(max(change * inverse, -LARGEST_CHANGE), LARGEST_CHANGE)
                    moved = (np.int64(change) + np.int64(chance(key, i))) >> np.int64(32)
                    put(weights, row, after, offset, j, min(max(np.int64(q) + moved, low), top))

    return SideBySide(learn, 3), SideBySide(outputs, 3)


@cache
def compile_unpack(bits, signed):
    """The kernel `unpack(weights, out)`, which gives the levels of all units and of the first neurons."""
    get, _, place = packing(bits, signed)
    key = _key(bits, signed)

    @kernel()
    def unpack(weights, out):
        key  # noqa: B018  part of the key of the compiled code
        for i in range(out.shape[0]):
            row, after, shift = place(weights, i)
            for j in range(out.shape[1]):
                out[i, j] = get(weights, row, after, shift, j)

    return unpack
