/* What is made of a layer's weights and of its output.
 *
 * column_means(weights, means): the mean of each of the first means.size columns, in float64.
 * rectify(outputs, n_neurons, first, unit_norm, *out): the positive part of outputs as the next layer's active units,
 * from sample `first` of the room on. */

static int64_t entry_column_means(const kn_value *v)
{
    const int64_t n = v[0].shape[0], n_columns = v[1].shape[0];
    double *means = v[1].data;
    memset(means, 0, sizeof *means * (size_t)n_columns);
    for (int64_t i = 0; i < n; i++) {
        const float *row = (const float *)((const char *)v[0].data + i * v[0].strides[0]);
        for (int64_t j = 0; j < n_columns; j++) {
            means[j] += row[j];
        }
    }
    for (int64_t j = 0; j < n_columns; j++) {
        means[j] /= (double)n;
    }
    return 0;
}

static int64_t entry_rectify(const kn_value *v)
{
    const activity_out out = out_of(v + 4);
    for (int64_t s = 0; s < v[0].shape[0]; s++) {
        const float *outputs = (const float *)((const char *)v[0].data + s * v[0].strides[0]);
        const int64_t at = (v[2].integer + s) * out.stride;
        int64_t count = 0;
        double square = 0;
        for (int64_t j = 0; j < v[1].integer; j++) {
            if (outputs[j] > 0) {
                out.units[at + count] = (uint32_t)j;
                out.floats[at + count++] = outputs[j];
                square += (double)outputs[j] * (double)outputs[j];
            }
        }
        out.counts[v[2].integer + s] = count;
        if (v[3].integer && count) {
            const float scale = (float)(1.0 / sqrt(square));
            for (int64_t a = 0; a < count; a++) {
                out.floats[at + a] *= scale;
            }
        }
    }
    return 0;
}

#define OUTPUTS_ENTRIES                                                                                                \
    {"column_means", "[f]2r [d]1w", entry_column_means},                                                               \
        {"rectify", "[f]2r i i i [I]2w [f]2w [q]1w", entry_rectify},
