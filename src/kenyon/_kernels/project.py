"""The feature layer: `x_e = ReLU(W_e u - mu - beta sigma)`, from samples to their active units.

`W_e` holds +1 and -1 only, so a projection is a sum of inputs minus a sum of inputs. Bytes are
summed exactly in 16 or 32 bits; floats are summed in float32 in ascending order of the input, the
excitatory ones and the inhibitory ones apart. Both entry points below give the same bits.
"""

import numpy as np
from numba import types
from numba.extending import overload

from kenyon._kernels import LANES
from kenyon._kernels.vector import add_moments, add_squares, greater_mask, lowest_bit, sum_rows
from kenyon.compiling import kernel

COMPILED_IN = "882615c068e3"
"""Digest of `__init__.py` and `vector.py`. Numba keeps machine code by the text of its own file, so a change to what
is compiled into it has to show here."""

_ONE, _TWO, _THREE, _FOUR = (np.uintp(number) for number in (1, 2, 3, 4))

PARTIALS = 8
"""Partial sums of a reduction: term number i goes to partial i % PARTIALS."""


FRACTION = np.int64(12)
"""Bits of the fraction with which a threshold in standard deviations is taken in whole numbers."""


@kernel()
def whole_root(value):
    """The square root of a whole number from 0 on, rounded down."""
    rest, root, bit = np.int64(value), np.int64(0), np.int64(1) << np.int64(60)
    while bit:
        if rest >= root + bit:
            rest -= root + bit
            root = (root >> np.int64(1)) + bit
        else:
            root >>= np.int64(1)
        bit >>= np.int64(2)
    return root


@kernel()
def cutoff(total, squares, n_units, strength, limits, integral, exact):
    """Threshold of one sample: (what a projection must exceed, what is then subtracted).

    Where it is `exact`, strength is beta in units of 2^-FRACTION, and the threshold T / n + beta sqrt(n S - T^2) / n
    is worked out in whole numbers, from the sum T and the sum of squares S; both are rounded down.
    """
    if exact:
        t, n = np.int64(total), np.int64(n_units)
        deviation = whole_root(n * np.int64(squares) - t * t)
        bar = ((t << FRACTION) + np.int64(strength) * deviation) // (n << FRACTION)
        bar = float(min(max(bar, np.int64(limits[0])), np.int64(limits[1])))
        return bar, bar
    mean = total / n_units
    variance = squares / n_units - mean * mean
    theta = mean + strength * np.sqrt(max(variance, 0.0))
    if integral:
        return min(max(np.floor(theta), float(limits[0])), float(limits[1])), theta
    rounded = np.float64(np.float32(theta))
    return rounded, rounded


@kernel()
def finish(values, sample, count, shift, unit_norm):
    """Subtract the threshold from the active projections and scale them to unit length."""
    row = values[sample, :count]
    for a in range(count):
        row[a] = np.float32(np.float64(row[a]) - shift)
    if not unit_norm or count == 0:
        return
    partial = np.zeros(PARTIALS)
    whole = count - count % PARTIALS
    for first in range(0, whole, PARTIALS):
        for p in range(PARTIALS):
            partial[p] += np.float64(row[first + p]) * np.float64(row[first + p])
    for a in range(whole, count):
        partial[a - whole] += np.float64(row[a]) * np.float64(row[a])
    scale = np.float32(1.0 / np.sqrt(partial.sum()))
    for a in range(count):
        row[a] *= scale


@kernel()
def finish_bytes(units, values, count, responses, bar, scale):
    """The activity of one sample as bytes, those that are zero left out; how many are left."""
    left = 0
    for a in range(count):
        unit = units[a]
        value = min((np.float64(responses[unit]) - bar) * scale, 255.0)
        units[left] = unit
        values[left] = np.uint8(value)
        left += value >= 1.0
    return left


def _tile_moments(projected, first, last, moments, total, squares):
    """Add the squares of units first .. last - 1 to `squares` and, of floats, the values to `total`."""


@overload(_tile_moments)
def _tile_moments_of(projected, first, last, moments, total, squares):
    if projected.dtype == types.int16:

        def narrow(projected, first, last, moments, total, squares):
            moments[:] = 0
            for unit in range(first, last, 2):
                add_squares(projected, unit, moments)
            for place in range(LANES):
                squares[place] += moments[0, place]

        return narrow

    def wide(projected, first, last, moments, total, squares):
        moments[:] = 0
        for unit in range(first, last):
            add_moments(projected, unit, moments, unit % PARTIALS)
        for part in range(PARTIALS):
            for b in range(LANES):
                total[b] += moments[part, b]
                squares[b] += moments[PARTIALS + part, b]

    return wide


