/* Two states of few bits as one, in integers; kenyon/layers/_few_bit_merge.py and _few_bits.py define every bit. */

#ifndef KENYON_MERGING_H
#define KENYON_MERGING_H

#include "levels.h"
#include "thin.h"

#define MERGING 64u /* added to a neuron's key for the chance that rounds a merged level; halvings add 1 to 32 */
#define MOST_WEIGHT ((uint64_t)1 << 47)

/* Levels of one neuron: where they lie, their exponent, and what the top level stands for in levels of exponent 0. */
typedef struct {
    const uint8_t *column;
    int exponent;
    int64_t beyond;
} kn_column;

/* Add the levels of another neuron to those of a column, whose n-th sample is then its last; e is the new exponent. */
INLINED void merge_levels(kn_packing p, uint8_t *column, size_t step, kn_column own, kn_column other,
                          size_t other_step, size_t n_units, uint32_t key, int e)
{
    const uint32_t again = mix(key + MERGING);
    const int32_t top = top_level(p), low = lowest_level(p);
    for (size_t i = 0; i < n_units; i++) {
        const int32_t q = get_level(p, own.column, step, (uint32_t)i);
        const int32_t r = get_level(p, other.column, other_step, (uint32_t)i);
        const int64_t total = (q == top ? own.beyond : up(q, own.exponent)) +
                              (r == top ? other.beyond : up(r, other.exponent));
        const int64_t part = (int64_t)((uint64_t)chance(again, (uint32_t)i) >> (32 - e));
        put_level(p, column, step, (uint32_t)i, (int32_t)clip64(down(total + part, e), low, top));
    }
}

/* n m / (n + m) in 2^-16 samples, for the counts n and m of a class in two states that were thinned alike. */
HELPER uint64_t shared_weight(uint64_t n, uint64_t m, int halvings)
{
    const uint64_t low = n < m ? n : m, high = n < m ? m : n;
    const uint64_t weight = low ? low * ((high << 16) / (low + high)) >> halvings : 0;
    return weight < MOST_WEIGHT ? weight : MOST_WEIGHT;
}

/* A weight times the product of two distances in 1/256, in 2^-16 of it, rounded down. */
HELPER int64_t scatter_of(uint64_t weight, int64_t first, int64_t second)
{
    const int64_t product = first * second;
    return (int64_t)((uint64_t)product * (weight >> 16)) + down(product * (int64_t)(weight & 0xFFFF), 16);
}

#endif
