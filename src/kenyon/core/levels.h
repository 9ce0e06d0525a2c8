/* Levels of few bits: where they lie, and the chance that rounds them. kenyon.layers.FewBitLayer defines every bit.
 *
 * The level of unit i has `bits` bits from bit `bits * i` of a column on; bit b is bit b mod 8 of the column's byte b / 8.
 * Bytes of a column are `step` apart: 1 on a device, the number of neurons where a row holds a byte of each.
 */
#ifndef KENYON_LEVELS_H
#define KENYON_LEVELS_H

#include "numbers.h"

#define GOLDEN 0x9E3779B9u
#define MOST_COUNT ((int64_t)INT32_MAX) /* samples that a neuron can count */
#define LARGEST_STEP ((int64_t)1 << 34)

typedef struct {
    int bits, sign; /* of a level: their number, and whether one of them is a sign */
} kn_packing;

/* One neuron: the first byte of its column and the way to the next, its count and its exponent (or NULL). */
typedef struct {
    uint8_t *column;
    size_t step;
    uint32_t *trained;
    uint8_t *exponent;
    uint32_t number, n_units, seed; /* its number in the layer, units of the layer, and what chance is drawn from */
} kn_neuron;

HELPER int32_t top_level(kn_packing p)
{
    return ((int32_t)1 << (p.bits - p.sign)) - 1;
}

HELPER int32_t lowest_level(kn_packing p)
{
    return p.sign ? -top_level(p) : 0;
}

INLINED int32_t get_level(kn_packing p, const uint8_t *column, size_t step, uint32_t unit)
{
    const uint32_t bit = unit * (uint32_t)p.bits, shift = bit % 8, mask = (1u << p.bits) - 1;
    uint32_t level = column[(size_t)(bit / 8) * step];
    if (8 % p.bits && shift + (uint32_t)p.bits > 8) {
        level |= (uint32_t)column[(size_t)(bit / 8 + 1) * step] << 8;
    }
    const uint32_t sign = p.sign ? 1u << (p.bits - 1) : 0;
    return (int32_t)((level >> shift & mask) ^ sign) - (int32_t)sign;
}

INLINED void put_level(kn_packing p, uint8_t *column, size_t step, uint32_t unit, int32_t level)
{
    const uint32_t bit = unit * (uint32_t)p.bits, shift = bit % 8, mask = (1u << p.bits) - 1;
    const uint32_t field = mask << shift, bits = ((uint32_t)level & mask) << shift;
    uint8_t *at = column + (size_t)(bit / 8) * step;
    *at = (uint8_t)((*at & ~field) | bits);
    if (8 % p.bits && shift + (uint32_t)p.bits > 8) {
        at += step;
        *at = (uint8_t)((*at & ~(field >> 8)) | bits >> 8);
    }
}

/* The last step of MurmurHash3 (Appleby, 2011). */
HELPER uint32_t mix(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x85EBCA6Bu;
    x ^= x >> 13;
    x *= 0xC2B2AE35u;
    return x ^ x >> 16;
}

/* 32 random bits: those of a number in the series of a key. */
HELPER uint32_t chance(uint32_t key, uint32_t number)
{
    return mix(key + GOLDEN * (number + 1));
}

/* The key of neuron j for its n-th sample. */
HELPER uint32_t key_of(uint32_t seed, int64_t n, uint32_t j)
{
    return chance(mix(seed + GOLDEN * (uint32_t)n), j);
}

/* R: 2^32 over the length of a sample in sixteenths, from the sum of its squares; 0 where no unit is active. */
HELPER int64_t reciprocal_from(uint64_t squares)
{
    const uint64_t length = root_of(squares << 8);
    return length ? (int64_t)(((uint64_t)1 << 32) / length) : 0;
}

CALLED int64_t reciprocal_of(const uint8_t *values, size_t count)
{
    uint64_t squares = 0;
    for (size_t a = 0; a < count; a++) {
        squares += (uint32_t)values[a] * values[a];
    }
    return reciprocal_from(squares);
}

#endif
