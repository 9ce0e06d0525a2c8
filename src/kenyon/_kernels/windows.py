"""The layer of windows: what each unit answers over small shifts of its window, from samples to their active units.

A sample is laid out channel by channel with a border of zeros, so that every shift is an offset. Bytes are summed
exactly; floats are summed in float32: the excitatory inputs in order, less the inhibitory ones in order, then over
the shifts row by row. Both entry points, for blocks and for single samples, give the same bits.
"""

import numpy as np

from kenyon._kernels import LANES
from kenyon._kernels.pooling import best_of_block, best_of_one, copy_eight, sum_of_block, sum_of_one
from kenyon._kernels.project import collect, cutoff, finish, finish_bytes
from kenyon._kernels.vector import add_moments, greater_mask, lowest_bit
from kenyon.compiling import kernel

COMPILED_IN = "291b9bf154d7"
"""Digest of `__init__.py`, `vector.py`, `pooling.py` and `project.py`. Numba keeps machine code by the text of its
own file, so a change to what is compiled into it has to show here."""


@kernel()
def activate_windows(samples, places, unit_table, how, scratch, active):
    """Active units of any number of samples, LANES at a time.

    Args:
        samples: (n, N) uint8 or float32.
        places: (N,) where each input lies in the padded layout.
        unit_table: (inputs, n_excitatory, offsets): (M, K) places at the first shift, excitatory ones first; offsets
            of the shifts as in `pool_block`.
        how: (best, root, strength, thresholded, unit_norm, scale, exact): the best response or the sum; the factor
            under the square root, 0 for none; beta, and whether there is a threshold; length 1; the factor that makes
            bytes of activity; whether the threshold is in whole numbers.
        scratch: (columns, responses, limits, moments, hit_units, hit_masks): (padded places, LANES), zero where no
            input lies; (M, LANES) int32 or float32; their smallest and largest value; (2 LANES, LANES)
            float64; twice (M,).
        active: (units, values, counts): (n, M) and (n, M) and (n,), written here.
    """
    inputs, n_excitatory, offsets = unit_table
    columns, responses = scratch[0], scratch[1]
    best, root = how[0], how[1]
    for first in range(0, samples.shape[0], LANES):
        part = slice(first, first + LANES)
        _lay_out(samples[part], places, columns)
        for unit in range(inputs.shape[0]):
            if best:
                best_of_block(columns, inputs, unit, n_excitatory, offsets, responses)
            else:
                sum_of_block(columns, inputs, unit, n_excitatory, offsets, responses)
            if root:
                _take_root(responses[unit], root)
        _answer(responses, min(LANES, samples.shape[0] - first), part, samples.itemsize == 1, how, scratch, active)


@kernel()
def activate_windows_one(sample, places, unit_table, how, scratch, active):
    """Active units of one sample at low latency: a lane a shift.

    Args:
        sample: (1, N) uint8 or float32.
        unit_table: (inputs, n_excitatory, offsets, lanes, shift): (n,) offsets and numbers of places, else as in
            `pool_one`; place k of the layout is item `k << shift`.
        scratch: (image, patches, shape, responses, limits): the padded places and some room after them; for each of
            them the values at all shifts side by side, or nothing; (channels, height, width) of a
            sample, then padded height and width; rows of LANES that hold M responses, and their smallest
            and largest value.
        places, how, active: as in `activate_windows`.
    """
    inputs, n_excitatory, offsets, lanes, shift = unit_table
    image, patches, shape, responses, limits = scratch
    best, root = how[0], how[1]
    _lay_out_one(sample, places, image)
    if patches.size:
        _put_side_by_side(image, shape, shift, patches)
        image = patches
    flat = responses.reshape(-1)[: inputs.shape[0]]
    flat[:] = limits[0] if best else 0
    first = 0
    while first < offsets.size:
        left = offsets.size - first
        if left >= 4:
            _pool_places(image, inputs, n_excitatory, _four(offsets, first), _four(lanes, first), best, flat)
            first += 4
        elif left >= 2:
            _pool_places(image, inputs, n_excitatory, _two(offsets, first), _two(lanes, first), best, flat)
            first += 2
        else:
            _pool_places(image, inputs, n_excitatory, (offsets[first],), (lanes[first],), best, flat)
            first += 1
    if root:
        _take_root(flat, root)
    _answer_one(responses, inputs.shape[0], sample.itemsize == 1, how, limits, active)


@kernel()
def _four(numbers, first):
    return numbers[first], numbers[first + 1], numbers[first + 2], numbers[first + 3]


