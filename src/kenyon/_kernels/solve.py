"""The readout of a second-order layer in whole numbers: solved, and read.

`kenyon.layers.WholeReadout` defines every bit of it.
"""

import numpy as np

from kenyon.compiling import kernel

WEIGHT = np.int64(15)
"""Bits of the largest weight of a class."""

LARGEST = np.int64(2**31 - 1)
MOST_SHRINKAGE = np.int64(2**30)
NO_WEIGHTS = np.int64(-1000)
"""The exponent of a class whose weights are all zero."""


@kernel()
def square_of(triangle, out):
    """A packed lower triangle as a full symmetric matrix."""
    k = 0
    for i in range(out.shape[0]):
        for j in range(i + 1):
            out[i, j] = triangle[k]
            out[j, i] = triangle[k]
            k += 1


@kernel()
def bits_of(value):
    """Bits of a number from 0 on."""
    n = np.int64(0)
    while value:
        value >>= np.int64(1)
        n += np.int64(1)
    return n


@kernel()
def _moved(value, up):
    """Times 2^up, rounded down."""
    return value << up if up >= 0 else value >> min(-up, np.int64(63))


@kernel()
def _ratio(a, b):
    """(m, t), with m / 2^t for a / b and m below 2^32; a from 0 on, b positive."""
    up, down = np.int64(62) - bits_of(a), bits_of(b) - np.int64(31)
    return (a << up) // _moved(b, -down), up + down


@kernel()
def _times(m, t, value):
    """m value / 2^t, rounded down and clipped to 32 bits."""
    return min(max((m * value) >> min(max(t, np.int64(0)), np.int64(62)), -LARGEST), LARGEST)


@kernel()
def _largest(values):
    most = np.int64(0)
    for i in range(values.size):
        most = max(most, abs(np.int64(values[i])))
    return most


@kernel()
def _squares(values):
    total = np.int64(0)
    for i in range(values.size):
        total += np.int64(values[i]) * np.int64(values[i])
    return total


@kernel()
def _squares_of_shifted(values, lower):
    total = np.int64(0)
    for i in range(values.size):
        value = np.int64(values[i]) >> lower
        total += value * value
    return total


@kernel()
def room_of(n):
    """(R, Q, Z): bits of the largest entries of r and p, of q, and of what is squared, for sums below 2^63."""
    most = (np.int64(62) - bits_of(n)) // 2
    room = min(np.int64(26), most)
    return room, min(np.int64(28), np.int64(62) - bits_of(n) - room), most


@kernel(error_model="numpy")
def _solve_class(square, shrinkage, r, iterations, p, q, x):
    """One class: `r` holds its right-hand side b, and x is filled; (found, f) with x / 2^f the solution.

    Not found where the matrix proves not to be positive.
    """
    n = r.size
    room, product_room, square_room = room_of(n)
    x[:] = 0
    place = np.int64(30) - max(np.int64(0), (bits_of(_squares(r)) + 1) // 2 - bits_of(shrinkage) + 1)
    up = room - bits_of(_largest(r))
    for i in range(n):
        r[i] = np.int64(r[i]) << up
        p[i] = r[i]
    size, squares = -up, _squares(r)
    for _ in range(iterations):
        if squares == 0:
            break
        for i in range(n):
            total = shrinkage * np.int64(p[i])
            for j in range(n):
                total += np.int64(square[i, j]) * np.int64(p[j])
            q[i] = total
        s = bits_of(_largest(q)) - product_room
        product = np.int64(0)
        for i in range(n):
            q[i] = _moved(q[i], -s)
            product += np.int64(p[i]) * q[i]
        if product <= 0:
            return False, place
        m, t = _ratio(squares, product)
        for i in range(n):
            x[i] = min(max(np.int64(x[i]) + _times(m, t + s - size - place, np.int64(p[i])), -LARGEST), LARGEST)
            r[i] = min(max(np.int64(r[i]) - _times(m, t, q[i]), -LARGEST), LARGEST)
        lower = max(np.int64(0), bits_of(_largest(r)) - square_room)
        m, t = _ratio(_squares_of_shifted(r, lower), squares)
        t -= 2 * lower
        for i in range(n):
            p[i] = min(max(np.int64(r[i]) + _times(m, t, np.int64(p[i])), -LARGEST), LARGEST)
        up = room - bits_of(max(_largest(r), _largest(p)))
        for i in range(n):
            r[i] = _moved(np.int64(r[i]), up)
            p[i] = _moved(np.int64(p[i]), up)
        size, squares = size - up, _squares(r)
    return True, place


@kernel(error_model="numpy")
def solve_classes(square, means, known, shrinkage, iterations, weights, exponents, offsets):
    """The readout of the classes that were taught.

    Args:
        square: (units, units) int32, the co-activity.
        means: (units, width) uint16, the class means in units of 1/256.
        known: the neurons that were taught, ascending.
        shrinkage: added to the diagonal, from 1 on; raised where the matrix is not positive.
        iterations: at most.
        weights: (units, width) int16, filled like exponents and offsets, (width,) int64.
    """
    n = square.shape[0]
    centre = np.zeros(n, np.int64)
    for i in range(n):
        for j in known:
            centre[i] += np.int64(means[i, j])
        centre[i] = (2 * centre[i] + known.size) // (2 * known.size)
    r, p, x, q = np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n, np.int64)
    number = 0
    while number < known.size:
        j = known[number]
        for i in range(n):
            r[i] = np.int64(means[i, j]) - centre[i]
        found, place = _solve_class(square, shrinkage, r, iterations, p, q, x)
        if not found and shrinkage < MOST_SHRINKAGE:
            shrinkage, number = min(10 * shrinkage, MOST_SHRINKAGE), 0
            continue
        most, total = _largest(x), np.int64(0)
        down = bits_of(most) - WEIGHT
        for i in range(n):
            w = _moved(np.int64(x[i]), -down)
            weights[i, j] = w
            total -= w * (np.int64(means[i, j]) + centre[i])
        exponents[j] = down - place if most else NO_WEIGHTS
        offsets[j] = total >> np.int64(9)
        number += 1


@kernel()
def read_whole(weights, offsets, shifts, known, active, first, last, out):
    """Scores of samples first .. last - 1 into rows of `out` (int32), for the neurons that are known."""
    units, values, counts = active
    total = np.zeros(weights.shape[1], np.int64)
    for s in range(first, last):
        total[:] = offsets
        for a in range(counts[s]):
            row, value = weights[units[s, a]], np.int64(values[s, a])
            for j in range(total.size):
                total[j] += np.int64(row[j]) * value
        for j in known:
            out[s - first, j] = total[j] >> shifts[j]