@kernel()
def _sum_by_degree(samples, b, degrees):
    """The sum of a sample's projection over all units, from how many units each input feeds; whole numbers, exact."""
    total = 0
    for i in range(degrees.size):
        total += degrees[i] * np.int64(samples[b, i])
    return total


@kernel()
def activate(samples, inputs, n_excitatory, degrees, how, scratch, active):
    """Active units of any number of samples, LANES at a time.

    Args:
        samples: (n, N) uint8 or float32.
        inputs: (M, K) inputs of each unit, the first `n_excitatory` of weight +1, the others -1.
        how: (strength, thresholded, unit_norm, scale, exact): beta, the threshold in standard deviations, and whether
            there is one; length 1; the factor that makes bytes of activity; whether all is in whole numbers.
        degrees: (N,) int32, how many units an input excites less how many it inhibits.
        scratch: (columns, lanes, places, projected, limits, moments, tile, hit_units, hit_masks):
            (N, LANES) of the samples' type; the sample that each lane of a sum belongs to, and the place of its sum of
            squares; (M + 1, LANES) of the sums' type, the last row zero; the sums' smallest and largest value; room
            to add up moments, and for how many units; twice (M,) for the units that any sample activates.
        active: (units, values, counts): (n, M) and (n, M) and (n,), written here.
    """
    units, values, counts = active
    for first in range(0, samples.shape[0], LANES):
        part = slice(first, first + LANES)
        here = (units[part], values[part], counts[part])
        _block(samples[part], inputs, n_excitatory, degrees, how, scratch, here)


@kernel()
def _block(samples, inputs, n_excitatory, degrees, how, scratch, active):
    strength, thresholded, unit_norm, scale, exact = how
    columns, lanes, places, projected, limits, moments, tile, hit_units, hit_masks = scratch
    units, values, counts = active
    n, n_inputs = samples.shape
    n_units = inputs.shape[0]
    integral = samples.itemsize == 1
    for i in range(n_inputs):
        for b in range(n):
            columns[i, b] = samples[b, i]
        for b in range(n, LANES):
            columns[i, b] = 0

    total = np.zeros(LANES)
    squares = np.zeros(LANES)
    for first in range(0, n_units, tile):
        last = min(first + tile, n_units)
        for unit in range(first, last):
            sum_rows(columns, inputs, unit, n_excitatory, projected, unit)
        _tile_moments(projected, first, last, moments, total, squares)
    if integral:
        for b in range(n):
            total[b] = _sum_by_degree(samples, b, degrees)

    threshold = np.zeros((1, LANES), projected.dtype)
    shift = np.zeros(LANES)
    for lane in range(LANES):
        b = lanes[lane]
        if b >= n:
            threshold[0, lane] = limits[1]  # lanes without a sample stay silent
        elif thresholded:
            bar, shift[b] = cutoff(total[b], squares[places[lane]], n_units, strength, limits, integral, exact)
            threshold[0, lane] = bar

    collect(projected, n_units, threshold, n, lanes, hit_units, hit_masks, units, counts)
    for lane in range(LANES):
        b = lanes[lane]
        if b < n and values.itemsize == 1:
            counts[b] = finish_bytes(units[b], values[b], counts[b], projected[:, lane], shift[b], scale)
        elif b < n:
            for a in range(counts[b]):  # apart from the loop above, which has enough pages in hand
                values[b, a] = projected[units[b, a], lane]
            finish(values, b, counts[b], shift[b], unit_norm)


@kernel()
def collect(projected, n_units, threshold, n, lanes, hit_units, hit_masks, units, counts):
    """The units of each sample whose projection is above its threshold; `lanes` has the sample of each lane."""
    n_hits = 0
    for unit in range(n_units):  # no branch to mispredict: most units are silent, at random
        mask = greater_mask(projected, unit, threshold)
        hit_units[n_hits] = unit
        hit_masks[n_hits] = mask
        n_hits += mask != 0
    counts[:n] = 0
    for hit in range(n_hits):
        unit, mask = hit_units[hit], hit_masks[hit]
        while mask:
            b = lanes[lowest_bit(mask)]
            mask &= mask - np.uint32(1)
            units[b, counts[b]] = unit
            counts[b] += 1


@kernel()
def group_by_input(inputs, n_inputs, first, last, units):
    """The projection the other way round: starts such that input i feeds the units
    `units[starts[i] : starts[i + 1]]` through connections first .. last - 1; `units` is filled here."""
    starts = np.zeros(n_inputs + 1, np.int64)
    for unit in range(inputs.shape[0]):
        for k in range(first, last):
            starts[inputs[unit, k] + 1] += 1
    starts = np.cumsum(starts)
    filled = starts.copy()
    for unit in range(inputs.shape[0]):
        for k in range(first, last):
            i = inputs[unit, k]
            units[filled[i]] = unit
            filled[i] += 1
    return starts


