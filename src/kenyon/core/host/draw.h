/* Entries that fill tables of features from a seed. `pool` is scratch memory.
 *
 * draw_inputs(seed, n_excitatory, pool, out): each row of `out` (units, K) becomes distinct inputs out of pool.size,
 * excitatory ones first, each group ascending.
 *
 * draw_windows(seed, channels, height, width, window_height, window_width, oriented, n_excitatory, padded_height,
 * padded_width, order, pool, out): the same inside a window at a random place; the input at (channel, row, column) has
 * the number (channel * padded_height + row) * padded_width + column.
 *
 * draw_ramps(seed, sizes, negative, reach, pool, inputs, signs, offsets): distinct ascending inputs of each unit, as many
 * as `sizes` says, their signs (of 65,536 as many negative ones on average), and its offset from -reach to reach in steps
 * of 1/RAMP_STEPS, which float32 holds exactly.
 *
 * draw_code(seed, index, n_on, pool, out): n_on of the entries of `out` are one, the others zero.
 *
 * draw_weights(seed, reach, out): numbers from -reach to reach in steps of 2^-23 reaches.
 *
 * draw_signs(seed, out): +1 and -1, a bit of the generator each, row by row. */

#include "../draw.h"

#define RAMP_STEPS (1 << 14)

DRAW_SORT(draw_sort_short, uint16_t)
DRAW_SORT(draw_sort_long, uint32_t)

static void draw_fill_pool(const kn_value *pool)
{
    for (int64_t i = 0; i < pool->shape[0]; i++) {
        ((uint32_t *)pool->data)[i] = (uint32_t)i;
    }
}

static void draw_put(const kn_value *out, int64_t row, int64_t column, uint32_t number)
{
    const int64_t at = row * out->shape[1] + column;
    if (out->type == 'H') {
        ((uint16_t *)out->data)[at] = (uint16_t)number;
    } else {
        ((uint32_t *)out->data)[at] = number;
    }
}

/* Bring each of two groups of a row into order. */
static void draw_sort_groups(const kn_value *out, int64_t row, uint32_t first_group)
{
    const uint32_t width = (uint32_t)out->shape[1];
    if (out->type == 'H') {
        uint16_t *start = (uint16_t *)out->data + row * width;
        draw_sort_short(start, first_group);
        draw_sort_short(start + first_group, width - first_group);
    } else {
        uint32_t *start = (uint32_t *)out->data + row * width;
        draw_sort_long(start, first_group);
        draw_sort_long(start + first_group, width - first_group);
    }
}

static int64_t entry_draw_inputs(const kn_value *v)
{
    uint64_t state = (uint64_t)v[0].integer;
    uint32_t *pool = v[2].data;
    draw_fill_pool(&v[2]);
    for (int64_t unit = 0; unit < v[3].shape[0]; unit++) {
        draw_choose(&state, pool, (uint32_t)v[2].shape[0], (uint32_t)v[3].shape[1]);
        for (int64_t k = 0; k < v[3].shape[1]; k++) {
            draw_put(&v[3], unit, k, pool[k]);
        }
        draw_sort_groups(&v[3], unit, (uint32_t)v[1].integer);
    }
    return 0;
}

static int64_t entry_draw_windows(const kn_value *v)
{
    uint64_t state = (uint64_t)v[0].integer;
    const uint32_t channels = (uint32_t)v[1].integer, height = (uint32_t)v[2].integer, width = (uint32_t)v[3].integer;
    const draw_window window = {channels, (uint32_t)v[4].integer, (uint32_t)v[5].integer};
    const uint32_t oriented = v[6].integer != 0, n_excitatory = (uint32_t)v[7].integer;
    const uint32_t padded_height = (uint32_t)v[8].integer, padded_width = (uint32_t)v[9].integer;
    const kn_value *out = &v[12];
    uint32_t *pool = v[11].data;
    draw_fill_pool(&v[11]);
    for (int64_t unit = 0; unit < out->shape[0]; unit++) {
        const uint32_t top = draw_below(&state, height - window.height + 1);
        const uint32_t left = draw_below(&state, width - window.width + 1);
        const uint32_t cut = draw_in_window(&state, window, oriented, unit % 2 == 0, (uint32_t)out->shape[1], n_excitatory,
                                            v[10].data, pool);
        for (uint32_t k = 0; k < out->shape[1]; k++) {
            const uint32_t chosen = pool[k < n_excitatory ? k : cut + k - n_excitatory];
            const uint32_t place = chosen / channels, channel = chosen % channels;
            const uint32_t row = top + place / window.width, column = left + place % window.width;
            draw_put(out, unit, k, (channel * padded_height + row) * padded_width + column);
        }
        draw_sort_groups(out, unit, n_excitatory);
    }
    return 0;
}

