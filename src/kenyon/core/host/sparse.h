/* Entries of the sparse projection.
 *
 * sparse_block(samples, inputs, n_excitatory, degrees, largest, *rule, columns, projected, *out): the active
 * units of samples, LANES at a time.
 *
 * sparse_one(samples, excitatory starts and units, inhibitory starts and units, n_units, *rule, projected, inhibited,
 * *out): the same one by one, which is quicker for a few.
 *
 * group_by_input(inputs, first, last, starts, units): input i goes to the units units[starts[i] : starts[i + 1]]
 * through the connections first .. last - 1. */

#include "../sparse.h"

static int64_t entry_sparse_block(const kn_value *v)
{
    const kn_value *samples = &v[0], *projected = &v[11];
    const sparse_layer layer = {.inputs = v[1].data,
                                .wide = v[1].type == 'I',
                                .n_inputs = samples->shape[1],
                                .n_units = v[1].shape[0],
                                .n_connections = v[1].shape[1],
                                .n_excitatory = v[2].integer,
                                .degrees = v[3].data,
                                .largest = v[4].integer};
    const threshold_rule rule = rule_of(v + 5, samples->type, projected->type);
    const sparse_scratch scratch = {v[10].data, projected->data};
    const activity_out out = out_of(v + 12);
    for (int64_t first = 0; first < samples->shape[0]; first += LANES) {
        const int64_t n = samples->shape[0] - first < LANES ? samples->shape[0] - first : LANES;
        const void *some = (const char *)samples->data + first * samples->strides[0];
        if (samples->type == 'f') {
            sparse_block_float(some, n, &layer, &rule, &scratch, &out, first);
        } else if (projected->type == 'i') {
            sparse_block_int(some, n, &layer, &rule, &scratch, &out, first);
        } else {
            sparse_block_bytes(some, n, &layer, &rule, &scratch, &out, first);
        }
    }
    return 0;
}

static int64_t entry_sparse_one(const kn_value *v)
{
    const kn_value *samples = &v[0], *projected = &v[11];
    const sparse_groups excitatory = {v[1].data, v[2].data, v[2].type == 'I'};
    const sparse_groups inhibitory = {v[3].data, v[4].data, v[4].type == 'I'};
    const int64_t n_inputs = samples->shape[1], n_units = v[5].integer;
    const threshold_rule rule = rule_of(v + 6, samples->type, projected->type);
    const activity_out out = out_of(v + 13);
    for (int64_t s = 0; s < samples->shape[0]; s++) {
        const void *sample = (const char *)samples->data + s * samples->strides[0];
        if (samples->type == 'f') {
            sparse_one_float(sample, n_inputs, n_units, &excitatory, &inhibitory, &rule, projected->data, v[12].data,
                             &out, s);
        } else if (projected->type == 'i') {
            sparse_one_int(sample, n_inputs, n_units, &excitatory, &inhibitory, &rule, projected->data, v[12].data,
                           &out, s);
        } else {
            sparse_one_short(sample, n_inputs, n_units, &excitatory, &inhibitory, &rule, projected->data, v[12].data,
                             &out, s);
        }
    }
    return 0;
}

static int64_t entry_group_by_input(const kn_value *v)
{
    const int wide = v[0].type == 'I';
    const int64_t width = v[0].shape[1], first = v[1].integer, last = v[2].integer, n_inputs = v[3].shape[0] - 1;
    int64_t *starts = v[3].data;
    memset(starts, 0, sizeof *starts * (size_t)(n_inputs + 1));
    for (int64_t unit = 0; unit < v[0].shape[0]; unit++) {
        for (int64_t k = first; k < last; k++) {
            starts[sparse_number(v[0].data, wide, unit * width + k) + 1]++;
        }
    }
    for (int64_t i = 0; i < n_inputs; i++) {
        starts[i + 1] += starts[i];
    }
    for (int64_t unit = 0; unit < v[0].shape[0]; unit++) { /* each start moves to the next one's place */
        for (int64_t k = first; k < last; k++) {
            const int64_t at = starts[sparse_number(v[0].data, wide, unit * width + k)]++;
            if (v[4].type == 'H') {
                ((uint16_t *)v[4].data)[at] = (uint16_t)unit;
            } else {
                ((uint32_t *)v[4].data)[at] = (uint32_t)unit;
            }
        }
    }
    memmove(starts + 1, starts, sizeof *starts * (size_t)n_inputs);
    starts[0] = 0;
    return 0;
}

#define SPARSE_ENTRIES                                                                                                 \
    {"sparse_block", "[Bf]2 [HI]2 i [i]1 i " RULE_SIGNATURE " [Bf]2w [hif]2w " OUT_SIGNATURE,              \
     entry_sparse_block},                                                                                              \
        {"sparse_one", "[Bf]2 [q]1 [HI]1 [q]1 [HI]1 i " RULE_SIGNATURE " [hif]1w [hif]1w " OUT_SIGNATURE,              \
         entry_sparse_one},                                                                                            \
        {"group_by_input", "[HI]2 i i [q]1w [HI]1w", entry_group_by_input},
