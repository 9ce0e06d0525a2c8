"""The learning layer: `x_o = W^T x_e`, and one plasticity step a sample.

A rule is a scalar function of one synapse. `compile_rule` builds the layer's kernels around it: LLVM
inlines the function and runs it on a vector of output neurons at a time. Four kernels are built
from two facts a rule declares: whether only labelled neurons change (`gated`), and whether synapses
without presynaptic activity stay as they are (`event_driven`). The rule, and the learning rate where it is
local, may also see how many samples a neuron was taught. A rule with a readout has it compiled into the sums.

Weights are (units, width), the width padded to a multiple of WIDTH so that a row is whole vectors.
"""

from functools import cache

import numpy as np
from numba.extending import register_jitable
from numba.np.unsafe.ndarray import to_fixed_tuple

from kenyon._kernels._compiled import SideBySide, digest_of
from kenyon._kernels.vector import eight_floats, weighted_rows_8, weighted_rows_16
from kenyon.compiling import kernel

COMPILED_IN = "882615c068e3"
"""Digest of `__init__.py` and `vector.py`. Numba keeps machine code by the text of its own file, so a change to what
is compiled into it has to show here."""

WIDTH = 8
"""Output neurons that are updated side by side."""

DIVERGED = 1e12
"""Activity beyond which a rule is taken to have run away; far below the range of float32."""

NO_LABEL = -1

ONE = np.float32(1)  # a plain 1 would widen the comparison to float64


@kernel()
def forward(weights, units, values, sample, count, out):
    """`out[0, :] = W^T x_e` of one sample, summed over its active units in order."""
    column = 0
    while column + 16 <= weights.shape[1]:
        weighted_rows_16(weights, column, units, values, sample, count, out)
        column += 16
    if column < weights.shape[1]:
        weighted_rows_8(weights, column, units, values, sample, count, out)


@kernel()
def forward_block(weights, active, first, last, out):
    """`x_o` of samples first .. last - 1, into rows of `out`."""
    units, values, counts = active
    for s in range(first, last):
        forward(weights, units, values, s, counts[s], out[s - first : s - first + 1])


def compile_rule(delta, local, readout, n_params, gated, event_driven, windowed, counting, counted):
    """The kernel `learn(...)` of a rule; see `_row_kernel` for its arguments.

    Compiled machine code is kept on disk between processes. Its key holds a digest of the rule's
    own code, so that an edited rule is never served by the old kernel.

    Args:
        delta: the rule.
        local: a factor of the learning rate, or None.
        readout: what a synapse counts for in the output, or None for its weight.
        n_params: how many parameters `delta` has.
        gated, event_driven, windowed: what the rule declares.
        counting: whether the layer keeps counts.
        counted: whether `delta` takes the count.
    """
    digest = "".join(digest_of(function) for function in (delta, local, readout) if function)
    return _compiled(delta, local, readout, digest, n_params, gated, event_driven, windowed, counting, counted)


def compile_readout(readout, n_params):
    """The kernels `block(weights, taught, active, first, last, beta, out)`, which gives `x_o` of samples
    first .. last - 1 in rows of `out`, and `each(weights, taught, beta, out)`, which gives what each synapse
    counts for. `beta` holds the rule's parameters."""
    return _compiled_readout(readout, digest_of(readout), n_params)


@cache
def _compiled(delta, local, readout, digest, n_params, gated, event_driven, windowed, counting, counted):
    move = make_move(register_jitable(delta), register_jitable(local) if local else None, counted)
    reading = _reading(readout)
    build = _column_kernel if gated else _row_kernel
    return SideBySide(build(move, reading, digest, n_params, event_driven, windowed, counting), 1)


def make_move(step, local, counted):
    """The change of one synapse: `rate * local * delta`, with what each of them takes."""
    if counted:

        @register_jitable
        def delta(x_e, x_o, x_m, w, n, *beta):
            return step(x_e, x_o, x_m, w, n, *beta)
    else:

        @register_jitable
        def delta(x_e, x_o, x_m, w, n, *beta):
            return step(x_e, x_o, x_m, w, *beta)

    if local is None:

        @register_jitable
        def move(rate, x_e, x_o, x_m, w, n, *beta):
            return np.float32(rate * delta(x_e, x_o, x_m, w, n, *beta))
    else:

        @register_jitable
        def move(rate, x_e, x_o, x_m, w, n, *beta):
            return np.float32(rate * local(x_e, x_o, x_m, w, n) * delta(x_e, x_o, x_m, w, n, *beta))

    return move