@kernel()
def activate_one(sample, excitatory, inhibitory, n_units, how, scratch, active):
    """Active units of one sample at low latency: only inputs that are not zero are visited.

    Args:
        sample: (1, N) uint8 or float32.
        excitatory, inhibitory: (starts, units) as in `group_by_input`.
        scratch: (projected, inhibited, limits): both (rows, LANES) and covering M units.
        how, active: as in `activate`, for one sample.
    """
    strength, thresholded, unit_norm, scale, exact = how
    projected, inhibited, limits = scratch
    units, values, counts = active
    integral = sample.itemsize == 1
    flat = projected.reshape(-1)
    flat[:] = 0
    _scatter(sample, excitatory, flat)
    if inhibitory[1].size:
        flat_inhibited = inhibited.reshape(-1)
        flat_inhibited[:] = 0
        _scatter(sample, inhibitory, flat_inhibited)
        for unit in range(n_units):
            flat[unit] -= flat_inhibited[unit]

    threshold = np.zeros((1, LANES), projected.dtype)
    shift = 0.0
    if thresholded:
        total, squares = _exact_moments(flat[:n_units]) if integral else _moments(flat[:n_units])
        bar, shift = cutoff(total, squares, n_units, strength, limits, integral, exact)
        threshold[0, :] = bar
    flat[n_units:] = limits[0]  # the last row's units beyond M stay silent
    a = 0
    for row in range(projected.shape[0]):
        mask = greater_mask(projected, row, threshold)
        while mask:
            b = lowest_bit(mask)
            mask &= mask - np.uint32(1)
            units[0, a] = row * LANES + b
            a += 1
    if values.itemsize == 1:
        counts[0] = finish_bytes(units[0], values[0], a, flat, shift, scale)
        return
    for k in range(a):
        values[0, k] = flat[units[0, k]]
    counts[0] = a
    finish(values, 0, a, shift, unit_norm)


@kernel()
def _exact_moments(sums):
    """Sum and sum of squares of whole numbers: exact, so that any order will do."""
    total, squares = 0, 0
    for unit in range(sums.size):
        value = np.int64(sums[unit])
        total += value
        squares += value * value
    return float(total), float(squares)


@kernel()
def _moments(sums):
    """Sum and sum of squares in the order of `_block`."""
    total = np.zeros(PARTIALS)
    squares = np.zeros(PARTIALS)
    for unit in range(sums.size):
        value = np.float64(sums[unit])
        total[unit % PARTIALS] += value
        squares[unit % PARTIALS] += value * value
    return total.sum(), squares.sum()


@kernel()
def _scatter(sample, groups, sums):
    starts, units = groups
    for i in range(sample.shape[1]):
        value = sums.dtype.type(sample[0, i])
        if value != 0:
            c, last = np.uintp(starts[i]), np.uintp(starts[i + 1])
            while (
                c + _FOUR <= last
            ):  # four at a time, for LLVM does not unroll it and the loop costs more than the sums
                a, b, d, e = units[c], units[c + _ONE], units[c + _TWO], units[c + _THREE]
                sums[a] += value
                sums[b] += value
                sums[d] += value
                sums[e] += value
                c += _FOUR
            while c < last:
                sums[units[c]] += value
                c += _ONE


@kernel()
def activate_identity(samples, unit_norm, active):
    """The raw inputs that are not zero, as active units."""
    units, values, counts = active
    for b in range(samples.shape[0]):
        a = 0
        for i in range(samples.shape[1]):
            if samples[b, i] != 0:
                units[b, a] = i
                values[b, a] = samples[b, i]
                a += 1
        counts[b] = a
        if values.itemsize > 1:
            finish(values, b, a, 0.0, unit_norm)


@kernel()
def activate_dense(samples, signs, active):
    """Signed sums of all inputs, each unit's in ascending order of the inputs, in float32."""
    _, values, counts = active
    n_units = signs.shape[1]
    for b in range(samples.shape[0]):
        row = values[b]
        row[:] = 0
        for i in range(samples.shape[1]):
            value = np.float32(samples[b, i])
            if value != 0:
                for u in range(n_units):
                    row[u] += value * signs[i, u]
        counts[b] = n_units


@kernel()
def signed_bytes(samples, sums, middle, gain, values):
    """The sums of samples of length 1 as bytes: `middle` is zero, and `gain` steps are one."""
    for b in range(samples.shape[0]):
        squares = 0.0
        for i in range(samples.shape[1]):
            squares += np.float64(samples[b, i]) ** 2
        scale = gain / np.sqrt(squares) if squares > 0 else 0.0
        for u in range(sums.shape[1]):
            values[b, u] = np.uint8(min(max(np.rint(sums[b, u] * scale) + middle, 0.0), 255.0))
