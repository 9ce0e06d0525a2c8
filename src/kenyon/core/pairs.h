/* Co-activity of units: sums of products over pairs, one entry for each pair.
 *
 *     T[i, j] += x[i] x[j]        for units i >= j, in the entry i (i + 1) / 2 + j: a lower triangle, row after row
 *
 * Integers are added exactly, so it does not matter in what order. Floats are added sample by sample into every entry, in
 * the order of the samples, whichever function does it.
 */

#ifndef KENYON_PAIRS_H
#define KENYON_PAIRS_H

#include "activity.h"
#include "numbers.h"


#define ROW_OF(i) ((int64_t)(i) * ((int64_t)(i) + 1) / 2)

/* Add the products of every pair of active units, for each chosen sample in order; and to the sums of its class. */
#define ADD_PRODUCTS(name, ENTRY, VALUE)                                                                               \
    HELPER void name(ENTRY *pairs, const uint32_t *units, const VALUE *values, int64_t count)                          \
    {                                                                                                                  \
        for (int64_t a = 0; a < count; a++) {                                                                          \
            ENTRY *row = pairs + ROW_OF(units[a]);                                                                     \
            const ENTRY value = values[a];                                                                             \
            if (units[a] == a) { /* every unit up to this one is active: their entries lie side by side */             \
                for (int64_t b = 0; b <= a; b++) {                                                                     \
                    row[b] += value * values[b];                                                                       \
                }                                                                                                      \
            } else {                                                                                                   \
                for (int64_t b = 0; b <= a; b++) {                                                                     \
                    row[units[b]] += value * values[b];                                                                \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }
ADD_PRODUCTS(add_products_u32, uint32_t, uint8_t)
ADD_PRODUCTS(add_products_u64, uint64_t, uint8_t)
ADD_PRODUCTS(add_products_f32, float, float)

/* The same of one sample that is there as a dense row, too: quicker where more than a third of the units are active. */
HELPER void add_products_of_row(float *pairs, const uint32_t *units, const float *values, int64_t count, const float *row)
{
    for (int64_t a = 0; a < count; a++) {
        float *entries = pairs + ROW_OF(units[a]);
        for (int64_t b = 0; b <= (int64_t)units[a]; b++) {
            entries[b] += values[a] * row[b];
        }
    }
}

#define ADD_CLASS(name, ENTRY, VALUE)                                                                                  \
    HELPER void name(ENTRY *sums, int64_t width, int64_t j, const uint32_t *units, const VALUE *values, int64_t count) \
    {                                                                                                                  \
        for (int64_t a = 0; a < count; a++) {                                                                          \
            sums[units[a] * width + j] += values[a];                                                                   \
        }                                                                                                              \
    }
ADD_CLASS(add_class_u32, uint32_t, uint8_t)
ADD_CLASS(add_class_u64, uint64_t, uint8_t)
ADD_CLASS(add_class_f32, float, float)

/* A sample as a dense row. */
#define SPREAD(name, ENTRY, VALUE)                                                                                     \
    HELPER void name(const uint32_t *units, const VALUE *values, int64_t count, int64_t n_units, ENTRY *out)           \
    {                                                                                                                  \
        memset(out, 0, sizeof *out * (size_t)n_units);                                                                 \
        for (int64_t a = 0; a < count; a++) {                                                                          \
            out[units[a]] = values[a];                                                                                 \
        }                                                                                                              \
    }
SPREAD(spread_bytes, int16_t, uint8_t)
SPREAD(spread_floats, float, float)

/* Add, or with a sign of -1 subtract, the products of one dense row of integers. */
#define ADD_ROW(name, ENTRY)                                                                                           \
    HELPER void name(ENTRY *restrict pairs, const int16_t *restrict row, int64_t n_units, int32_t sign)                \
    {                                                                                                                  \
        for (int64_t i = 0; i < n_units; i++) {                                                                        \
            ENTRY *restrict entries = pairs + ROW_OF(i);                                                               \
            const int32_t value = sign * row[i];                                                                       \
            for (int64_t j = 0; value && j <= i; j++) {                                                                \
                entries[j] += (ENTRY)(value * row[j]);                                                                 \
            }                                                                                                          \
        }                                                                                                              \
    }
ADD_ROW(add_row_u64, uint64_t)

/* The largest activity, whatever its sign. */
HELPER float largest_of_floats(const float *values, int64_t count)
{
    float most = 0;
    for (int64_t a = 0; a < count; a++) {
        const float value = fabsf(values[a]);
        most = value > most ? value : most;
    }
    return most;
}

/* Copy the entries that a sample touches, one behind the other, or put them back. Gives how many they are. */
#define KEEP(name, ENTRY, FROM, TO)                                                                                    \
    HELPER int64_t name(ENTRY *pairs, const uint32_t *units, int64_t count, ENTRY *kept)                               \
    {                                                                                                                  \
        int64_t at = 0;                                                                                                \
        for (int64_t a = 0; a < count; a++) {                                                                          \
            ENTRY *row = pairs + ROW_OF(units[a]);                                                                     \
            for (int64_t b = 0; b <= a; b++, at++) {                                                                   \
                TO = FROM;                                                                                             \
            }                                                                                                          \
        }                                                                                                              \
        return at;                                                                                                     \
    }
KEEP(keep_products_32, uint32_t, row[units[b]], kept[at])
KEEP(keep_products_64, uint64_t, row[units[b]], kept[at])
KEEP(restore_products_32, uint32_t, kept[at], row[units[b]])
KEEP(restore_products_64, uint64_t, kept[at], row[units[b]])

#endif
