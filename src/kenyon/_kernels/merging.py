"""Two states of few bits as one, in whole numbers.

`kenyon.layers.FewBitLayer` and `kenyon/layers/_few_bits.py` define every bit of it.
"""

from functools import cache

import numpy as np

from kenyon._kernels._levels import chance, key_of, mix, packing
from kenyon._kernels.thin import word
from kenyon.compiling import kernel

COMPILED_IN = "a5364d7ce139"
"""Digest of `_levels.py` and `thin.py`, which are compiled into this file's kernels."""

MERGING = np.uint32(64)
"""Added to a neuron's key for the chance that rounds a merged level; halvings add 1 to 32."""

MOST_WEIGHT = np.uint64(2**47)
"""Largest weight of the distance between two class means, in 2^-16 samples."""


@cache
def compile_merge(bits, signed):
    """The kernel `merge` for weights of so many bits."""
    get, put, place = packing(bits, signed)
    top = np.int64(2 ** (bits - signed) - 1)
    low = -top if signed else np.int64(0)
    kept_by = f"{bits} {signed}"

    @kernel()
    def merge(weights, own, beyond, other, theirs, others_beyond, n_units, k, j, n, e, seed):
        """Add the levels of neuron k of another layer to those of neuron j.

        Args:
            weights, other: packed levels of the two layers; the first are changed.
            own, theirs: the exponents of the two neurons.
            beyond, others_beyond: what a level that cannot rise any more stands for, in levels of exponent 0.
            n, e: count and exponent of the merged neuron.
            seed: of the rounding, uint32.
        """
        kept_by  # noqa: B018  part of the key of the compiled code
        again = mix(np.uint32(key_of(seed, n, j) + MERGING))
        for i in range(n_units):
            row, after, shift = place(weights, i)
            q, r = np.int64(get(weights, row, after, shift, j)), np.int64(get(other, row, after, shift, k))
            total = (beyond if q == top else q << own) + (others_beyond if r == top else r << theirs)
            part = np.int64(chance(again, i)) >> (np.int64(32) - e)
            put(weights, row, after, shift, j, min(max((total + part) >> e, low), top))

    return merge


@cache
def compile_narrow(bits):
    """The kernel `narrow` for weights of so many bits without a sign."""
    _, put, place = packing(bits, False)
    top = np.int64(2**bits - 1)
    kept_by = f"{bits}"

    @kernel(error_model="numpy")
    def narrow(sums, weights, n_units, j, n, each, seed):
        """The sums of neuron j as levels of `each`, rounded by chance as when it learns its n-th sample."""
        kept_by  # noqa: B018  part of the key of the compiled code
        again = mix(np.uint32(key_of(seed, n, j) + MERGING))
        for i in range(n_units):
            level = np.int64(min(np.float64(sums[i, j]) / each + np.float64(chance(again, i)) * 2.0**-32, 2.0**32))
            row, after, shift = place(weights, i)
            put(weights, row, after, shift, j, min(level, top))

    return narrow


@kernel()
def shared_weights(own, theirs, halvings, out):
    """`out[j]`: n m / (n + m) in 2^-16 samples, for the counts n and m of a class in two states, thinned alike."""
    for j in range(own.size):
        low, high = np.uint64(min(own[j], theirs[j])), np.uint64(max(own[j], theirs[j]))
        if low == 0:
            out[j] = 0
            continue
        weight = (low * ((high << np.uint64(16)) // (low + high))) >> np.uint64(halvings)
        out[j] = min(weight, MOST_WEIGHT)


@kernel()
def apart(weight, first, second):
    """weight times the product of two distances in 1/256, in 2^-16 of it; rounds down."""
    product = np.int64(first) * np.int64(second)
    return product * np.int64(weight >> np.uint64(16)) + (
        (product * np.int64(weight & np.uint64(0xFFFF))) >> np.int64(16)
    )


@kernel()
def merge_diagonal(pairs, others, places, distances, weights, shift, limit, out):
    """The diagonal of merged pairs into `out`; False where an entry would pass the limit. Arguments as below."""
    end = -1
    for i in range(out.size):
        end += i + 1
        total = ((np.int64(pairs[end]) << shift) >> places[0]) + ((np.int64(others[end]) << shift) >> places[1])
        for j in range(weights.size):
            total += apart(weights[j], distances[i, j], distances[i, j])
            if (total + (np.int64(1) << shift) - 1) >> shift > limit:
                return False
        out[i] = (total + (np.int64(1) << shift) - 1) >> shift
        if out[i] > limit:
            return False
    return True


@kernel()
def merge_pairs(pairs, others, places, distances, weights, shift, limit, key, out):
    """Two lower triangles of co-activity and the scatter between the class means, as one.

    Args:
        pairs, others: the two triangles; places: by how many bits each is divided.
        distances: (units, classes) int64, between the two means of a class, in 1/256.
        weights: (classes,) uint64, of `shared_weights`.
        shift: bits of the fraction, 16 and two for each doubling.
        limit: the largest entry; key: of the chance.
        out: the merged triangle.
    """
    at = 0
    some = (np.int64(1) << shift) - 1
    for i in range(distances.shape[0]):
        for k in range(i + 1):
            total = ((np.int64(pairs[at]) << shift) >> places[0]) + ((np.int64(others[at]) << shift) >> places[1])
            for j in range(weights.size):
                total += apart(weights[j], distances[i, j], distances[k, j])
            part = some if i == k else np.int64(word(key, at) >> np.uint64(1)) & some
            out[at] = min(max((total + part) >> shift, -limit), limit)
            at += 1


@kernel()
def merge_means(means, others, own, theirs, key, out):
    """Class means of both, in 1/256, rounded by chance; (units, classes) and the counts of the classes."""
    for j in range(own.size):
        n, m = np.uint64(own[j]), np.uint64(theirs[j])
        if n + m == 0:
            continue
        for i in range(means.shape[0]):
            total = n * np.uint64(means[i, j]) + m * np.uint64(others[i, j])
            part = ((word(key, i * own.size + j) >> np.uint64(48)) * (n + m)) >> np.uint64(16)
            out[i, j] = (total + part) // (n + m)