def make_read(readout):
    """What a synapse counts for in the output."""
    if readout is None:

        @register_jitable
        def read(w, n, n_units, *beta):
            return w
    else:
        own = register_jitable(readout)

        @register_jitable
        def read(w, n, n_units, *beta):
            return np.float32(own(w, n, n_units, *beta))

    return read


@register_jitable
def _weighted(weights, taught, units, values, sample, count, out, beta):
    forward(weights, units, values, sample, count, out)


def _reading(readout):
    """(what one synapse counts for; `x_o` of one sample into `out[0, :]`, summed over its active units in order)."""
    read = make_read(readout)
    if readout is None:
        return read, _weighted

    @register_jitable
    def output(weights, taught, units, values, sample, count, out, beta):
        total, n = eight_floats(), eight_floats()
        n_units = np.float32(weights.shape[0])
        for group in range(0, weights.shape[1], WIDTH):
            for lane in range(WIDTH):
                total[lane], n[lane] = 0, max(taught[group + lane], 1)
            for a in range(count):
                i, x_e = np.int64(units[sample, a]), values[sample, a]
                for lane in range(WIDTH):
                    w = weights[i, np.uintp(group) + np.uintp(lane)]
                    total[lane] += read(w, n[lane], n_units, *beta) * x_e
            for lane in range(WIDTH):
                out[0, group + lane] = total[lane]

    return read, output


@cache
def _compiled_readout(readout, digest, n_params):
    read, output = _reading(readout)

    @kernel(error_model="numpy")
    def block(weights, taught, active, first, last, betas, out):
        digest  # noqa: B018  part of the key of the compiled code
        units, values, counts = active
        beta = to_fixed_tuple(betas, n_params)
        for s in range(first, last):
            output(weights, taught, units, values, s, counts[s], out[s - first : s - first + 1], beta)

    @kernel(error_model="numpy")
    def each(weights, taught, betas, out):
        digest  # noqa: B018  part of the key of the compiled code
        beta = to_fixed_tuple(betas, n_params)
        n_units = np.float32(weights.shape[0])
        for i in range(out.shape[0]):
            for j in range(out.shape[1]):
                out[i, j] = read(weights[i, j], np.float32(max(taught[j], 1)), n_units, *beta)

    return SideBySide(block, 2), each


def _row_kernel(move, reading, digest, n_params, event_driven, windowed, counting):
    _, output = reading

    @kernel(error_model="numpy")
    def learn(state, active, first, last, signal, moving, clamp, outputs, dense, clock):
        """Learn samples first .. last - 1 in order; returns the first one that diverged, or last.

        Args:
            state: (weights, sums, taught), changed in place: (units, width) float32; (width,) float64, the sum of
                each neuron's incoming weights, kept up to date where windowed; (width,) uint32, the samples each
                neuron was taught, kept up to date where counting.
            active: (units, values, counts) of the block.
            signal: (labels, codes, plastic): (n,) row of `codes` for each sample, or NO_LABEL; (classes, width)
                float32, the modulatory signal x_m of each class; (width,) bool, the neurons that may change.
            moving: (rates, betas, window): (n,) float32 learning rates; (n, params) float32; (n,) float32, INEL's
                beta (used when windowed).
            clamp: (lowest, highest) weight.
            outputs: (last - first, width) float32: x_o of each sample before it is learned.
            dense: (units,) float32 zeros, scratch of rules that are not event-driven.
            clock: (2,) int64, the time and the synapses visited so far, moved on with every sample, so that a call
                for one sample is all or nothing; or empty, where the caller does it.
        """
        digest  # noqa: B018  part of the key of the compiled code
        weights, sums, taught = state
        units, values, counts = active
        labels, codes, plastic = signal
        rates, betas, window = moving
        lowest, highest = clamp
        n_units, width = weights.shape
        x_o, x_m, free, mean, moved = eight_floats(), eight_floats(), eight_floats(), eight_floats(), eight_floats()
        n = eight_floats()
        for s in range(first, last):
            out = outputs[s - first : s - first + 1]
            beta = to_fixed_tuple(betas[s], n_params)
            output(weights, taught, units, values, s, counts[s], out, beta)
            if labels[s] == NO_LABEL:
                continue
            for j in range(width):
                if plastic[j] and not abs(out[0, j]) < DIVERGED:
                    return s
            code = codes[labels[s]]
            rate, reach = rates[s], window[s]
            if not event_driven:
                for a in range(counts[s]):
                    dense[units[s, a]] = values[s, a]
            for group in range(0, width, WIDTH):
                for lane in range(WIDTH):
                    j = group + lane
                    x_o[lane], x_m[lane] = out[0, j], code[j]
                    free[lane], mean[lane], moved[lane] = plastic[j], sums[j] / n_units, 0
                    if counting:
                        if plastic[j] and code[j] != 0:
                            taught[j] += np.uint32(1)
                        n[lane] = max(taught[j], 1)
                    else:
                        n[lane] = 1
                for a in range(counts[s] if event_driven else n_units):
                    i = np.int64(units[s, a]) if event_driven else a
                    x_e = values[s, a] if event_driven else dense[a]
                    for lane in range(WIDTH):
                        j = np.uintp(group) + np.uintp(lane)  # unsigned: no wrap-around to check
                        w = weights[i, j]
                        change = free[lane] * move(rate, x_e, x_o[lane], x_m[lane], w, n[lane], *beta)
                        if windowed:
                            change = change if reach * abs(w - mean[lane]) <= ONE else np.float32(0)
                        new = w + change
                        new = highest if new > highest else new
                        new = lowest if new < lowest else new
                        weights[i, j] = new
                        if windowed:
                            moved[lane] += new - w
                if windowed:
                    for lane in range(WIDTH):
                        sums[group + lane] += moved[lane]
            if not event_driven:
                for a in range(counts[s]):
                    dense[units[s, a]] = 0
            if clock.size:
                clock[0] += 1
                clock[1] += (counts[s] if event_driven else n_units) * np.count_nonzero(plastic)
        return last

    return learn


