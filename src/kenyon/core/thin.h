/* Co-activity in few bits: thinned, not rounded. A sample of class j, its activity a in bytes, adds z z' with
 *
 *     z[i] = (256 a[i] - m_j[i] + half) >> shift                           how far it is from the mean of its class, in steps
 *     m_j[i] += (256 a[i] - m_j[i] + chance n / 2^32) / n                  both rounded down; n counts the sample
 *
 * and is let in by chance, one in 2^halvings. kenyon/layers/_few_bits.py says when entries are halved and steps doubled.
 *
 * Pairs are a lower triangle of entries of 16 bits, of three bytes, or of 32 bits. Class means are in 1/256, those of a
 * class `step` numbers apart: 1 on a device, the number of classes where a row holds one of each.
 */

#ifndef KENYON_THIN_H
#define KENYON_THIN_H

#include "numbers.h"

#define MOST_HALVINGS 62
#define MOST_DOUBLINGS 8
#define LONG_CLASS ((uint64_t)1 << 30) /* samples of a class, from which on sums of 32 bits are too short */

/* An entry from its bits. */
HELPER int32_t pair_from(int bits, uint32_t word)
{
    const uint32_t sign = (uint32_t)1 << (bits - 1);
    return (int32_t)(word ^ sign) - (int32_t)sign;
}

INLINED int32_t get_pair(int bits, const void *pairs, size_t k)
{
    if (bits == 24) {
        const uint8_t *three = (const uint8_t *)pairs + 3 * k;
        return pair_from(24, three[0] | (uint32_t)three[1] << 8 | (uint32_t)three[2] << 16);
    }
    return bits == 16 ? ((const int16_t *)pairs)[k] : ((const int32_t *)pairs)[k];
}

INLINED void put_pair(int bits, void *pairs, size_t k, int32_t value)
{
    if (bits == 24) {
        uint8_t *three = (uint8_t *)pairs + 3 * k;
        three[0] = (uint8_t)value;
        three[1] = (uint8_t)((uint32_t)value >> 8);
        three[2] = (uint8_t)((uint32_t)value >> 16);
    } else if (bits == 16) {
        ((int16_t *)pairs)[k] = (int16_t)value;
    } else {
        ((int32_t *)pairs)[k] = value;
    }
}

/* Add the products of a unit's distance with those of all units up to it, to its row of the triangle, which begins at k. */
INLINED void add_distances(int bits, void *pairs, size_t k, const int16_t *restrict distances, size_t unit)
{
    const int32_t own = distances[unit];
    if (bits == 16) {
        int16_t *restrict row = (int16_t *)pairs + k;
        for (size_t j = 0; j <= unit; j++) {
            row[j] = (int16_t)(row[j] + own * distances[j]);
        }
    } else {
        for (size_t j = 0; j <= unit; j++) {
            put_pair(bits, pairs, k + j, get_pair(bits, pairs, k + j) + own * distances[j]);
        }
    }
}

/* How far activity in a byte is from a mean in 1/256, in steps of 2^shift / 256. */
HELPER int16_t distance_of(uint8_t value, uint16_t mean, int shift)
{
    const int32_t rounded = (int32_t)value * 256 - mean + ((int32_t)1 << (shift - 1)), beyond = -(rounded < 0);
    return (int16_t)(((rounded ^ beyond) >> shift) ^ beyond);
}

/* Divide every entry by 2^places, rounded up or down by chance; the diagonal up, so that no entry outgrows it. */
INLINED void divide_pairs(int bits, void *pairs, size_t n_units, int places, uint64_t key)
{
    const int32_t most = ((int32_t)1 << places) - 1;
    size_t k = 0;
    for (size_t i = 0; i < n_units; i++) {
        for (size_t j = 0; j <= i; j++, k++) {
            const int32_t more = i == j ? most : (int32_t)(word(key, (uint64_t)k) >> 32) & most;
            put_pair(bits, pairs, k, (int32_t)down(get_pair(bits, pairs, k) + more, places));
        }
    }
}

/* chance n / 2^32, rounded down. */
HELPER uint64_t share_of(uint64_t chance, uint64_t n)
{
    return chance * (n >> 32) + (chance * (n & 0xFFFFFFFFu) >> 32);
}

/* The mean of n values in 1/256 that is moved by the last of them: by (distance + part) / n, rounded down, with part below
 * n. In 32 bits and without a division, which vectors and small processors do not have: `over` is 2^32 / n rounded down,
 * and what is divided is made positive first. */
HELPER uint16_t moved_mean(int32_t mean, int32_t distance, uint32_t part, uint32_t n, uint32_t over, uint32_t enough)
{
    const uint32_t sum = (uint32_t)(distance + (int32_t)(enough * n)) + part;
    const uint32_t about = (uint32_t)((uint64_t)sum * over >> 32);
    const uint32_t steps = about + (sum - about * n >= n);
    return (uint16_t)(mean + (int32_t)steps - (int32_t)enough);
}

/* Move the mean of a class, whose n-th sample this is. */
INLINED void move_class_mean(uint16_t *means, size_t step, const uint8_t *activity, size_t n_units, uint64_t n,
                             uint64_t key)
{
    if (n == 1 || n >= LONG_CLASS) {
        for (size_t i = 0; i < n_units; i++) {
            uint16_t *mean = means + i * step;
            const int64_t part = (int64_t)share_of(word(key, (uint64_t)i + 1) >> 32, n);
            *mean = (uint16_t)(*mean + divide((int64_t)activity[i] * 256 - *mean + part, (int64_t)n));
        }
        return;
    }
    const uint32_t count = (uint32_t)n, over = (uint32_t)(((uint64_t)1 << 32) / n), enough = 65535 / count + 1;
    for (size_t i = 0; i < n_units; i++) {
        uint16_t *mean = means + i * step;
        const uint32_t part = (uint32_t)((word(key, (uint64_t)i + 1) >> 32) * count >> 32);
        *mean = moved_mean(*mean, (int32_t)activity[i] * 256 - *mean, part, count, over, enough);
    }
}

#endif