static int64_t entry_draw_ramps(const kn_value *v)
{
    uint64_t state = (uint64_t)v[0].integer;
    const int64_t *sizes = v[1].data, most = v[5].shape[1], reach = v[3].integer;
    uint32_t *pool = v[4].data, *inputs = v[5].data;
    int8_t *signs = v[6].data;
    float *offsets = v[7].data;
    draw_fill_pool(&v[4]);
    for (int64_t unit = 0; unit < v[1].shape[0]; unit++) {
        const uint32_t size = (uint32_t)sizes[unit];
        draw_choose(&state, pool, (uint32_t)v[4].shape[0], size);
        memcpy(inputs + unit * most, pool, sizeof *pool * size);
        draw_sort_long(inputs + unit * most, size);
        for (uint32_t k = 0; k < size; k++) {
            signs[unit * most + k] = (int64_t)draw_below(&state, 65536) < v[2].integer ? -1 : 1;
        }
        const int64_t steps = (int64_t)draw_below(&state, (uint32_t)(2 * reach * RAMP_STEPS + 1)) - reach * RAMP_STEPS;
        offsets[unit] = (float)steps / (float)RAMP_STEPS;
    }
    return 0;
}

static int64_t entry_draw_code(const kn_value *v)
{
    uint64_t state = (uint64_t)v[0].integer ^ ((uint64_t)v[1].integer + 1) * UINT64_C(0xD1B54A32D192ED03);
    uint32_t *pool = v[3].data;
    uint8_t *out = v[4].data;
    draw_fill_pool(&v[3]);
    draw_choose(&state, pool, (uint32_t)v[3].shape[0], (uint32_t)v[2].integer);
    memset(out, 0, (size_t)v[4].shape[0]);
    for (int64_t k = 0; k < v[2].integer; k++) {
        out[pool[k]] = 1;
    }
    return 0;
}

static int64_t entry_draw_weights(const kn_value *v)
{
    uint64_t state = (uint64_t)v[0].integer;
    const float reach = (float)v[1].number;
    for (int64_t i = 0; i < v[2].shape[0]; i++) {
        float *row = (float *)((char *)v[2].data + i * v[2].strides[0]);
        for (int64_t j = 0; j < v[2].shape[1]; j++) {
            const int64_t steps = (int64_t)(draw_word(&state) >> 40) - (1 << 23);
            row[j] = (float)steps / (float)(1 << 23) * reach;
        }
    }
    return 0;
}

static int64_t entry_draw_signs(const kn_value *v)
{
    uint64_t state = (uint64_t)v[0].integer, word = 0;
    float *out = v[1].data;
    for (int64_t i = 0; i < v[1].shape[0] * v[1].shape[1]; i++) {
        word = i % 64 ? word >> 1 : draw_word(&state);
        out[i] = word & 1 ? 1 : -1;
    }
    return 0;
}

#define DRAW_ENTRIES                                                                                                   \
    {"draw_inputs", "u i [I]1w [HI]2w", entry_draw_inputs},                                                            \
        {"draw_windows", "u i i i i i i i i i [q]1w [I]1w [HI]2w", entry_draw_windows},                                \
        {"draw_ramps", "u [q]1 i i [I]1w [I]2w [b]2w [f]1w", entry_draw_ramps},                                        \
        {"draw_code", "u i i [I]1w [B]1w", entry_draw_code}, {"draw_weights", "u f [f]2wr", entry_draw_weights},       \
        {"draw_signs", "u [f]2w", entry_draw_signs},
