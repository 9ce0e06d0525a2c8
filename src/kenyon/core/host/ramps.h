/* ramps(samples, inputs, signs, sizes, scales, offsets, gain, n_beside, columns, above, *out): see ramps.h. `columns` and
 * `above` are scratch memory; where they are empty, samples go one by one. */

#include "../ramps.h"

static int64_t entry_ramps(const kn_value *v)
{
    const ramps_layer layer = {.inputs = v[1].data,
                               .signs = v[2].data,
                               .sizes = v[3].data,
                               .scales = v[4].data,
                               .offsets = v[5].data,
                               .n_units = v[1].shape[0],
                               .most = v[1].shape[1],
                               .n_inputs = v[0].shape[1],
                               .n_beside = v[7].integer,
                               .gain = (float)v[6].number};
    const activity_out out = out_of(v + 10);
    const float *samples = v[0].data;
    for (int64_t first = 0; first < v[0].shape[0]; first += LANES) {
        const int64_t n = v[0].shape[0] - first < LANES ? v[0].shape[0] - first : LANES;
        if (v[8].shape[0]) {
            ramps_block(samples + first * layer.n_inputs, n, &layer, v[8].data, v[9].data, &out, first);
        } else {
            for (int64_t s = first; s < first + n; s++) {
                ramps_one(samples + s * layer.n_inputs, &layer, &out, s);
            }
        }
    }
    return 0;
}

#define RAMPS_ENTRIES                                                                                                  \
    {"ramps", "[f]2 [I]2 [b]2 [q]1 [f]1 [f]1 f i [f]2w [f]2w " OUT_SIGNATURE, entry_ramps},