@kernel()
def _two(numbers, first):
    return numbers[first], numbers[first + 1]


@kernel()
def _pool_places(x, inputs, n_excitatory, offsets, lanes, best, flat):
    """The responses of all units at some places, pooled with those before."""
    if best:
        for unit in range(inputs.shape[0]):
            best_of_one(x, inputs, unit, n_excitatory, offsets, lanes, flat)
    else:
        for unit in range(inputs.shape[0]):
            sum_of_one(x, inputs, unit, n_excitatory, offsets, lanes, flat)


@kernel()
def _lay_out(samples, places, columns):
    """Put a block of samples into columns, its lanes without a sample zero."""
    n = samples.shape[0]
    for i in range(places.size):
        place = places[i]
        for b in range(n):
            columns[place, b] = samples[b, i]
        for b in range(n, LANES):
            columns[place, b] = 0


@kernel()
def _lay_out_one(sample, places, image):
    """Put one sample into its padded layout."""
    for i in range(places.size):
        image[places[i]] = sample[0, i]


@kernel()
def _put_side_by_side(image, shape, shift, patches):
    """The values at all shifts of each place, row by row; a row has eight at most, and the next covers what is over."""
    channels, height, width, padded_height, padded_width = shape
    rows, columns = padded_height - height + 1, padded_width - width + 1
    for channel in range(channels):
        for y in range(height):
            for x in range(width):
                place = (channel * padded_height + y) * padded_width + x
                for row in range(rows):
                    copy_eight(image, place + row * padded_width, patches, (place << shift) + row * columns)


@kernel()
def _take_root(row, factor):
    """The square root of pooled responses times a factor; whole numbers are rounded down."""
    for i in range(row.size):
        row[i] = np.sqrt(max(np.float64(row[i]), 0.0) * factor)


@kernel()
def _answer(responses, n, part, integral, how, scratch, active):
    """From the responses to a block of n samples to their active units.

    The moments of a sample have LANES partial sums: unit u goes to partial u % LANES.
    """
    _, _, strength, thresholded, unit_norm, scale, exact = how
    _, _, limits, moments, hit_units, hit_masks = scratch
    units, values, counts = active[0][part], active[1][part], active[2][part]
    n_units = hit_units.size
    if thresholded:
        moments[:] = 0
        for unit in range(n_units):
            add_moments(responses, unit, moments, unit % LANES)
    threshold = np.zeros((1, LANES), responses.dtype)
    bars, shifts = np.zeros(LANES), np.zeros(LANES)
    threshold[0, n:] = limits[1]  # lanes without a sample stay silent
    if thresholded:
        for b in range(n):
            total, squares = moments[:LANES, b].sum(), moments[LANES:, b].sum()
            bars[b], shifts[b] = cutoff(total, squares, n_units, strength, limits, integral, exact)
            threshold[0, b] = bars[b]
    collect(responses, n_units, threshold, n, np.arange(LANES), hit_units, hit_masks, units, counts)
    for b in range(n):
        if values.itemsize == 1:
            counts[b] = finish_bytes(units[b], values[b], counts[b], responses[:, b], bars[b], scale)
        else:
            for a in range(counts[b]):
                values[b, a] = responses[units[b, a], b]
            finish(values, b, counts[b], shifts[b], unit_norm)


@kernel()
def _answer_one(responses, n_units, integral, how, limits, active):
    """As `_answer` for one sample, whose units are side by side."""
    _, _, strength, thresholded, unit_norm, scale, exact = how
    units, values, counts = active
    flat = responses.reshape(-1)
    threshold = np.zeros((1, LANES), responses.dtype)
    bar, shift = 0.0, 0.0
    if thresholded:
        flat[n_units:] = 0
        moments = np.zeros((2, LANES))
        for row in range(responses.shape[0]):
            add_moments(responses, row, moments, 0)
        bar, shift = cutoff(moments[0].sum(), moments[1].sum(), n_units, strength, limits, integral, exact)
        threshold[0, :] = bar
    flat[n_units:] = limits[0]  # the last row's units beyond M stay silent
    count = 0
    for row in range(responses.shape[0]):
        mask = greater_mask(responses, row, threshold)
        while mask:
            units[0, count] = row * LANES + lowest_bit(mask)
            mask &= mask - np.uint32(1)
            count += 1
    if values.itemsize == 1:
        counts[0] = finish_bytes(units[0], values[0], count, flat, bar, scale)
        return
    counts[0] = count
    for a in range(count):
        values[0, a] = flat[units[0, a]]
    finish(values, 0, count, shift, unit_norm)
