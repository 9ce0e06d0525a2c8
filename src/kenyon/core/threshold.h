/* From the responses of all units to their activity: the dynamic threshold, then floats of length 1, or bytes.
 *
 *     x_u = max(0, v_u - mu - beta sigma)                        mu, sigma: mean and deviation of v over the units
 *     x / |x|                                                    with unit_norm
 *     x_u = min(255, floor(scale (v_u - mu - beta sigma)))       in bytes; those that are zero are not active
 *
 * The threshold of an `exact` model is an integer: bar.h. */

#ifndef KENYON_THRESHOLD_H
#define KENYON_THRESHOLD_H

#include "bar.h"
#include "pick.h"
#include "transpose.h"

#define PARTIALS 8 /* partial sums of a reduction of floats: term number i goes to partial i % PARTIALS */

typedef struct {
    double strength; /* beta, or B where it is exact */
    double scale;    /* makes bytes of activity */
    double lowest, highest; /* what a response may be */
    int thresholded, unit_norm, exact;
    int integral; /* responses are integers */
} threshold_rule;

/* What a response must exceed, and what is then subtracted. */
typedef struct {
    double bar, shift;
} threshold_cut;

/* Room for activity: sample s has `units`, `values` (floats or bytes) from s * stride on, and counts[s] of them. */
typedef struct {
    uint32_t *units;
    float *floats; /* or NULL */
    uint8_t *bytes;
    int64_t *counts;
    int64_t stride;
} activity_out;

/* Lanes whose samples come in order. */
static const uint8_t threshold_in_order[LANES] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                                  16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

KN_INLINE double threshold_clip(double value, double low, double high)
{
    value = low > value ? low : value;
    return high < value ? high : value;
}

static threshold_cut threshold_of(double total, double squares, int64_t n_units, const threshold_rule *rule)
{
    threshold_cut cut = {0, 0};
    if (!rule->thresholded) {
        return cut;
    }
    if (rule->exact) {
        cut.bar = cut.shift = (double)bar_of((int64_t)total, (int64_t)squares, n_units, (int64_t)rule->strength,
                                             (int64_t)rule->lowest, (int64_t)rule->highest);
        return cut;
    }
    const double mean = total / (double)n_units, variance = squares / (double)n_units - mean * mean;
    const double theta = mean + rule->strength * sqrt(variance > 0.0 ? variance : 0.0);
    if (rule->integral) {
        cut.bar = threshold_clip(floor(theta), rule->lowest, rule->highest);
        cut.shift = theta;
    } else {
        cut.bar = cut.shift = (double)(float)theta;
    }
    return cut;
}

/* Subtract the threshold from active responses and scale them to unit length. */
static void threshold_finish(float *row, int64_t count, double shift, int unit_norm)
{
    double partial[PARTIALS] = {0}, sum = 0;
    for (int64_t a = 0; a < count; a++) {
        row[a] = (float)((double)row[a] - shift);
    }
    if (!unit_norm || !count) {
        return;
    }
    const int64_t whole = count - count % PARTIALS;
    for (int64_t first = 0; first < whole; first += PARTIALS) {
        for (int p = 0; p < PARTIALS; p++) {
            partial[p] += (double)row[first + p] * (double)row[first + p];
        }
    }
    for (int64_t a = whole; a < count; a++) {
        partial[a - whole] += (double)row[a] * (double)row[a];
    }
    for (int p = 0; p < PARTIALS; p++) {
        sum += partial[p];
    }
    const float scale = (float)(1.0 / sqrt(sum));
    for (int64_t a = 0; a < count; a++) {
        row[a] *= scale;
    }
}

/* Units with their responses as bytes of activity, those that are zero left out; gives how many are left. */
#define THRESHOLD_BYTES(name, number)                                                                                  \
    KN_INLINE int64_t name(const uint32_t *picked, const number *responses, int64_t n, double bar, double scale,       \
                           uint32_t *units, uint8_t *values)                                                           \
    {                                                                                                                  \
        int64_t left = 0;                                                                                              \
        for (int64_t a = 0; a < n; a++) {                                                                              \
            const double value = ((double)responses[a] - bar) * scale;                                                 \
            units[left] = picked[a];                                                                                   \
            values[left] = (uint8_t)(value < 255.0 ? value : 255.0);                                                   \
            left += value >= 1.0;                                                                                      \
        }                                                                                                              \
        return left;                                                                                                   \
    }

THRESHOLD_BYTES(threshold_bytes_int, int32_t)
THRESHOLD_BYTES(threshold_bytes_float, float)

/* Of the responses of n units from number `first` on, THRESHOLD_RUN at most, the active ones follow those that a sample
 * has already. */
#define THRESHOLD_RUN 256

