/* Entries of layers with float weights, beside those of the rules:
 *
 *     forward(weights, units, values, counts, first, last, out)                x_o of samples first .. last - 1
 *     local_error(weights, readout, units, values, counts, first, last, labels, rate, outputs, signal, error)
 *     keep_rows(weights, units, values, counts, first, last, marks, kept, rows, count)         and so on: undo.h
 *     unpack_levels(bits, sign, weights, out), chance(key, number), key_of(seed, n, j), reciprocal_of(bytes)     levels.h
 */
#include "../few_bits_state.h"
#include "../local_error.h"
#include "../undo.h"
#include "active.h"

static int64_t entry_forward(const kn_value *v)
{
    const kn_active active = active_of(v + 1);
    const int64_t first = v[4].integer, last = v[5].integer, width = v[0].shape[1];
    for (int64_t s = first; s < last; s++) {
        const int64_t at = s * active.stride;
        float *out = (float *)v[6].data + (s - first) * width;
        forward_one(v[0].data, width, active.units + at, active.floats + at, active.counts[s], out);
    }
    return 0;
}

static int64_t entry_local_error(const kn_value *v)
{
    const kn_local p = {
        .weights = v[0].data,
        .readout = v[1].data,
        .n_classes = v[1].shape[0],
        .width = v[1].shape[1],
        .active = active_of(v + 2),
        .first = v[5].integer,
        .last = v[6].integer,
        .labels = v[7].data,
        .rate = (float)v[8].number,
        .outputs = v[9].data,
        .signal = v[10].data,
        .error = v[11].data,
    };
    return learn_by_local_error(&p);
}

static int64_t entry_keep_rows(const kn_value *v)
{
    const int64_t row_bytes = v[0].shape[1] * v[0].itemsize;
    keep_rows(v[0].data, row_bytes, active_of(v + 1), v[4].integer, v[5].integer, v[6].data, v[7].data, v[8].data,
              v[9].data);
    return 0;
}

static int64_t entry_keep_rows_of_one(const kn_value *v)
{
    const int64_t row_bytes = v[0].shape[1] * v[0].itemsize;
    keep_rows_of_one(v[0].data, row_bytes, active_of(v + 1), v[4].integer, v[5].data, v[6].data, v[7].data);
    return 0;
}

static int64_t entry_restore_rows(const kn_value *v)
{
    restore_rows(v[0].data, v[0].shape[1] * v[0].itemsize, v[1].data, v[2].data, *(const int64_t *)v[3].data);
    return 0;
}

static int64_t entry_forget_rows(const kn_value *v)
{
    forget_rows(v[0].data, v[1].data, v[2].data);
    return 0;
}

static int64_t entry_unpack_levels(const kn_value *v)
{
    const kn_packing p = {(int)v[0].integer, (int)v[1].integer};
    const int64_t width = v[2].shape[1], n_units = v[3].shape[0], n_neurons = v[3].shape[1];
    int16_t *out = v[3].data;
    for (int64_t i = 0; i < n_units; i++) {
        for (int64_t j = 0; j < n_neurons; j++) {
            *out++ = (int16_t)get_level(p, (const uint8_t *)v[2].data + j, width, (uint32_t)i);
        }
    }
    return 0;
}

static int64_t entry_chance(const kn_value *v)
{
    return chance((uint32_t)v[0].integer, (uint32_t)v[1].integer);
}

static int64_t entry_key_of(const kn_value *v)
{
    return key_of((uint32_t)v[0].integer, v[1].integer, (uint32_t)v[2].integer);
}

static int64_t entry_reciprocal_of(const kn_value *v)
{
    return reciprocal_of(v[0].data, v[0].shape[0]);
}

#define PLASTIC_ENTRIES                                                                                                \
    {"forward", "[f]2 " ACTIVE_FLOATS "i i [f]2w", entry_forward},                                                     \
    {"local_error", "[f]2w [f]2 " ACTIVE_FLOATS "i i [q]1 f [f]2w [f]1w [f]1w", entry_local_error},                    \
    {"keep_rows", "[fIQ]2 " ACTIVE "i i [?]1w [I]1w [fIQ]2w [q]1w", entry_keep_rows},                                  \
    {"keep_rows_of_one", "[fIQ]2 " ACTIVE "i [I]1w [fIQ]2w [q]1w", entry_keep_rows_of_one},                            \
    {"restore_rows", "[fIQ]2w [I]1 [fIQ]2 [q]1", entry_restore_rows},                                                  \
    {"forget_rows", "[?]1w [I]1 [q]1w", entry_forget_rows},                                                            \
    {"unpack_levels", "i i [B]2 [h]2w", entry_unpack_levels},                                                          \
    {"chance", "u u", entry_chance},                                                                                   \
    {"key_of", "u i u", entry_key_of},                                                                                 \
    {"reciprocal_of", "[B]1", entry_reciprocal_of},
