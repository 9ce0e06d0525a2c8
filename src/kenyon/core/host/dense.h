/* dense(samples, signs, sums, counts): the sums of all units. dense_bytes(samples, sums, middle, gain, values): those of
 * samples of length 1 in bytes, `middle` being zero, and `gain` steps one. See dense.h. */

#include "../dense.h"

static int64_t entry_dense(const kn_value *v)
{
    const int64_t n_inputs = v[0].shape[1], n_units = v[1].shape[1];
    const float *signs = v[1].data, *floats = v[0].data;
    const uint8_t *bytes = v[0].data;
    for (int64_t s = 0; s < v[0].shape[0]; s++) {
        float *sums = (float *)v[2].data + s * n_units;
        memset(sums, 0, sizeof *sums * (size_t)n_units);
        for (int64_t i = 0; i < n_inputs; i++) {
            dense_add(v[0].type == 'B' ? (float)bytes[s * n_inputs + i] : floats[s * n_inputs + i], signs + i * n_units,
                      n_units, sums);
        }
        ((int64_t *)v[3].data)[s] = n_units;
    }
    return 0;
}

static int64_t entry_dense_bytes(const kn_value *v)
{
    const int64_t n_inputs = v[0].shape[1], n_units = v[1].shape[1];
    const float *floats = v[0].data;
    const uint8_t *bytes = v[0].data;
    for (int64_t s = 0; s < v[0].shape[0]; s++) {
        double squares = 0;
        for (int64_t i = 0; i < n_inputs; i++) {
            const double value = v[0].type == 'B' ? bytes[s * n_inputs + i] : (double)floats[s * n_inputs + i];
            squares += value * value;
        }
        dense_bytes(squares, (float *)v[1].data + s * n_units, n_units, v[2].number, v[3].number,
                    (uint8_t *)v[4].data + s * n_units);
    }
    return 0;
}

#define DENSE_ENTRIES                                                                                                  \
    {"dense", "[Bf]2 [f]2 [f]2w [q]1w", entry_dense}, {"dense_bytes", "[Bf]2 [f]2 f f [B]2w", entry_dense_bytes},
