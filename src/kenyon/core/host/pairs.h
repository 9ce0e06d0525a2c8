/* Entries of co-activity. `pairs` is a lower triangle, `chosen` the samples of a block that are learned.
 *
 *     add_products(pairs, units, values, counts, chosen)             sparse samples, one after the other
 *     add_dense(pairs, rows, tiles)                                  dense rows; tiles: scratch of tiles_for(rows, units)
 *     add_row(pairs, row, added), subtract_row(pairs, row, n_before, added)
 *     add_classes(sums, trained, units, values, counts, chosen, labels)
 *     add_squares(diagonal, units, values, counts, chosen), largest(units, values, counts, chosen, out)
 *     spread(units, values, counts, chosen, rows)
 *     learn_exact(pairs, sums, trained, units, values, counts, labels, share, row, clock)     one sample, or 0 and nothing
 *     learn_floats(pairs, sums, trained, units, values, counts, labels, most, clock)
 *     learn_thin(bits, pairs, means, trained, halvings, doublings, units, values, counts, chosen, labels, enough, limit,
 *                activity, column, diagonal, distances, tiles, triangle, clock)    gives the pairs visited
 *     keep_products(pairs, units, counts, kept, at), restore_products(..)
 */
#include <math.h>

#include "../learn_thin.h"
#include "../units.h"
#include "active.h"

static int64_t entry_add_products(const kn_value *v)
{
    const kn_active active = active_of(v + 1);
    const int64_t *chosen = v[4].data;
    for (int64_t n = 0; n < v[4].shape[0]; n++) {
        const int64_t at = chosen[n] * active.stride, count = active.counts[chosen[n]];
        if (v[0].type == 'f') {
            add_products_f32(v[0].data, active.units + at, active.floats + at, count);
        } else if (v[0].type == 'I') {
            add_products_u32(v[0].data, active.units + at, active.bytes + at, count);
        } else {
            add_products_u64(v[0].data, active.units + at, active.bytes + at, count);
        }
    }
    return 0;
}

/* Words of 32 bits that rows take in tiles. */
static int64_t entry_tiles_for(const kn_value *v)
{
    return (v[0].integer + 1) * n_tiles(v[1].integer) * TILE;
}

static int64_t entry_add_dense(const kn_value *v)
{
    const int64_t n_rows = v[1].shape[0], n_units = v[1].shape[1];
    if (v[1].type == 'f') {
        lay_floats(v[1].data, n_rows, n_units, v[2].data);
        add_block_f32(v[0].data, v[2].data, n_rows, n_units);
        return 0;
    }
    const int64_t n_words = lay_integers(v[1].data, n_rows, n_units, v[2].data);
    if (v[0].type == 'Q') {
        add_block_u64(v[0].data, v[2].data, n_words, n_units);
    } else {
        add_block_u32(v[0].data, v[2].data, n_words, n_units);
    }
    return 0;
}

static void add_row_signed(const kn_value *v, int32_t sign)
{
    if (v[0].type == 'Q') {
        add_row_u64(v[0].data, v[1].data, v[1].shape[0], sign);
    } else {
        add_row_u32(v[0].data, v[1].data, v[1].shape[0], sign);
    }
}

static int64_t entry_add_row(const kn_value *v)
{
    add_row_signed(v, 1);
    ++*(int64_t *)v[2].data;
    return 0;
}

/* The reverse, unless `added` says that it was not called, or was reversed already. */
static int64_t entry_subtract_row(const kn_value *v)
{
    int64_t *added = v[3].data;
    if (*added == v[2].integer + 1) {
        add_row_signed(v, -1);
        *added = v[2].integer;
    }
    return 0;
}

static void count_class(const kn_value *trained, int64_t j)
{
    if (trained->type == 'Q') {
        ((uint64_t *)trained->data)[j]++;
    } else {
        ((uint32_t *)trained->data)[j]++;
    }
}

static uint64_t count_of_class(const kn_value *trained, int64_t j)
{
    return trained->type == 'Q' ? ((const uint64_t *)trained->data)[j] : ((const uint32_t *)trained->data)[j];
}

