/* What the baselines of the comparison add up in stream order.
 *
 * add_product(X, omega, out): out += X omega, each row by itself in the order of its inputs, those that are zero left out.
 *
 * update_means(X, y, means, counts): n_y += 1, mu_y += (x - mu_y) / n_y for each sample.
 *
 * update_scatter(X, y, means, counts, scatter, deltas): Welford's pooled step, S += n / (n + 1) (x - mu_y)(x - mu_y)^T
 * (upper triangle; n the class's count before the sample), then mu_y. deltas: (block, features) scratch memory.
 *
 * sum_inputs(inputs, columns, sums): a row of `sums` is the sum of the rows of `columns` that a cell has for inputs, in order.
 *
 * associate(cells, activity, y, weights, counts, rate, keep): every weight times `keep` unless that is 1, then those of
 * the sample's class at its cells grow by rate * activity, to 1 at most.
 *
 * overlaps(cells, activity, weights, scores): for each class, its weights at a sample's cells times their activity. The
 * steps between cells and between activities are the same. */

#define PRODUCT_COLUMNS 256 /* columns of omega that stay in the cache while samples pass by */

static int64_t entry_add_product(const kn_value *v)
{
    const float *x = v[0].data, *omega = v[1].data;
    float *out = v[2].data;
    const int64_t n = v[0].shape[0], n_inputs = v[0].shape[1], width = v[1].shape[1];
    for (int64_t left = 0; left < width; left += PRODUCT_COLUMNS) {
        const int64_t some = width - left < PRODUCT_COLUMNS ? width - left : PRODUCT_COLUMNS;
        for (int64_t s = 0; s < n; s++) {
            for (int64_t i = 0; i < n_inputs; i++) {
                dense_add(x[s * n_inputs + i], omega + i * width + left, some, out + s * width + left);
            }
        }
    }
    return 0;
}

static int64_t entry_update_means(const kn_value *v)
{
    const int64_t d = v[0].shape[1], *y = v[1].data;
    int64_t *counts = v[3].data;
    for (int64_t s = 0; s < v[0].shape[0]; s++) {
        const float *x = (const float *)v[0].data + s * d;
        float *mean = (float *)v[2].data + y[s] * d;
        const float rate = 1.0f / (float)++counts[y[s]];
        for (int64_t i = 0; i < d; i++) {
            mean[i] += rate * (x[i] - mean[i]);
        }
    }
    return 0;
}

/* The first `n` rows of `deltas`, each with itself, four at a time: that saves loads, and the sums keep their order. */
static void baselines_add_outer(const float *deltas, int64_t n, int64_t d, float *scatter)
{
    for (int64_t i = 0; i < d; i++) {
        float *row = scatter + i * d;
        int64_t s = 0;
        for (; s + 4 <= n; s += 4) {
            const float *p = deltas + s * d, *q = p + d, *r = q + d, *t = r + d;
            const float a = p[i], b = q[i], c = r[i], e = t[i];
            for (int64_t j = i; j < d; j++) {
                row[j] = (((row[j] + a * p[j]) + b * q[j]) + c * r[j]) + e * t[j];
            }
        }
        for (; s < n; s++) {
            const float *p = deltas + s * d, a = p[i];
            for (int64_t j = i; j < d; j++) {
                row[j] += a * p[j];
            }
        }
    }
}

static int64_t entry_update_scatter(const kn_value *v)
{
    const int64_t d = v[0].shape[1], n = v[0].shape[0], block = v[5].shape[0], *y = v[1].data;
    int64_t *counts = v[3].data;
    float *deltas = v[5].data;
    for (int64_t start = 0; start < n; start += block) {
        const int64_t size = n - start < block ? n - start : block;
        for (int64_t s = 0; s < size; s++) {
            const int64_t c = y[start + s];
            const float *x = (const float *)v[0].data + (start + s) * d, before = (float)counts[c];
            float *mean = (float *)v[2].data + c * d;
            const float weight = sqrtf(before / (before + 1.0f)), rate = 1.0f / (float)++counts[c];
            for (int64_t i = 0; i < d; i++) {
                const float difference = x[i] - mean[i];
                deltas[s * d + i] = weight * difference;
                mean[i] += rate * difference;
            }
        }
        baselines_add_outer(deltas, size, d, v[4].data);
    }
    return 0;
}

static int64_t entry_sum_inputs(const kn_value *v)
{
    const int64_t fan = v[0].shape[1], n = v[1].shape[1];
    for (int64_t c = 0; c < v[0].shape[0]; c++) {
        const int32_t *inputs = (const int32_t *)v[0].data + c * fan;
        float *sums = (float *)v[2].data + c * n;
        for (int64_t s = 0; s < n; s++) {
            sums[s] = 0;
        }
        for (int64_t k = 0; k < fan; k++) {
            const float *row = (const float *)v[1].data + inputs[k] * n;
            for (int64_t s = 0; s < n; s++) {
                sums[s] += row[s];
            }
        }
    }
    return 0;
}

static const void *baselines_row(const kn_value *array, int64_t row)
{
    return (const char *)array->data + row * array->strides[0];
}

static int64_t entry_associate(const kn_value *v)
{
    const int64_t width = v[0].shape[1], step = v[0].strides[1] / 4, n_cells = v[3].shape[1], *y = v[2].data;
    const float rate = (float)v[5].number, keep = (float)v[6].number;
    float *weights = v[3].data;
    int64_t *counts = v[4].data;
    for (int64_t s = 0; s < v[0].shape[0]; s++) {
        const int32_t *cells = baselines_row(&v[0], s);
        const float *activity = baselines_row(&v[1], s);
        float *own = weights + y[s] * n_cells;
        counts[y[s]]++;
        for (int64_t i = 0; v[6].number != 1.0 && i < v[3].shape[0] * n_cells; i++) {
            weights[i] *= keep;
        }
        for (int64_t k = 0; k < width; k++) {
            const float weight = own[cells[k * step]] + rate * activity[k * step];
            own[cells[k * step]] = weight < 1.0f ? weight : 1.0f;
        }
    }
    return 0;
}

static int64_t entry_overlaps(const kn_value *v)
{
    const int64_t width = v[0].shape[1], step = v[0].strides[1] / 4;
    const int64_t n_classes = v[2].shape[0], n_cells = v[2].shape[1];
    for (int64_t s = 0; s < v[0].shape[0]; s++) {
        const int32_t *cells = baselines_row(&v[0], s);
        const float *activity = baselines_row(&v[1], s);
        for (int64_t c = 0; c < n_classes; c++) {
            const float *weights = (const float *)v[2].data + c * n_cells;
            float score = 0;
            for (int64_t k = 0; k < width; k++) {
                score += weights[cells[k * step]] * activity[k * step];
            }
            ((float *)v[3].data)[s * n_classes + c] = score;
        }
    }
    return 0;
}

#define BASELINES_ENTRIES                                                                                              \
    {"add_product", "[f]2 [f]2 [f]2w", entry_add_product},                                                             \
        {"update_means", "[f]2 [q]1 [f]2w [q]1w", entry_update_means},                                                 \
        {"update_scatter", "[f]2 [q]1 [f]2w [q]1w [f]2w [f]2w", entry_update_scatter},                                 \
        {"sum_inputs", "[i]2 [f]2 [f]2w", entry_sum_inputs},                                                           \
        {"associate", "[i]2s [f]2s [q]1 [f]2w [q]1w f f", entry_associate},                                            \
        {"overlaps", "[i]2s [f]2s [f]2 [f]2w", entry_overlaps},
