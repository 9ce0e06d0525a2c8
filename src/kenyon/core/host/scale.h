/* scale_and_count(samples, counted, groups, counts, means, spreads, knee, farthest, unit, held, most, moving, scratch,
 * out): each sample by the moments of those before it; it is counted where `counted` says so.
 * scale(...): the same with None for `counted`. It changes no moments, which may be read-only.
 * scratch: (groups + inputs). See scale.h. */

#include "../scale.h"

/* One sample of the first value as float64. */
static void scale_row(const kn_value *v, int64_t sample, double *row)
{
    const char *at = (const char *)v[0].data + sample * v[0].strides[0];
    for (int64_t i = 0; i < v[0].shape[1]; i++, at += v[0].strides[1]) {
        row[i] = v[0].type == 'd'   ? *(const double *)at
                 : v[0].type == 'f' ? (double)*(const float *)at
                                    : (double)*(const uint8_t *)at;
    }
}

static int64_t entry_scale(const kn_value *v)
{
    double *scratch = v[12].data, *row = scratch + v[3].shape[0];
    const scale_moments moments = {.groups = v[2].data,
                                   .n_inputs = v[0].shape[1],
                                   .n_groups = v[3].shape[0],
                                   .counts = v[3].data,
                                   .means = v[4].data,
                                   .spreads = v[5].data,
                                   .knee = v[6].number,
                                   .farthest = v[7].number,
                                   .unit = v[8].number,
                                   .held = v[9].number,
                                   .most = v[10].number,
                                   .moving = v[11].integer != 0,
                                   .deviations = scratch};
    for (int64_t s = 0; s < v[0].shape[0]; s++) {
        scale_row(v, s, row);
        scale_sample(&moments, row, (float *)v[13].data + s * moments.n_inputs);
        if (v[1].data && ((const uint8_t *)v[1].data)[s]) {
            scale_count(&moments, row);
        }
    }
    return 0;
}

#define SCALE_ENTRIES                                                                                                  \
    {"scale", "[Bfd]2s [?]1o [q]1 [d]1 [d]1 [d]1 f f f f f i [d]1w [f]2w", entry_scale},                               \
        {"scale_and_count", "[Bfd]2s [?]1 [q]1 [d]1w [d]1w [d]1w f f f f f i [d]1w [f]2w", entry_scale},
