"""Levels of few bits: where they lie, how they are halved, and the chance that rounds them.

`kenyon.layers.FewBitLayer` defines all of it to the bit.
"""

import numpy as np
from llvmlite import ir
from numba import carray
from numba.core import cgutils, types
from numba.extending import intrinsic, register_jitable

GOLDEN = np.uint32(0x9E3779B9)


@register_jitable
def mix(x):
    """Scramble 32 bits: the last step of MurmurHash3 (Appleby, 2011)."""
    x ^= x >> np.uint32(16)
    x = np.uint32(x * np.uint32(0x85EBCA6B))
    x ^= x >> np.uint32(13)
    x = np.uint32(x * np.uint32(0xC2B2AE35))
    return np.uint32(x ^ (x >> np.uint32(16)))


@register_jitable
def chance(key, number):
    """32 random bits: those of a number in the series of a key."""
    return mix(np.uint32(key + np.uint32(GOLDEN * np.uint32(number + 1))))


@register_jitable
def key_of(seed, n, j):
    """The key of neuron j for its n-th sample."""
    return chance(mix(np.uint32(seed + np.uint32(GOLDEN * np.uint32(n)))), j)


@register_jitable
def reciprocal_of(values, sample, count):
    """R: 2^32 over the length of a sample in sixteenths."""
    square = np.int64(0)
    for a in range(count):
        square += np.int64(values[sample, a]) * np.int64(values[sample, a])
    root = np.int64(np.sqrt(np.float64(square << np.int64(8))))  # exact below 2^52, and compiled in no time
    return (np.int64(1) << np.int64(32)) // root if root else np.int64(0)


def packing(bits, signed):
    """(level of unit i and neuron j given where the unit's bits lie; put a level there; where they lie)."""
    mask = np.int32(2**bits - 1)
    sign = np.int32(2 ** (bits - 1) if signed else 0)
    straddles = bits == 3

    @register_jitable
    def place(weights, i):
        """(row, the row after it, shift) of a unit's bits."""
        bit = np.uint64(i) * np.uint64(bits)
        row = bit >> np.uint64(3)
        after = min(row + np.uint64(1), np.uint64(weights.shape[0] - 1)) if straddles else row
        return row, after, np.int32(bit & np.uint64(7))

    @register_jitable
    def get(weights, row, after, shift, j):
        byte = np.int32(weights[row, j])
        if straddles:
            byte |= np.int32(weights[after, j]) << np.int32(8)
        return np.int32(((byte >> shift & mask) ^ sign) - sign)

    @register_jitable
    def put(weights, row, after, shift, j, q):
        field, level = np.int32(mask << shift), np.int32((np.int32(q) & mask) << shift)
        weights[row, j] = (np.int32(weights[row, j]) & ~field) | level
        if straddles and shift > 8 - bits:
            weights[after, j] = (np.int32(weights[after, j]) & ~(field >> 8)) | (level >> 8)

    return get, put, place


def halving(bits, signed, limit):
    """Halve the column of a neuron until the rule's limit fits into the levels; returns its exponent."""
    get, put, place = packing(bits, signed)
    top = np.int64(2 ** (bits - signed) - 1)

    @register_jitable
    def halve(weights, n_units, j, n, e, key):
        while limit(n, top) > top << e:
            again = mix(np.uint32(key + np.uint32(e + 1)))
            for i in range(n_units):
                row, after, shift = place(weights, i)
                q = get(weights, row, after, shift, j)
                put(weights, row, after, shift, j, (q + np.int32(chance(again, i) >> np.uint32(31))) >> 1)
            e += 1
        return e

    return halve


@intrinsic
def _stack_ints(typing):
    def codegen(context, builder, sig, args):
        room = cgutils.alloca_once(builder, ir.ArrayType(ir.IntType(32), 8))
        return builder.bitcast(room, ir.IntType(32).as_pointer())

    return types.CPointer(types.int32)(), codegen


@register_jitable(inline="always")
def eight_ints():
    """An int32 array of eight that the compiler may keep in a register."""
    return carray(_stack_ints(), (8,))
