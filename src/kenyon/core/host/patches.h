/* patches(samples, filters, corners, views, size, channels, pool, copies, floor, bits, down, narrow, threshold, unit,
 * places, images, words, scales, roots, *out): the active units of samples, one by one; see ../patches.h. `places` is where each input of a
 * sample lies in the first of `images`, which are zero elsewhere; the second one is for views. */

#include "../patches.h"

static int64_t entry_patches(const kn_value *v)
{
    const kn_value *samples = &v[0], *images = &v[15], *words = &v[16], *scales = &v[17];
    const patches_layer layer = {.filters = v[1].data,
                                 .corners = v[2].data,
                                 .views = v[3].data,
                                 .n_units = v[1].shape[0] / v[7].integer,
                                 .copies = v[7].integer,
                                 .n_views = v[3].shape[0],
                                 .size = v[4].integer,
                                 .channels = v[5].integer,
                                 .words = words->shape[1],
                                 .rows = scales->shape[0],
                                 .columns = scales->shape[1] - PATCHES_SLACK,
                                 .pool = v[6].integer,
                                 .border = v[6].integer / 2,
                                 .floor = v[8].integer,
                                 .bits = (int)v[9].integer,
                                 .down = (int)v[10].integer,
                                 .narrow = v[11].integer != 0,
                                 .threshold = (int32_t)v[12].integer,
                                 .unit = (int32_t)v[13].integer};
    patches_scratch scratch = {.image = images->data,
                               .view = (uint8_t *)images->data + images->strides[0],
                               .bytes = images->shape[2],
                               .words = words->data,
                               .scales = scales->data,
                               .roots = v[18].data};
    const int32_t *places = v[14].data;
    const activity_out out = out_of(v + 19);
    for (int64_t s = 0; s < samples->shape[0]; s++) {
        const uint8_t *sample = (const uint8_t *)samples->data + s * samples->strides[0];
        uint32_t *units = out.units + s * out.stride;
        uint8_t *values = out.bytes + s * out.stride;
        for (int64_t i = 0; i < samples->shape[1]; i++) {
            scratch.image[places[i]] = sample[i];
        }
        patches_answer(&layer, &scratch, values);
        int64_t count = 0;
        for (int64_t unit = 0; unit < layer.n_units; unit++) {
            const uint8_t value = values[unit];
            units[count] = (uint32_t)unit;
            values[count] = value;
            count += value > 0;
        }
        out.counts[s] = count;
    }
    return 0;
}

#define PATCHES_ENTRIES                                                                                                \
    {"patches", "[B]2 [b]2 [i]2 [i]2 i i i i i i i i i i [i]1 [B]3w [I]3w [i]2w [i]1w [I]2w [B]2w [q]1w", entry_patches},
