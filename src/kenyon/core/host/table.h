/* One sample of a table in one call: scaled, its ramps, then predicted or learned. The same bits as block by block.
 *
 *     best_in_table(sample, INPUTS, RAMPS, BENCH, products, squares, trained, prior, neurons)
 *                                    place in `neurons` of the highest score; -1 where it takes the longer way to say why
 *     learn_in_table(sample, INPUTS, RAMPS, BENCH, pairs, sums, trained, most, last, clock, CALIBRATION, head, plastic, j,
 *                    READOUT, shrinkage, oracle, prior, scratch)
 *                                    0: nothing was changed, since it takes more; 1: learned; 3: and the shrinkage left its
 *                                    cell, so that the readout is no longer of use
 *     calibrate(CALIBRATION, head, units, values, counts, labels, first, last, scratch)
 *     calibrate_scratch(width)       float64 numbers; scratch of a BENCH holds as many float32 ones as units, too
 *
 * INPUTS: counts, means, spreads, centres, widths, usual, time, knee, beyond, limit, absent (units.h, check.h).
 * RAMPS: inputs, signs, sizes, scales, offsets, gain, n_beside. BENCH: scaled, units, values, counts, scratch of one thread.
 * CALIBRATION: thetas, few, readout, offsets, plain, plain_offsets, hits, trials, squares, losses, period, race, first, since.
 * READOUT may be None's; it may be of the first units alone.
 */
#include "../calibrate.h"
#include "../check.h"
#include "../ramps.h"

#define INPUTS "[d]1w [d]1w [d]1w [d]1w [d]1w [d]1w [d]1w f f f i "
#define TABLE "[d]1 " INPUTS "[I]2 [b]2 [q]1 [f]1 [f]1 f i [f]1w [I]2w [f]2w [q]1w [d]1w "
#define CALIBRATION "[d]1 f [f]2 [f]1 [f]2 [f]1 [d]1w [d]1w [d]1w [q]1w [d]1w [d]1w [q]1 [q]1 "
#define READOUT_OR_NONE "[d]1wo [d]2wo [d]1wo [q]1wo [d]2wo [d]1wo [d]1wo [d]1o "
enum { TABLE_RAMPS = 12, TABLE_BENCH = 19, TABLE_MORE = 24 };

static units_inputs table_units(const kn_value *v)
{
    const units_inputs units = {v[0].shape[0], v[4].data, v[5].data, v[6].data, v[1].data, v[2].data, v[3].data,
                                v[8].number, v[9].number};
    return units;
}

/* The activity of the sample, on the bench; 0 where a value cannot be borne, or no unit answers. */
static int table_activity(const kn_value *v, const units_inputs *units)
{
    const kn_value *r = v + TABLE_RAMPS, *b = v + TABLE_BENCH;
    const ramps_layer layer = {.inputs = r[0].data,
                               .signs = r[1].data,
                               .sizes = r[2].data,
                               .scales = r[3].data,
                               .offsets = r[4].data,
                               .n_units = r[0].shape[0],
                               .most = r[0].shape[1],
                               .n_inputs = v[0].shape[0],
                               .n_beside = r[6].integer,
                               .gain = (float)r[5].number};
    const activity_out out = {.units = b[1].data, .floats = b[2].data, .counts = b[3].data, .stride = b[1].shape[1]};
    const int64_t n = v[0].shape[0];
    if (first_unbearable_double(v[0].data, 1, n, n, 1, v[10].number, (int)v[11].integer) >= 0) {
        return 0;
    }
    units_scale(units, v[0].data, b[0].data);
    ramps_one(b[0].data, &layer, &out, 0);
    return out.counts[0] > 0;
}

static int64_t entry_best_in_table(const kn_value *v)
{
    const kn_value *own = v + TABLE_MORE;
    const units_inputs units = table_units(v);
    if (!table_activity(v, &units)) {
        return -1;
    }
    kn_active active = active_of(v + TABLE_BENCH + 1);
    const int64_t n_first = count_first(active.units, active.counts[0], own[0].shape[0]);
    active.counts = &n_first;
    const int64_t width = own[0].shape[1], n = own[4].shape[0], *neurons = own[4].data;
    double *counts = v[TABLE_BENCH + 4].data, *offsets = counts + width, *total = offsets + width;
    float *scores = (float *)(total + width), sum = 0;
    const double n_samples = class_counts(own + 2, counts);
    const int64_t n_known = readout_offsets(own[1].data, counts, width, n_samples, (int)own[3].integer, offsets);
    scores_of(own[0].data, offsets, counts, width, n_known, n_samples, active, 0, total, scores);
    int64_t best = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += scores[neurons[i]];
        best = scores[neurons[i]] > scores[neurons[best]] ? i : best;
    }
    return n && isfinite(sum) ? best : -1;
}

