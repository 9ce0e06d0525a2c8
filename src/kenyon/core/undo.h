/* A journal of rows: what a call changes is kept when it is first touched, so that the call can be undone.
 *
 * Rows are (units, row_bytes), `kept` the numbers of those that are kept, `count` how many they are; it moves on only when
 * a row is complete.
 */

#ifndef KENYON_UNDO_H
#define KENYON_UNDO_H

#include "plastic.h"

/* Keep the rows of units active in samples first .. last - 1 that are not marked yet, and mark them. */
HELPER void keep_rows(const uint8_t *weights, int64_t row_bytes, kn_active active, int64_t first, int64_t last,
                      uint8_t *marks, uint32_t *kept, uint8_t *rows, int64_t *count)
{
    for (int64_t s = first; s < last; s++) {
        for (int64_t a = 0; a < active.counts[s]; a++) {
            const uint32_t unit = active.units[s * active.stride + a];
            if (!marks[unit]) {
                memcpy(rows + *count * row_bytes, weights + unit * row_bytes, (size_t)row_bytes);
                kept[*count] = unit;
                marks[unit] = 1;
                ++*count;
            }
        }
    }
}

/* The same for one sample alone, whose units are all different, so that none needs a mark. */
HELPER void keep_rows_of_one(const uint8_t *weights, int64_t row_bytes, kn_active active, int64_t sample, uint32_t *kept,
                             uint8_t *rows, int64_t *count)
{
    for (int64_t a = 0; a < active.counts[sample]; a++) {
        const uint32_t unit = active.units[sample * active.stride + a];
        memcpy(rows + a * row_bytes, weights + unit * row_bytes, (size_t)row_bytes);
        kept[a] = unit;
    }
    *count = active.counts[sample];
}

HELPER void restore_rows(uint8_t *weights, int64_t row_bytes, const uint32_t *kept, const uint8_t *rows, int64_t count)
{
    for (int64_t n = 0; n < count; n++) {
        memcpy(weights + kept[n] * row_bytes, rows + n * row_bytes, (size_t)row_bytes);
    }
}

/* Begin a new journal. */
HELPER void forget_rows(uint8_t *marks, const uint32_t *kept, int64_t *count)
{
    for (int64_t n = 0; n < *count; n++) {
        marks[kept[n]] = 0;
    }
    *count = 0;
}

#endif