static int64_t entry_add_classes(const kn_value *v)
{
    const kn_active active = active_of(v + 2);
    const int64_t *chosen = v[5].data, *labels = v[6].data, width = v[0].shape[1];
    for (int64_t n = 0; n < v[5].shape[0]; n++) {
        const int64_t s = chosen[n], at = s * active.stride;
        if (v[0].type == 'f') {
            add_class_f32(v[0].data, width, labels[s], active.units + at, active.floats + at, active.counts[s]);
        } else if (v[0].type == 'I') {
            add_class_u32(v[0].data, width, labels[s], active.units + at, active.bytes + at, active.counts[s]);
        } else {
            add_class_u64(v[0].data, width, labels[s], active.units + at, active.bytes + at, active.counts[s]);
        }
        count_class(v + 1, labels[s]);
    }
    return 0;
}

static int64_t entry_add_squares(const kn_value *v)
{
    const kn_active active = active_of(v + 1);
    const int64_t *chosen = v[4].data;
    uint64_t *diagonal = v[0].data;
    for (int64_t n = 0; n < v[4].shape[0]; n++) {
        const int64_t at = chosen[n] * active.stride;
        for (int64_t a = 0; a < active.counts[chosen[n]]; a++) {
            diagonal[active.units[at + a]] += (uint64_t)active.bytes[at + a] * active.bytes[at + a];
        }
    }
    return 0;
}

static int64_t entry_largest(const kn_value *v)
{
    const kn_active active = active_of(v);
    const int64_t *chosen = v[3].data;
    float most = 0;
    for (int64_t n = 0; n < v[3].shape[0]; n++) {
        const float own = largest_of_floats(active.floats + chosen[n] * active.stride, active.counts[chosen[n]]);
        most = own > most ? own : most;
    }
    *(float *)v[4].data = most;
    return 0;
}

static int64_t entry_spread(const kn_value *v)
{
    const kn_active active = active_of(v);
    const int64_t *chosen = v[3].data, n_units = v[4].shape[1];
    for (int64_t n = 0; n < v[3].shape[0]; n++) {
        const int64_t at = chosen[n] * active.stride, count = active.counts[chosen[n]];
        if (v[4].type == 'f') {
            spread_floats(active.units + at, active.floats + at, count, n_units, (float *)v[4].data + n * n_units);
        } else {
            spread_bytes(active.units + at, active.bytes + at, count, n_units, (int16_t *)v[4].data + n * n_units);
        }
    }
    return 0;
}

static uint64_t largest_count(const kn_value *trained)
{
    uint64_t most = 0;
    for (int64_t j = 0; j < trained->shape[0]; j++) {
        const uint64_t n = count_of_class(trained, j);
        most = n > most ? n : most;
    }
    return most;
}

#define NARROW ((uint64_t)UINT32_MAX)
#define PEAK 255

static int64_t entry_learn_exact(const kn_value *v)
{
    const kn_active active = active_of(v + 3);
    const int64_t n = active.counts[0], visits = n * (n + 1) / 2, j = *(const int64_t *)v[6].data;
    uint32_t *pairs = v[0].data;
    int64_t *clock = v[9].data;
    if ((largest_count(v + 2) + 1) * PEAK > NARROW) {
        return 0;
    }
    for (int64_t a = 0; a < n; a++) { /* no entry is larger than the larger one of its two on the diagonal */
        const int64_t unit = active.units[a];
        if (pairs[unit * (unit + 3) / 2] + (uint64_t)active.bytes[a] * active.bytes[a] > NARROW) {
            return 0;
        }
    }
    if (v[7].integer * visits > v[0].shape[0]) {
        spread_bytes(active.units, active.bytes, n, v[8].shape[1], v[8].data);
        add_row_u32(pairs, v[8].data, v[8].shape[1], 1);
    } else {
        add_products_u32(pairs, active.units, active.bytes, n);
    }
    add_class_u32(v[1].data, v[1].shape[1], j, active.units, active.bytes, n);
    count_class(v + 2, j);
    clock[0]++;
    clock[1] += visits;
    return 1;
}

static int64_t entry_learn_floats(const kn_value *v)
{
    const kn_active active = active_of(v + 3);
    const int64_t n = active.counts[0], j = *(const int64_t *)v[6].data;
    int64_t *clock = v[8].data;
    if (largest_count(v + 2) + 1 > NARROW || largest_of_floats(active.floats, n) > (float)v[7].number) {
        return 0;
    }
    add_products_f32(v[0].data, active.units, active.floats, n);
    add_class_f32(v[1].data, v[1].shape[1], j, active.units, active.floats, n);
    count_class(v + 2, j);
    clock[0]++;
    clock[1] += n * (n + 1) / 2;
    return 1;
}