def _column_kernel(move, reading, digest, n_params, event_driven, windowed, counting):
    read, output = reading

    @kernel(error_model="numpy")
    def learn(state, active, first, last, signal, moving, clamp, outputs, dense, clock):
        """As in `_row_kernel`, visiting only the neurons whose x_m is not zero."""
        digest  # noqa: B018  part of the key of the compiled code
        weights, sums, taught = state
        units, values, counts = active
        labels, codes, plastic = signal
        rates, betas, window = moving
        lowest, highest = clamp
        n_units, width = weights.shape
        want_outputs = outputs.shape[0] > 0
        for s in range(first, last):
            beta = to_fixed_tuple(betas[s], n_params)
            if want_outputs:
                output(weights, taught, units, values, s, counts[s], outputs[s - first : s - first + 1], beta)
            if labels[s] == NO_LABEL:
                continue
            x_m = codes[labels[s]]
            rate = rates[s]
            if event_driven:
                n_visits = counts[s]
            else:
                n_visits = n_units
                for a in range(counts[s]):
                    dense[units[s, a]] = values[s, a]
            diverged = False
            for j in range(width):
                if x_m[j] == 0 or not plastic[j]:
                    continue
                n = np.float32(max(taught[j], 1)) if counting else np.float32(1)
                x_o = np.float32(0)
                for a in range(counts[s]):
                    x_o += read(weights[units[s, a], j], n, np.float32(n_units), *beta) * values[s, a]
                if not abs(x_o) < DIVERGED:
                    diverged = True
                    break
                mean = np.float32(sums[j] / n_units)
                if counting:
                    taught[j] += np.uint32(1)
                    n = np.float32(taught[j])
                moved = 0.0
                for a in range(n_visits):
                    i = np.int64(units[s, a]) if event_driven else a
                    x_e = values[s, a] if event_driven else dense[a]
                    w = weights[i, j]
                    if windowed and not window[s] * abs(w - mean) <= ONE:
                        continue
                    new = w + move(rate, x_e, x_o, x_m[j], w, n, *beta)
                    new = highest if new > highest else new
                    new = lowest if new < lowest else new
                    weights[i, j] = new
                    if windowed:
                        moved += np.float64(new) - np.float64(w)
                sums[j] += moved
            if not event_driven:
                for a in range(counts[s]):
                    dense[units[s, a]] = 0
            if diverged:
                return s
            if clock.size:
                clock[0] += 1
                clock[1] += n_visits
        return last

    return learn
