/* Entries of the layer of windows. *layer is rows, columns, stride, best, root: see windows.h.
 *
 * windows_block(samples, inputs, n_excitatory, *layer, places, *rule, image, responses, *out): the
 * active units of samples, LANES at a time. `places` is where each input of a sample lies in `image`, which has
 * room for (places, LANES) and is zero where no input lies.
 *
 * windows_one(samples, items, n_excitatory, *layer, places, *rule, channels, padded height, together, plane, image,
 * pooled, responses, *out): the same one by one. `items` is `inputs` times `together`; `places` is where an input lies in
 * `plane`; `image` is empty where `together` is 1, for `plane` is the image then. */

#include "../windows.h"

#define LAYER_SIGNATURE "i i i i f"

static windows_layer windows_layer_of(const kn_value *v)
{
    const windows_layer layer = {.inputs = v[0].data,
                                 .wide = v[0].type == 'I',
                                 .n_units = v[0].shape[0],
                                 .n_connections = v[0].shape[1],
                                 .n_excitatory = v[1].integer,
                                 .rows = v[2].integer,
                                 .columns = v[3].integer,
                                 .stride = v[4].integer,
                                 .best = v[5].integer != 0,
                                 .root = v[6].number};
    return layer;
}

/* Put n samples beside one another, lanes without a sample zero. */
#define LAY_OUT(name, sample, pixel, transpose)                                                                        \
    static void name(const sample *samples, int64_t n, int64_t n_inputs, const int32_t *places, int64_t n_places,      \
                     pixel *image)                                                                                     \
    {                                                                                                                  \
        sample some[16 * LANES] = {0};                                                                                 \
        for (int64_t first = 0; first < n_inputs; first += 16) {                                                       \
            const int64_t count = n_inputs - first < 16 ? n_inputs - first : 16;                                       \
            transpose(samples + first, n, count, n_inputs, some, LANES);                                               \
            for (int64_t i = 0; i < count; i++) {                                                                      \
                for (int lane = 0; lane < LANES; lane += (int)(KN_REGISTER / sizeof(pixel))) {                         \
                    pixel *to = image + n_places * lane + places[first + i] * (int64_t)(KN_REGISTER / sizeof(pixel));  \
                    for (int b = 0; b < (int)(KN_REGISTER / sizeof(pixel)); b++) {                                     \
                        to[b] = some[i * LANES + lane + b];                                                            \
                    }                                                                                                  \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

LAY_OUT(windows_lay_out_short, uint8_t, int16_t, transpose_bytes)
LAY_OUT(windows_lay_out_int, uint8_t, int32_t, transpose_bytes)
LAY_OUT(windows_lay_out_float, float, float, transpose_float)

static int64_t entry_windows_block(const kn_value *v)
{
    const kn_value *samples = &v[0], *image = &v[14], *responses = &v[15];
    const windows_layer layer = windows_layer_of(v + 1);
    const int32_t *places = v[8].data;
    const threshold_rule rule = rule_of(v + 9, samples->type, responses->type);
    const activity_out out = out_of(v + 16);
    const int64_t n_inputs = samples->shape[1], n_places = image->shape[0], n_numbers = layer.n_units * LANES;
    uint8_t lanes[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        lanes[lane] = (uint8_t)(image->type == 'h' ? windows_lane_of_short(lane, layer.best) : lane);
    }
    for (int64_t first = 0; first < samples->shape[0]; first += LANES) {
        const int64_t n = samples->shape[0] - first < LANES ? samples->shape[0] - first : LANES;
        const void *some = (const char *)samples->data + first * samples->strides[0];
        if (image->type == 'f') {
            windows_lay_out_float(some, n, n_inputs, places, n_places, image->data);
            windows_respond_float(image->data, n_places, &layer, responses->data);
        } else if (image->type == 'i') {
            windows_lay_out_int(some, n, n_inputs, places, n_places, image->data);
            windows_respond_int(image->data, n_places, &layer, responses->data);
        } else {
            windows_lay_out_short(some, n, n_inputs, places, n_places, image->data);
            windows_respond_short(image->data, n_places, &layer, responses->data);
        }
        if (image->type == 'f') {
            if (layer.root != 0) {
                windows_take_root_float(responses->data, n_numbers, layer.root);
            }
            windows_answer_float(responses->data, layer.n_units, n, lanes, &rule, &out, first);
        } else {
            if (layer.root != 0) {
                windows_take_root_int(responses->data, n_numbers, layer.root);
            }
            windows_answer_int(responses->data, layer.n_units, n, lanes, &rule, &out, first);
        }
    }
    return 0;
}

#define ONE(name, sample_type, pixel, total)                                                                           \
    static void windows_one_##name(const sample_type *sample, int64_t n_inputs, const windows_layer *layer,            \
                                   const int32_t *places, int64_t channels, int64_t height, int64_t together,          \
                                   pixel *plane, pixel *image, float *pooled, total *responses)                        \
    {                                                                                                                  \
        const int64_t in_vector = (int64_t)(KN_REGISTER / sizeof(pixel));                                              \
        for (int64_t i = 0; i < n_inputs; i++) {                                                                       \
            plane[places[i]] = sample[i];                                                                              \
        }                                                                                                              \
        if (together > 1) {                                                                                            \
            windows_put_side_by_side_##name(plane, channels, height, layer->stride, together, image);                  \
        }                                                                                                              \
        const windows_lanes_##name lanes = {.image = together > 1 ? image : plane,                                     \
                                            .items = layer->inputs,                                                    \
                                            .wide = layer->wide,                                                       \
                                            .together = together,                                                      \
                                            .n_groups = layer->rows / together,                                        \
                                            .each = (together * layer->columns + in_vector - 1) / in_vector};          \
        windows_respond_one_##name(&lanes, layer, pooled, responses);                                                  \
    }

ONE(short, uint8_t, int16_t, int32_t)
ONE(int, uint8_t, int32_t, int32_t)
ONE(float, float, float, float)

static int64_t entry_windows_one(const kn_value *v)
{
    const kn_value *samples = &v[0], *plane = &v[17], *responses = &v[20];
    const windows_layer layer = windows_layer_of(v + 1);
    const int32_t *places = v[8].data;
    const threshold_rule rule = rule_of(v + 9, samples->type, responses->type);
    const int64_t channels = v[14].integer, height = v[15].integer, together = v[16].integer;
    const activity_out out = out_of(v + 21);
    const int64_t n_inputs = samples->shape[1];
    for (int64_t s = 0; s < samples->shape[0]; s++) {
        const void *sample = (const char *)samples->data + s * samples->strides[0];
        if (plane->type == 'f') {
            windows_one_float(sample, n_inputs, &layer, places, channels, height, together, plane->data, v[18].data,
                              v[19].data, responses->data);
        } else if (plane->type == 'i') {
            windows_one_int(sample, n_inputs, &layer, places, channels, height, together, plane->data, v[18].data,
                            v[19].data, responses->data);
        } else {
            windows_one_short(sample, n_inputs, &layer, places, channels, height, together, plane->data, v[18].data,
                              v[19].data, responses->data);
        }
        if (plane->type == 'f') {
            if (layer.root != 0) {
                windows_take_root_float(responses->data, layer.n_units, layer.root);
            }
            windows_answer_one_float(responses->data, layer.n_units, &rule, &out, s);
        } else {
            if (layer.root != 0) {
                windows_take_root_int(responses->data, layer.n_units, layer.root);
            }
            windows_answer_one_int(responses->data, layer.n_units, &rule, &out, s);
        }
    }
    return 0;
}

#undef LAY_OUT
#undef ONE

#define WINDOWS_ENTRIES                                                                                                \
    {"windows_block",                                                                                                  \
     "[Bf]2 [HI]2 i " LAYER_SIGNATURE " [i]1 " RULE_SIGNATURE " [hif]2w [if]2w " OUT_SIGNATURE,      \
     entry_windows_block},                                                                                             \
        {"windows_one",                                                                                                \
         "[Bf]2 [HI]2 i " LAYER_SIGNATURE " [i]1 " RULE_SIGNATURE                                                      \
         " i i i [hif]1w [hif]1w [f]1w [if]2w " OUT_SIGNATURE,                                                         \
         entry_windows_one},