static int64_t entry_learn_thin(const kn_value *v)
{
    const kn_thin t = {
        .bits = (int)v[0].integer,
        .pairs = v[1].data,
        .means = v[2].data,
        .n_units = v[2].shape[0],
        .width = v[2].shape[1],
        .trained = v[3].data,
        .wide = v[3].type == 'Q',
        .halvings = v[4].data,
        .doublings = v[5].data,
        .enough = (uint64_t)v[11].integer,
        .limit = (int32_t)v[12].integer,
        .activity = v[13].data,
        .column = v[14].data,
        .diagonal = v[15].data,
        .row = (int32_t *)v[15].data + v[2].shape[0],
        .distances = v[16].data,
        .tiles = v[17].data,
        .triangle = v[18].data,
    };
    int64_t *clock = v[19].data;
    const int64_t n = v[9].data ? v[9].shape[0] : 1;
    const int64_t visited = learn_thin(&t, active_of(v + 6), v[9].data, n, v[10].data);
    if (clock) {
        clock[0] += n;
        clock[1] += visited;
    }
    return visited;
}

static int64_t entry_unpack_pairs(const kn_value *v)
{
    unpack_pairs(v[0].data, v[1].shape[0], v[1].data);
    return 0;
}

static int64_t entry_pack_pairs(const kn_value *v)
{
    pack_pairs(v[0].data, v[0].shape[0], v[1].data);
    return 0;
}

static int64_t entry_keep_products(const kn_value *v)
{
    const int64_t *counts = v[2].data;
    int64_t at = v[4].integer;
    for (int64_t s = 0; s < v[2].shape[0]; s++) {
        const uint32_t *units = (const uint32_t *)v[1].data + s * v[1].shape[1];
        at += v[0].itemsize == 4 ? keep_products_32(v[0].data, units, counts[s], (uint32_t *)v[3].data + at)
                                 : keep_products_64(v[0].data, units, counts[s], (uint64_t *)v[3].data + at);
    }
    return 0;
}

static int64_t entry_restore_products(const kn_value *v)
{
    const int64_t *counts = v[2].data;
    int64_t at = v[4].integer;
    for (int64_t s = 0; s < v[2].shape[0]; s++) {
        const uint32_t *units = (const uint32_t *)v[1].data + s * v[1].shape[1];
        at += v[0].itemsize == 4 ? restore_products_32(v[0].data, units, counts[s], (uint32_t *)v[3].data + at)
                                 : restore_products_64(v[0].data, units, counts[s], (uint64_t *)v[3].data + at);
    }
    return 0;
}

#define PAIRS_ENTRIES                                                                                                  \
    {"add_products", "[IQf]1w " ACTIVE "[q]1", entry_add_products},                                                    \
    {"tiles_for", "i i", entry_tiles_for},                                                                             \
    {"add_dense", "[IQf]1w [hf]2 [i]1w", entry_add_dense},                                                             \
    {"add_row", "[IQ]1w [h]1 [q]1w", entry_add_row},                                                                   \
    {"subtract_row", "[IQ]1w [h]1 i [q]1w", entry_subtract_row},                                                       \
    {"add_classes", "[IQf]2w [IQ]1w " ACTIVE "[q]1 [q]1", entry_add_classes},                                          \
    {"add_squares", "[Q]1w " ACTIVE_BYTES "[q]1", entry_add_squares},                                                  \
    {"largest", ACTIVE_FLOATS "[q]1 [f]1w", entry_largest},                                                            \
    {"spread", ACTIVE "[q]1 [hf]2w", entry_spread},                                                                    \
    {"learn_exact", "[I]1w [I]2w [I]1w " ACTIVE_BYTES "[q]1 i [h]2w [q]1w", entry_learn_exact},                        \
    {"learn_floats", "[f]1w [f]2w [IQ]1w " ACTIVE_FLOATS "[q]1 f [q]1w", entry_learn_floats},                          \
    {"learn_thin",                                                                                                     \
     "i [hB]1w [H]2w [IQ]1w [B]1w [B]1w " ACTIVE_BYTES "[q]1o [q]1 u i [B]1w [H]1w [i]2w [h]2w [i]1w [i]1w [q]1wo",    \
     entry_learn_thin},                                                                                                \
    {"unpack_pairs", "[B]1 [i]1w", entry_unpack_pairs},                                                                \
    {"pack_pairs", "[i]1 [B]1w", entry_pack_pairs},                                                                    \
    {"keep_products", "[IQf]1 [I]2 [q]1 [IQf]1w i", entry_keep_products},                                              \
    {"restore_products", "[IQf]1w [I]2 [q]1 [IQf]1 i", entry_restore_products},
