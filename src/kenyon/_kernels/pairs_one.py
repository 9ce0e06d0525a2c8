"""One sample into co-activity by one call, which nothing can interrupt half-way.

Each kernel learns the first sample of a block, moves `clock` on (its time, and the pairs visited) and returns True; or
it changes nothing and returns False, where the sample takes more than that: wider numbers, or smaller entries.
"""

import numpy as np

from kenyon._kernels.pairs import add_classes, add_products, add_row, largest, spread
from kenyon._kernels.thin import centre, pack_24, unpack_24
from kenyon.compiling import kernel

COMPILED_IN = "1ef5f9b7f16c"
"""Digest of `pairs.py` and `thin.py`. Numba keeps machine code by the text of its own file, so a change to what
is compiled into it has to show here."""

NARROW = 2**32 - 1
PEAK = 255

_FIRST = np.zeros(1, np.int64)


@kernel()
def learn_exact(pairs, sums, taught, active, labels, share, row, clock):
    """Exact sums in 32 bits.

    Args:
        pairs, sums, taught: the state, all uint32.
        active: (units, values, counts), values uint8; labels: its class.
        share: active pairs are visited one by one where they are one in so many or less.
        row: (1, units) float32, scratch.
    """
    units, values, counts = active
    n = counts[0]
    if (np.int64(taught.max()) + 1) * PEAK > NARROW:
        return False
    for a in range(n):  # no entry is larger than the larger one of its two on the diagonal
        unit, value = np.int64(units[0, a]), np.int64(values[0, a])
        if np.int64(pairs[unit * (unit + 3) // 2]) + value * value > NARROW:
            return False
    visits = n * (n + 1) // 2
    if share * visits > pairs.size:
        spread(units, values, counts, _FIRST, row)
        add_row(pairs, row[0], np.zeros(1, np.int64))
    else:
        add_products(pairs, units, values, counts, _FIRST)
    add_classes(sums, taught, units, values, counts, _FIRST, labels)
    clock[0] += 1
    clock[1] += visits
    return True


@kernel()
def learn_floats(pairs, sums, taught, active, labels, most, clock):
    """Sums of floats; `most` is the largest activity that they take."""
    units, values, counts = active
    if np.int64(taught.max()) + 1 > NARROW or largest(units, values, counts, _FIRST) > most:
        return False
    add_products(pairs, units, values, counts, _FIRST)
    add_classes(sums, taught, units, values, counts, _FIRST, labels)
    clock[0] += 1
    clock[1] += counts[0] * (counts[0] + 1) // 2
    return True


@kernel()
def learn_thinned_16(packed, means, taught, scales, active, labels, limit, scratch, clock):
    """Few bits, an entry being an int16.

    Args:
        packed, means, taught: the state.
        scales: (halvings, doublings), (1,) each.
        limit: largest entry of the diagonal.
        scratch: (diagonal, pairs, dense, distances): (units,) int64; int32 as many as there are pairs; twice (1,
            units) float32.
    """
    diagonal, _, dense, distances = scratch
    for i in range(diagonal.size):
        diagonal[i] = packed[i * (i + 3) // 2]
    n = _centred(means, taught, scales, active, labels, limit, diagonal, dense, distances)
    if n < 0:
        return False
    if n:
        k = 0
        for i in range(diagonal.size):
            for j in range(i + 1):
                packed[k + j] += np.int16(np.int32(distances[0, i] * distances[0, j]))
            k += i + 1
    clock[0] += 1
    clock[1] += n * packed.size
    return True


@kernel()
def learn_thinned_24(packed, means, taught, scales, active, labels, limit, scratch, clock):
    """As `learn_thinned_16`, an entry being three bytes."""
    diagonal, pairs, dense, distances = scratch
    unpack_24(packed, pairs)
    for i in range(diagonal.size):
        diagonal[i] = pairs[i * (i + 3) // 2]
    n = _centred(means, taught, scales, active, labels, limit, diagonal, dense, distances)
    if n < 0:
        return False
    if n:
        add_row(pairs, distances[0], np.zeros(1, np.int64))
        pack_24(pairs, packed)
    clock[0] += 1
    clock[1] += n * pairs.size
    return True


@kernel()
def _centred(means, taught, scales, active, labels, limit, diagonal, dense, distances):
    """Move the means; gives the rows let in, 0 or 1, or -1 where nothing was changed for lack of room."""
    units, values, counts = active
    halvings, doublings = scales
    time = np.int64(taught.sum())
    if time + 1 > NARROW:
        return -1
    spread(units, values, counts, _FIRST, dense)
    shift = 8 + np.int64(doublings[0])
    at, n = centre(
        means, taught, diagonal, dense, labels, _FIRST, time, shift, np.int64(halvings[0]), limit, 0, distances
    )
    return n if at == 1 else -1
