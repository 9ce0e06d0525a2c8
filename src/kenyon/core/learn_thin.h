/* Samples into co-activity of few bits, in order: thin.h says how one of them is. */

#ifndef KENYON_LEARN_THIN_H
#define KENYON_LEARN_THIN_H

#include "activity.h"
#include "dense_rows.h"
#include "thin.h"

#define FEW_ROWS 4 /* up to so many rows are quicker one by one */

typedef struct {
    int bits;                     /* of an entry: 16 or 24 */
    void *pairs;
    uint16_t *means;              /* (n_units, width) */
    void *trained;                 /* (width), uint32 or uint64 */
    int wide;                     /* which of them */
    uint8_t *halvings, *doublings;
    int64_t n_units, width;
    uint64_t enough;              /* samples that are enough, so that entries are halved, and steps not doubled */
    int32_t limit;                /* the largest entry of the diagonal */
    /* scratch, of n_units each but for the last two */
    uint8_t *activity;
    uint16_t *column;
    int32_t *diagonal, *row;
    int16_t *distances;           /* (most rows, n_units) */
    int32_t *tiles, *triangle;    /* as many as rows of integers take in tiles; for 24 bits, as many as there are pairs */
} kn_thin;

HELPER uint64_t thin_count(const kn_thin *t, int64_t j)
{
    return t->wide ? ((const uint64_t *)t->trained)[j] : ((const uint32_t *)t->trained)[j];
}

HELPER void thin_set_count(const kn_thin *t, int64_t j, uint64_t n)
{
    if (t->wide) {
        ((uint64_t *)t->trained)[j] = n;
    } else {
        ((uint32_t *)t->trained)[j] = (uint32_t)n;
    }
}

HELPER void thin_read_diagonal(const kn_thin *t)
{
    for (int64_t i = 0; i < t->n_units; i++) {
        t->diagonal[i] = get_pair(t->bits, t->pairs, i * (i + 3) / 2);
    }
}

/* Signed entries of three bytes, the lowest first, as integers of 32 bits, and the reverse. */
HELPER void unpack_pairs(const uint8_t *packed, int64_t n, int32_t *out)
{
    int64_t k = 0;
    for (; k + 4 <= n; k += 4, packed += 12) { /* four of them are three words */
        uint32_t a, b, c;
        memcpy(&a, packed, 4);
        memcpy(&b, packed + 4, 4);
        memcpy(&c, packed + 8, 4);
        out[k] = (int32_t)(a << 8) >> 8;
        out[k + 1] = (int32_t)((a >> 24 << 8) | b << 16) >> 8;
        out[k + 2] = (int32_t)((b >> 16 << 8) | c << 24) >> 8;
        out[k + 3] = (int32_t)c >> 8;
    }
    for (int64_t rest = 0; k < n; k++, rest++) {
        out[k] = get_pair(24, packed, rest);
    }
}

HELPER void pack_pairs(const int32_t *entries, int64_t n, uint8_t *packed)
{
    for (int64_t k = 0; k < n; k++) {
        put_pair(24, packed, k, entries[k]);
    }
}

/* Add the products of the rows of distances that wait. */
HELPER void thin_add_rows(const kn_thin *t, int64_t n_rows)
{
    const int64_t n = t->n_units, n_pairs = n * (n + 1) / 2;
    if (n_rows > FEW_ROWS) {
        const int64_t n_words = lay_integers(t->distances, n_rows, n, t->tiles);
        if (t->bits == 16) {
            add_block_u16(t->pairs, t->tiles, n_words, n);
        } else {
            unpack_pairs(t->pairs, n_pairs, t->triangle);
            add_block_u32((uint32_t *)t->triangle, t->tiles, n_words, n);
            pack_pairs(t->triangle, n_pairs, t->pairs);
        }
    } else if (t->bits == 16) {
        for (int64_t r = 0; r < n_rows; r++) {
            for (int64_t i = 0; i < n; i++) {
                add_distances(16, t->pairs, i * (i + 1) / 2, t->distances + r * n, i);
            }
        }
    } else {
        uint8_t *packed = t->pairs;
        for (int64_t i = 0; n_rows && i < n; i++, packed += 3 * i) {
            unpack_pairs(packed, i + 1, t->row);
            for (int64_t r = 0; r < n_rows; r++) {
                const int16_t *row = t->distances + r * n;
                const int32_t value = row[i];
                for (int64_t j = 0; value && j <= i; j++) {
                    t->row[j] += value * row[j];
                }
            }
            pack_pairs(t->row, i + 1, packed);
        }
    }
}

/* The distances of a sample into a row, if the diagonal has room for them. */
HELPER int thin_let_in(const kn_thin *t, int16_t *restrict row)
{
    const int shift = 8 + *t->doublings;
    int32_t most = 0;
    for (int64_t i = 0; i < t->n_units; i++) {
        row[i] = distance_of(t->activity[i], t->column[i], shift);
    }
    for (int64_t i = 0; i < t->n_units; i++) {
        const int32_t after = t->diagonal[i] + row[i] * row[i];
        most = after > most ? after : most;
    }
    for (int64_t i = 0; most <= t->limit && i < t->n_units; i++) {
        t->diagonal[i] += row[i] * row[i];
    }
    return most <= t->limit;
}

/* Learn the chosen samples, n of them, or the first where none are chosen. Gives the pairs that were visited. */
HELPER int64_t learn_thin(const kn_thin *t, kn_active active, const int64_t *chosen, int64_t n, const int64_t *labels)
{
    const int64_t n_pairs = t->n_units * (t->n_units + 1) / 2;
    uint64_t time = 0;
    int64_t n_rows = 0, visited = 0;
    for (int64_t j = 0; j < t->width; j++) {
        time += thin_count(t, j);
    }
    thin_read_diagonal(t);
    for (int64_t number = 0; number < n; number++, time++) {
        const int64_t s = chosen ? chosen[number] : number, j = labels[s];
        const uint64_t key = word(time, 0), count = thin_count(t, j) + 1;
        memset(t->activity, 0, (size_t)t->n_units);
        for (int64_t a = 0; a < active.counts[s]; a++) {
            t->activity[active.units[s * active.stride + a]] = active.bytes[s * active.stride + a];
        }
        for (int64_t i = 0; i < t->n_units; i++) {
            t->column[i] = t->means[i * t->width + j];
        }
        while (count > 1 && (key >> 16 & (((uint64_t)1 << *t->halvings) - 1)) == 0) {
            if (thin_let_in(t, t->distances + n_rows * t->n_units)) {
                n_rows++;
                visited += n_pairs;
                break;
            }
            const int enough = time >> *t->halvings >= t->enough;
            uint8_t *scale = enough ? t->halvings : t->doublings;
            *scale = (uint8_t)(*scale < (enough ? MOST_HALVINGS : MOST_DOUBLINGS) ? *scale + 1 : *scale);
            thin_add_rows(t, n_rows);
            n_rows = 0;
            divide_pairs(t->bits, t->pairs, t->n_units, enough ? 1 : 2, 256 * (uint64_t)*t->doublings + *t->halvings);
            visited += n_pairs;
            thin_read_diagonal(t);
        }
        thin_set_count(t, j, count);
        move_class_mean(t->column, 1, t->activity, t->n_units, count, key);
        for (int64_t i = 0; i < t->n_units; i++) {
            t->means[i * t->width + j] = t->column[i];
        }
    }
    thin_add_rows(t, n_rows);
    return visited;
}

#endif