static kn_calibration calibration_of(const kn_value *v)
{
    const kn_calibration c = {v[0].data,  v[0].shape[0], v[1].number, v[2].data,  v[3].data,
                              v[4].data,  v[5].data,     v[4].shape[0], v[2].shape[1], v[6].data,
                              v[7].data,  v[8].data,     v[9].data,   v[10].data, v[11].data,
                              *(const int64_t *)v[12].data, *(const int64_t *)v[13].data};
    return c;
}

static int64_t entry_learn_in_table(const kn_value *v)
{
    const kn_value *own = v + TABLE_MORE;
    const units_inputs units = table_units(v);
    const kn_calibration calibration = calibration_of(own + 6);
    double *counted = v[7].data, last = own[4].number;
    int64_t *clock = own[5].data, result = 1;
    const int64_t j = own[22].integer, more = (int64_t)*counted + 1;
    const int power_of_two = !(clock[0] & (clock[0] - 1)); /* units may be added before this sample */
    if (power_of_two || (*counted < last && !(more & (more - 1))) || calibrate_is_due(&calibration, clock[0])) {
        return 0;
    }
    if (largest_count(own + 2) + 1 > NARROW || !table_activity(v, &units)) {
        return 0;
    }
    const kn_active active = active_of(v + TABLE_BENCH + 1);
    const int64_t n = active.counts[0];
    if (largest_of_floats(active.floats, n) > (float)own[3].number) {
        return 0;
    }
    calibrate_one(&calibration, own[20].data, own[20].shape[0], j, active.units, active.floats, n, v[TABLE_BENCH + 4].data);
    if (own[23].data) {
        kn_readout r = readout_of(own + 23);
        kn_followed f = {own, own + 1, own + 2, active, &j, own[21].data, own[31].number, (int)own[32].integer,
                         (int)own[33].integer, own[34].data, NULL};
        const int64_t n_first = count_first(active.units, n, r.n_units);
        f.active.counts = &n_first;
        result += 2 * (follow_samples(&r, &f, 0, 1) & 1);
    }
    if (3 * n > own[1].shape[0]) {
        float *row = v[TABLE_BENCH + 4].data;
        spread_floats(active.units, active.floats, n, own[1].shape[0], row);
        add_products_of_row(own[0].data, active.units, active.floats, n, row);
    } else {
        add_products_f32(own[0].data, active.units, active.floats, n);
    }
    add_class_f32(own[1].data, own[1].shape[1], j, active.units, active.floats, n);
    count_class(own + 2, j);
    if (result == 1 && own[23].data) {
        kn_readout r = readout_of(own + 23);
        refine(&r, own, own + 1, own + 2, own[34].data);
    }
    units_count(&units, v[0].data, *counted < last);
    ++*counted;
    clock[0]++;
    clock[1] += n * (n + 1) / 2;
    return result;
}

static int64_t entry_calibrate(const kn_value *v)
{
    const kn_calibration calibration = calibration_of(v);
    const kn_active active = active_of(v + 15);
    const int64_t *labels = v[18].data;
    for (int64_t s = v[19].integer; s < v[20].integer; s++) {
        if (labels[s] >= 0) {
            const int64_t at = s * active.stride;
            calibrate_one(&calibration, v[14].data, v[14].shape[0], labels[s], active.units + at, active.floats + at,
                          active.counts[s], v[21].data);
        }
    }
    return 0;
}

static int64_t entry_calibrate_scratch(const kn_value *v)
{
    return calibrate_scratch(v[0].integer);
}

#define TABLE_ENTRIES                                                                                                  \
    {"best_in_table", TABLE "[d]2 [d]1 [IQ]1 i [q]1", entry_best_in_table},                                            \
    {"learn_in_table",                                                                                                 \
     TABLE "[f]1w [f]2w [IQ]1w f f [q]1w " CALIBRATION "[q]1 [?]1 i " READOUT_OR_NONE "f i i [d]1wo",                  \
     entry_learn_in_table},                                                                                            \
    {"calibrate", CALIBRATION "[q]1 " ACTIVE_FLOATS "[q]1 i i [d]1w", entry_calibrate},                                \
    {"calibrate_scratch", "i", entry_calibrate_scratch},
