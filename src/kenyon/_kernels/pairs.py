"""Co-activity of units: sums of products over pairs, one entry for each pair, and what is made of them.

`pairs` is the lower triangle of a symmetric matrix, row after row: units i >= j share the entry i (i + 1) / 2 + j.
Whole numbers are added exactly, so it does not matter which kernel adds them, or in what order. Floats are added
sample by sample into every entry, in the order of the samples, whichever kernel does it.
"""

import numpy as np

from kenyon.compiling import kernel

SOME, TILE = 32, 256
"""Samples that are added at a time, and entries of a row that they are added to."""

FEW = np.uint64(64)
"""A class that was taught 1, 2, 4, .. samples, up to this many, is worth solving the readout anew."""


@kernel()
def add_products(pairs, units, values, counts, chosen):
    """Add `x_i x_j` of every pair of active units, for each chosen sample of a block in order."""
    for s in chosen:
        for a in range(counts[s]):
            unit = np.int64(units[s, a])
            row, value = unit * (unit + 1) // 2, values[s, a]
            if unit == a:  # every unit up to this one is active: their entries lie side by side
                for b in range(a + 1):
                    pairs[row + b] += value * values[s, b]
            else:
                for b in range(a + 1):
                    pairs[row + np.int64(units[s, b])] += value * values[s, b]


@kernel()
def add_classes(sums, taught, units, values, counts, chosen, labels):
    """Add the activity of each chosen sample to the sums of its class, and one to the class's count."""
    for s in chosen:
        j = labels[s]
        for a in range(counts[s]):
            sums[np.int64(units[s, a]), j] += values[s, a]
        taught[j] += 1


@kernel()
def add_squares(diagonal, units, values, counts, chosen):
    """Add `x_i x_i` of every active unit of the chosen samples."""
    for s in chosen:
        for a in range(counts[s]):
            value = np.uint64(values[s, a])
            diagonal[np.int64(units[s, a])] += value * value


@kernel()
def largest(units, values, counts, chosen):
    """The largest activity of the chosen samples, whatever its sign."""
    most = np.float32(0)
    for s in chosen:
        for a in range(counts[s]):
            most = max(most, abs(values[s, a]))
    return most


@kernel()
def spread(units, values, counts, chosen, out):
    """The chosen samples as dense rows."""
    for r in range(chosen.size):
        s = chosen[r]
        for i in range(out.shape[1]):
            out[r, i] = 0
        for a in range(counts[s]):
            out[r, np.int64(units[s, a])] = values[s, a]


@kernel()
def add_panel(pairs, panel, first):
    """Add whole numbers, the rows from `first` on of a matrix of products, to the triangle."""
    for r in range(panel.shape[0]):
        i = first + r
        row = i * (i + 1) // 2
        for j in range(i + 1):
            pairs[row + j] += np.uint32(np.int32(panel[r, j]))  # unsigned, or 64 bits would become floats


@kernel()
def add_rows(pairs, rows, columns, tile):
    """Add the products of dense rows of floats, each entry of the triangle in the order of the rows.

    Args:
        rows: (n, units); columns: (units, n), the same the other way round.
        tile: (SOME, TILE), room for a part of them, which stays in the nearest cache while it is added.
    """
    n_rows, n_units = rows.shape
    for top in range(0, n_rows, SOME):
        n = min(SOME, n_rows - top)
        for start in range(0, n_units, TILE):
            stop = min(start + TILE, n_units)
            for r in range(n):
                for j in range(start, stop):
                    tile[r, j - start] = rows[top + r, j]
            for i in range(start, n_units):
                first = i * (i + 1) // 2 + start
                _add_tile(pairs[first : first + min(i + 1, stop) - start], columns[i, top : top + n], tile)


