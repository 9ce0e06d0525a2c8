"""Co-activity in few bits: class means and distances from them, halving, and entries of three bytes.

`pairs` is the lower triangle of a symmetric matrix as in `pairs.py`, in signed whole numbers.
"""

import numpy as np

from kenyon.compiling import kernel

EXACT = 2**21
"""Up to this count, floats give the same whole numbers as whole numbers do, and sooner."""


@kernel()
def word(a, b):
    """64 random bits for a pair of numbers: SplitMix64's finishing steps on their combination."""
    z = np.uint64(a) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(b) * np.uint64(0xD1B54A32D192ED03)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel()
def _share(chance, n):
    """chance n / 2^32 rounded down, of a chance of 32 bits and a count below 2^63."""
    low, high = np.uint64(n) & np.uint64(0xFFFFFFFF), np.uint64(n) >> np.uint64(32)
    return np.int64(chance * high + (chance * low >> np.uint64(32)))


@kernel(error_model="numpy")
def centre(means, taught, diagonal, dense, labels, chosen, time, shift, halvings, limit, at, out):
    """Move class means by samples in order, and give the distances from them that the co-activity takes in.

    Args:
        means: (units, width) uint16, class means in units of 1/256; taught: (width,) samples of each class.
        diagonal: (units,) of the co-activity, kept up to date with the rows given out.
        dense: (n, units) the activity of the samples; chosen: their numbers in `labels`.
        time: of sample 0: what all classes were taught before it.
        shift: distances are in units of 2**shift / 256.
        halvings: samples are let in by chance, one in 2**halvings.
        limit: largest entry of the diagonal.
        at: sample to begin with.
        out: (n, units) the distances of samples let in.

    Returns:
        (sample to go on with, rows given out). It stops before a sample for which the diagonal has no room.

    A mean moves by (distance + chance n / 2^32) / n, in units of 1/256 and rounded down twice, where n counts the
    sample and chance is the upper half of `word(word(time of the sample, 0), unit + 1)`.
    """
    n_units = dense.shape[1]
    half = np.int32(1 << (shift - 1))
    rows = 0
    for s in range(at, dense.shape[0]):
        j = labels[chosen[s]]
        key = word(time + s, 0)
        n = taught[j] + 1
        if n > 1 and (key >> np.uint64(16)) & np.uint64((1 << halvings) - 1) == 0:
            fits = True
            for i in range(n_units):
                distance = ((np.int32(dense[s, i]) << 8) - np.int32(means[i, j]) + half) >> shift
                out[rows, i] = distance
                fits &= diagonal[i] + distance * distance <= limit
            if not fits:
                return s, rows
            for i in range(n_units):
                distance = np.int64(out[rows, i])
                diagonal[i] += distance * distance
            rows += 1
        taught[j] = n
        for i in range(n_units):
            distance = (np.int32(dense[s, i]) << 8) - np.int32(means[i, j])
            chance = word(key, i + 1) >> np.uint64(32)
            if n < EXACT:
                means[i, j] += np.int32(np.floor((distance + np.floor(chance * 2.0**-32 * n)) / n))
            else:
                means[i, j] += np.int32((distance + _share(chance, n)) // np.int64(n))
    return dense.shape[0], rows


@kernel()
def divide(pairs, places, key):
    """Divide every entry by 2**places, rounded up or down by chance; `key` is another one each time."""
    most = (1 << places) - 1
    i, end = 0, 0
    for k in range(pairs.size):
        if k == end:  # the diagonal goes up, so that no other entry can outgrow it
            pairs[k] = (pairs[k] + most) >> places
            i += 1
            end += i + 1
        else:
            pairs[k] = (pairs[k] + (np.int64(word(key, k) >> np.uint64(32)) & most)) >> places


@kernel()
def unpack_24(packed, out):
    """Signed entries of three bytes, the lowest first; four of them are three words."""
    n = out.size // 4
    words = packed[: 12 * n].view(np.uint32)
    for k in range(n):
        a, b, c = words[3 * k], words[3 * k + 1], words[3 * k + 2]
        out[4 * k] = np.int32(a << 8) >> 8
        out[4 * k + 1] = np.int32(((a >> 24) << 8) | (b << 16)) >> 8
        out[4 * k + 2] = np.int32(((b >> 16) << 8) | (c << 24)) >> 8
        out[4 * k + 3] = np.int32(c) >> 8
    for k in range(4 * n, out.size):
        low = np.int32(packed[3 * k]) | (np.int32(packed[3 * k + 1]) << 8) | (np.int32(packed[3 * k + 2]) << 16)
        out[k] = (low ^ 0x800000) - 0x800000


@kernel()
def pack_24(entries, packed):
    """The reverse of `unpack_24`."""
    for k in range(entries.size):
        value = entries[k]
        packed[3 * k] = np.uint8(value & 0xFF)
        packed[3 * k + 1] = np.uint8((value >> 8) & 0xFF)
        packed[3 * k + 2] = np.uint8((value >> 16) & 0xFF)
