/* The projection of a single sample: only inputs that are not zero are visited. Included by sparse.h for each SAMPLE and
 * SUM. */

KN_INLINE void NAMED(sparse_scatter)(const SAMPLE *sample, int64_t n_inputs, const sparse_groups *groups, int wide,
                                     SUM sign, SUM *sums)
{
    for (int64_t i = 0; i < n_inputs; i++) {
        if (sample[i] != 0) {
            const SUM value = (SUM)(sign * (SUM)sample[i]);
            int64_t c = groups->starts[i];
            const int64_t last = groups->starts[i + 1];
            for (; c + 4 <= last; c += 4) { /* the loop costs more than the sums */
                const uint32_t p = sparse_number(groups->units, wide, c), q = sparse_number(groups->units, wide, c + 1);
                const uint32_t r = sparse_number(groups->units, wide, c + 2), s = sparse_number(groups->units, wide, c + 3);
                sums[p] = (SUM)(sums[p] + value);
                sums[q] = (SUM)(sums[q] + value);
                sums[r] = (SUM)(sums[r] + value);
                sums[s] = (SUM)(sums[s] + value);
            }
            for (; c < last; c++) {
                const uint32_t unit = sparse_number(groups->units, wide, c);
                sums[unit] = (SUM)(sums[unit] + value);
            }
        }
    }
}

KN_INLINE void NAMED(sparse_scatter_all)(const SAMPLE *sample, int64_t n_inputs, const sparse_groups *groups, SUM sign,
                                         SUM *sums)
{
    if (groups->wide) {
        NAMED(sparse_scatter)(sample, n_inputs, groups, 1, sign, sums);
    } else {
        NAMED(sparse_scatter)(sample, n_inputs, groups, 0, sign, sums);
    }
}

/* `projected` and, for floats, `inhibited` have room for all units. */
static void NAMED(sparse_one)(const SAMPLE *sample, int64_t n_inputs, int64_t n_units, const sparse_groups *excitatory,
                              const sparse_groups *inhibitory, const threshold_rule *rule, SUM *projected, SUM *inhibited,
                              const activity_out *out, int64_t at)
{
    double total = 0, squares = 0;
    memset(projected, 0, sizeof *projected * (size_t)n_units);
    NAMED(sparse_scatter_all)(sample, n_inputs, excitatory, 1, projected);
    if (inhibitory->starts[n_inputs]) {
        if (rule->integral) {
            NAMED(sparse_scatter_all)(sample, n_inputs, inhibitory, -1, projected);
        } else {
            memset(inhibited, 0, sizeof *inhibited * (size_t)n_units);
            NAMED(sparse_scatter_all)(sample, n_inputs, inhibitory, 1, inhibited);
            for (int64_t unit = 0; unit < n_units; unit++) {
                projected[unit] = (SUM)(projected[unit] - inhibited[unit]);
            }
        }
    }
    if (rule->thresholded && rule->integral) {
        int64_t exact_total = 0, exact_squares = 0;
        for (int64_t unit = 0; unit < n_units; unit++) {
            exact_total += (int64_t)projected[unit];
            exact_squares += (int64_t)projected[unit] * (int64_t)projected[unit];
        }
        total = (double)exact_total;
        squares = (double)exact_squares;
    } else if (rule->thresholded) {
        double totals[PARTIALS] = {0}, some_squares[PARTIALS] = {0};
        int64_t unit = 0;
        for (; unit + PARTIALS <= n_units; unit += PARTIALS) {
            for (int p = 0; p < PARTIALS; p++) {
                const double value = (double)projected[unit + p];
                totals[p] += value;
                some_squares[p] += value * value;
            }
        }
        for (int p = 0; unit + p < n_units; p++) {
            const double value = (double)projected[unit + p];
            totals[p] += value;
            some_squares[p] += value * value;
        }
        for (int p = 0; p < PARTIALS; p++) {
            total += totals[p];
            squares += some_squares[p];
        }
    }
    const threshold_cut cut = threshold_of(total, squares, n_units, rule);
    NAMED(threshold_one)(projected, n_units, rule, cut, out, at);
}