@kernel(inline="always")
def _add_tile(entries, values, tile):
    """Add each row of the tile times its value, eight rows on each way through the entries."""
    r = 0
    while r + 8 <= values.size:
        a, b, c, d = values[r], values[r + 1], values[r + 2], values[r + 3]
        e, f, g, h = values[r + 4], values[r + 5], values[r + 6], values[r + 7]
        t, u, v, w = tile[r], tile[r + 1], tile[r + 2], tile[r + 3]
        x, y, z, o = tile[r + 4], tile[r + 5], tile[r + 6], tile[r + 7]
        for j in range(entries.size):
            four = (((entries[j] + a * t[j]) + b * u[j]) + c * v[j]) + d * w[j]
            entries[j] = (((four + e * x[j]) + f * y[j]) + g * z[j]) + h * o[j]
        r += 8
    while r < values.size:
        value, row = values[r], tile[r]
        for j in range(entries.size):
            entries[j] += value * row[j]
        r += 1


@kernel()
def add_row(pairs, row, added):
    """Add the products of one dense row of whole numbers, then one to `added[0]`."""
    for i in range(row.size):
        value = row[i]
        if value != 0:
            first = i * (i + 1) // 2
            entries = pairs[first : first + i + 1]
            for j in range(i + 1):
                entries[j] += np.uint32(np.int32(value * row[j]))
    added[0] += 1


@kernel()
def subtract_row(pairs, row, n_before, added):
    """The reverse of `add_row`, unless `added[0]` says that it was not called, or was reversed already."""
    if added[0] != n_before + 1:
        return
    for i in range(row.size):
        value = row[i]
        if value != 0:
            first = i * (i + 1) // 2
            entries = pairs[first : first + i + 1]
            for j in range(i + 1):
                entries[j] -= np.uint32(np.int32(value * row[j]))
    added[0] = n_before


# ---- reading


@kernel()
def fill_triangle(pairs, scale, out):
    """The lower triangle of a matrix in float64; what lies above it is left as it is."""
    for i in range(out.shape[0]):
        row = i * (i + 1) // 2
        for j in range(i + 1):
            out[i, j] = scale * np.float64(pairs[row + j])


@kernel()
def squares_of_triangle(matrix):
    """The sum of squares of a symmetric matrix of which the lower triangle is there."""
    total = 0.0
    for i in range(matrix.shape[0]):
        for j in range(i):
            total += 2 * matrix[i, j] * matrix[i, j]
        total += matrix[i, i] * matrix[i, i]
    return total


@kernel()
def until_refresh(labels, plastic, first, last, taught, n_units, time, since, pending):
    """How far the readout of time `since` serves (`kenyon.layers`, the second-order layer, says when it does not).

    Args:
        labels: class number of each sample of a block; plastic: (width,) the neurons that may learn.
        taught: (width,) the samples each neuron was taught; changed.
        time: labelled samples learned before sample `first`.
        pending: whether a class has reached a count of 1, 2, 4, .., 64 since then.

    Returns:
        (the first sample that needs a new readout, or last; pending).
    """
    for s in range(first, last):
        age = time - since
        far, near = max(8, n_units // 8, time // 16), max(1, n_units // 64, time // 512)
        if age >= far or (pending and age >= near):
            return s, pending
        j = labels[s]
        if j >= 0 and plastic[j]:
            n = np.uint64(taught[j]) + np.uint64(1)
            taught[j] = n
            pending |= n <= FEW and n & (n - np.uint64(1)) == 0
            time += 1
    return last, pending


# ---- undoing


@kernel()
def keep_products(pairs, units, counts, out, at):
    """Copy the entries that samples touch, from `out[at]` on."""
    for s in range(counts.size):
        for a in range(counts[s]):
            unit = np.int64(units[s, a])
            row = unit * (unit + 1) // 2
            for b in range(a + 1):
                out[at] = pairs[row + np.int64(units[s, b])]
                at += 1


@kernel()
def restore_products(pairs, units, counts, kept, at):
    """Put a copy of `keep_products` back; entries that several samples touch are all the same there."""
    for s in range(counts.size):
        for a in range(counts[s]):
            unit = np.int64(units[s, a])
            row = unit * (unit + 1) // 2
            for b in range(a + 1):
                pairs[row + np.int64(units[s, b])] = kept[at]
                at += 1
