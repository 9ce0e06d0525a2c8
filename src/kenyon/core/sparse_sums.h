/* The projection of a block of samples, a lane a sample; included by sparse.h for each SAMPLE and SUM. */

/* Sums in order of the inputs, which stay in registers. */
KN_INLINE void NAMED(sparse_add)(const SAMPLE *columns, const void *numbers, int wide, int64_t first, int64_t last,
                                 SUMS *sums)
{
    SUMS a = {0}, b = {0}, c = {0}, d = {0};
    for (int64_t k = first; k < last; k++) {
        const SAMPLE *column = columns + (size_t)sparse_number(numbers, wide, k) * LANES;
        a += WIDENED(column);
        b += WIDENED(column + 8);
        c += WIDENED(column + 16);
        d += WIDENED(column + 24);
    }
    sums[0] = a;
    sums[1] = b;
    sums[2] = c;
    sums[3] = d;
}

KN_INLINE void NAMED(sparse_project)(const sparse_layer *layer, int wide, const SAMPLE *columns, SUM *projected,
                                     double *totals, double *squares)
{
    double moments[2][PARTIALS][LANES];
    memset(moments, 0, sizeof moments);
    for (int64_t unit = 0; unit < layer->n_units; unit++) {
        const char *numbers = (const char *)layer->inputs + unit * layer->n_connections * (wide ? 4 : 2);
        SUMS more[4], less[4];
        SUM *row = projected + unit * LANES;
        NAMED(sparse_add)(columns, numbers, wide, 0, layer->n_excitatory, more);
        NAMED(sparse_add)(columns, numbers, wide, layer->n_excitatory, layer->n_connections, less);
        for (int i = 0; i < 4; i++) {
            more[i] -= less[i];
        }
        memcpy(row, more, sizeof more);
        for (int lane = 0; lane < LANES; lane++) {
            const double value = (double)row[lane];
            moments[0][unit % PARTIALS][lane] += value;
            moments[1][unit % PARTIALS][lane] += value * value;
        }
    }
    for (int lane = 0; lane < LANES; lane++) {
        totals[lane] = squares[lane] = 0;
        for (int part = 0; part < PARTIALS; part++) {
            totals[lane] += moments[0][part][lane];
            squares[lane] += moments[1][part][lane];
        }
    }
}

static void NAMED(sparse_block)(const SAMPLE *samples, int64_t n, const sparse_layer *layer, const threshold_rule *rule,
                                const sparse_scratch *scratch, const activity_out *out, int64_t first)
{
    SAMPLE *columns = scratch->columns;
    SUM *projected = scratch->projected;
    double totals[LANES], squares[LANES];
    threshold_cut cuts[LANES];
    if (n < LANES) {
        memset(columns, 0, sizeof *columns * (size_t)(layer->n_inputs * LANES));
    }
    BESIDE(samples, n, layer->n_inputs, layer->n_inputs, columns, LANES);
    if (layer->wide) {
        NAMED(sparse_project)(layer, 1, columns, projected, totals, squares);
    } else {
        NAMED(sparse_project)(layer, 0, columns, projected, totals, squares);
    }
    for (int b = 0; b < n; b++) {
        if (rule->integral) {
            totals[b] = (double)sparse_total((const uint8_t *)samples + b * layer->n_inputs, layer);
        }
        cuts[b] = threshold_of(totals[b], squares[b], layer->n_units, rule);
    }
    NAMED(threshold_block)(projected, layer->n_units, n, threshold_in_order, rule, cuts, out, first);
}
