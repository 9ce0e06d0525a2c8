/* From pooled responses to active units; included by windows.h for each type of TOTAL. */

/* The square root of pooled responses times a factor. Integers are rounded down: the factor is a power of two, such that
 * the product is below 2^16, whose root float32 tells from the next integer. */
static void NAMED(windows_take_root)(TOTAL *row, int64_t n, double factor)
{
#if defined(TOTAL_FLOAT)
    for (int64_t i = 0; i < n; i++) {
        const double value = (double)row[i] > 0 ? (double)row[i] : 0;
        row[i] = (TOTAL)sqrt(value * factor);
    }
#else
    const int shift = factor < 1 ? (int)log2(1 / factor) : 0;
    const int32_t times = factor > 1 ? (int32_t)factor : 1;
    for (int64_t i = 0; i < n; i++) {
        const int32_t value = row[i] > 0 ? row[i] : 0;
        row[i] = (int32_t)sqrtf((float)((value >> shift) * times));
    }
#endif
}

typedef TOTAL NAMED(windows_four) __attribute__((vector_size(16)));

/* responses: (units, LANES); lanes: the sample of each lane. */
static void NAMED(windows_answer)(const TOTAL *responses, int64_t n_units, int64_t n, const uint8_t *lanes,
                                  const threshold_rule *rule, const activity_out *out, int64_t first)
{
    double totals[LANES] = {0}, squares[LANES] = {0};
    threshold_cut cuts[LANES];
    if (rule->thresholded) {
        for (int lane = 0; lane < LANES; lane += 8) {
            windows_doubles sums[LANES][4] = {{{0}}}; /* two of values and two of squares */
            for (int64_t unit = 0; unit < n_units; unit++) {
                windows_doubles *part = sums[unit % LANES];
                for (int i = 0; i < 2; i++) {
                    NAMED(windows_four) four;
                    KN_LOAD(four, responses + unit * LANES + lane + 4 * i);
                    const windows_doubles value = __builtin_convertvector(four, windows_doubles);
                    part[i] += value;
                    part[2 + i] += value * value;
                }
            }
            for (int part = 0; part < LANES; part++) {
                for (int i = 0; i < 8; i++) {
                    totals[lane + i] += sums[part][i / 4][i % 4];
                    squares[lane + i] += sums[part][2 + i / 4][i % 4];
                }
            }
        }
    }
    for (int lane = 0; lane < LANES; lane++) {
        cuts[lane] = threshold_of(totals[lane], squares[lane], n_units, rule);
    }
    NAMED(threshold_block)(responses, n_units, n, lanes, rule, cuts, out, first);
}

/* responses: (rows, LANES), a lane a unit. */
static void NAMED(windows_answer_one)(TOTAL *responses, int64_t n_units, const threshold_rule *rule,
                                      const activity_out *out, int64_t at)
{
    const int64_t n_rows = (n_units + LANES - 1) / LANES;
    double total = 0, squares = 0;
    if (rule->thresholded) {
        double totals[LANES] = {0}, some[LANES] = {0};
        for (int64_t unit = n_units; unit < n_rows * LANES; unit++) {
            responses[unit] = 0;
        }
        for (int64_t row = 0; row < n_rows; row++) {
            for (int lane = 0; lane < LANES; lane++) {
                const double value = (double)responses[row * LANES + lane];
                totals[lane] += value;
                some[lane] += value * value;
            }
        }
        for (int lane = 0; lane < LANES; lane++) {
            total += totals[lane];
            squares += some[lane];
        }
    }
    const threshold_cut cut = threshold_of(total, squares, n_units, rule);
    NAMED(threshold_one)(responses, n_units, rule, cut, out, at);
}