#define THRESHOLD_APPEND(name, number, wide, pick_floats, pick_numbers, as_bytes)                                      \
    static void name(const number *responses, int64_t first, int64_t n, const threshold_rule *rule,                    \
                     threshold_cut cut, const activity_out *out, int64_t sample)                                       \
    {                                                                                                                  \
        const int64_t count = out->counts[sample], at = sample * out->stride + count;                                  \
        if (out->floats) {                                                                                             \
            out->counts[sample] = count + pick_floats(responses, n, (number)cut.bar, (uint32_t)first, out->units + at, \
                                                      out->floats + at);                                               \
        } else {                                                                                                       \
            uint32_t units[THRESHOLD_RUN];                                                                             \
            wide picked[THRESHOLD_RUN];                                                                                \
            const int64_t n_picked = pick_numbers(responses, n, (number)cut.bar, (uint32_t)first, units, picked);      \
            out->counts[sample] = count + as_bytes(units, picked, n_picked, cut.bar, rule->scale, out->units + at,     \
                                                   out->bytes + at);                                                   \
        }                                                                                                              \
    }

THRESHOLD_APPEND(threshold_append_short, int16_t, int32_t, pick_short_floats, pick_short_numbers, threshold_bytes_int)
THRESHOLD_APPEND(threshold_append_int, int32_t, int32_t, pick_int_floats, pick_int_numbers, threshold_bytes_int)
THRESHOLD_APPEND(threshold_append_float, float, float, pick_float_floats, pick_float_numbers, threshold_bytes_float)

/* The activity of n samples from their responses (units, LANES); lanes[l] is the sample of lane l, which is number
 * `first` + lanes[l] of the room, and cuts[l] its threshold. */
#define THRESHOLD_BLOCK(name, number, transpose, append)                                                               \
    static void name(const number *responses, int64_t n_units, int64_t n, const uint8_t *lanes,                        \
                     const threshold_rule *rule, const threshold_cut *cuts, const activity_out *out, int64_t first)    \
    {                                                                                                                  \
        number run[LANES * THRESHOLD_RUN];                                                                             \
        memset(out->counts + first, 0, sizeof *out->counts * (size_t)n);                                               \
        for (int64_t unit = 0; unit < n_units; unit += THRESHOLD_RUN) {                                                \
            const int64_t some = n_units - unit < THRESHOLD_RUN ? n_units - unit : THRESHOLD_RUN;                      \
            transpose(responses + unit * LANES, some, LANES, LANES, run, THRESHOLD_RUN);                               \
            for (int lane = 0; lane < LANES; lane++) {                                                                 \
                if (lanes[lane] < n) {                                                                                 \
                    append(run + lane * THRESHOLD_RUN, unit, some, rule, cuts[lane], out, first + lanes[lane]);        \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        for (int lane = 0; lane < LANES; lane++) {                                                                     \
            if (lanes[lane] < n) {                                                                                     \
                threshold_end(rule, cuts[lane], out, first + lanes[lane]);                                             \
            }                                                                                                          \
        }                                                                                                              \
    }

/* What is left when all active units of a sample are in place. */
static void threshold_end(const threshold_rule *rule, threshold_cut cut, const activity_out *out, int64_t sample)
{
    if (out->floats) {
        threshold_finish(out->floats + sample * out->stride, out->counts[sample], cut.shift, rule->unit_norm);
    }
}

THRESHOLD_BLOCK(threshold_block_short, int16_t, transpose_short, threshold_append_short)
THRESHOLD_BLOCK(threshold_block_int, int32_t, transpose_int, threshold_append_int)
THRESHOLD_BLOCK(threshold_block_float, float, transpose_float, threshold_append_float)

/* The activity of one sample from its responses. */
#define THRESHOLD_ONE(name, number, append)                                                                            \
    static void name(const number *responses, int64_t n_units, const threshold_rule *rule, threshold_cut cut,          \
                     const activity_out *out, int64_t sample)                                                          \
    {                                                                                                                  \
        out->counts[sample] = 0;                                                                                       \
        for (int64_t unit = 0; unit < n_units; unit += THRESHOLD_RUN) {                                                \
            const int64_t some = n_units - unit < THRESHOLD_RUN ? n_units - unit : THRESHOLD_RUN;                      \
            append(responses + unit, unit, some, rule, cut, out, sample);                                              \
        }                                                                                                              \
        threshold_end(rule, cut, out, sample);                                                                         \
    }

THRESHOLD_ONE(threshold_one_short, int16_t, threshold_append_short)
THRESHOLD_ONE(threshold_one_int, int32_t, threshold_append_int)
THRESHOLD_ONE(threshold_one_float, float, threshold_append_float)

#undef THRESHOLD_BYTES
#undef THRESHOLD_APPEND
#undef THRESHOLD_BLOCK
#undef THRESHOLD_ONE

#endif
