/* Blocks of samples learned by weights of few bits, in bytes or in floats.
 *
 * A template, included once for each rule after learn.h and few_bits.h, with
 *
 *     RULE_INTEGERS               1 where it learns activity in bytes too
 *
 * Weights are (rows, width) bytes.
 */
#include "few_bits_state.h"

HELPER kn_neuron PASTE(neuron_of, RULE)(const kn_levels *p, int64_t j)
{
    const kn_neuron own = {p->weights + j, p->width, p->trained + j, RULE_LIMITED ? p->exponents + j : NULL,
                           (uint32_t)j, (uint32_t)p->n_units, p->seed};
    return own;
}

HELPER int PASTE(exponent, RULE)(const kn_levels *p, int64_t j)
{
    return RULE_LIMITED ? p->exponents[j] : 0;
}

/* ---- activity in bytes: everything in integers */

#if RULE_INTEGERS

CALLED int32_t PASTE(highest_of, RULE)(kn_packing k, const kn_levels *p, int64_t j)
{
    return PASTE(highest, RULE)(k, max64(p->trained[j], 1), PASTE(exponent, RULE)(p, j));
}

CALLED int32_t PASTE(scored_of, RULE)(kn_packing k, const kn_levels *p, int64_t j, int32_t sum, int64_t reciprocal)
{
    const int64_t n = max64(p->trained[j], 1);
    return (int32_t)PASTE(scored, RULE)(k, sum, reciprocal, p->shift, n, PASTE(exponent, RULE)(p, j));
}

/* The scores of one sample for all neurons, eight at a time. */
KN_INLINE void PASTE(score_all_as, RULE)(kn_packing k, const kn_levels *p, const uint32_t *units, const uint8_t *values,
                                         int64_t count, int64_t reciprocal, int32_t *out)
{
    const uint8_t *weights = p->weights;
    const int64_t width = p->width;
    for (int64_t group = 0; group < width; group += 8) {
        kn_i8 total = {0};
#if RULE_LIMITED
        kn_i8 most = {0};
        for (int lane = 0; lane < 8; lane++) {
            most[lane] = PASTE(highest_of, RULE)(k, p, group + lane);
        }
#endif
        for (int64_t a = 0; a < count; a++) {
            kn_i8 level = get_levels(k, weights + group, width, units[a]);
#if RULE_LIMITED
            level <<= PARTS(k);
            const kn_i8 less = level < most;
            level = (less & level) | (~less & most);
#endif
            total += level * (int32_t)values[a];
        }
        for (int lane = 0; lane < 8; lane++) {
            out[group + lane] = PASTE(scored_of, RULE)(k, p, group + lane, total[lane], reciprocal);
        }
    }
}

CALLED void PASTE(score_all, RULE)(kn_packing k, const kn_levels *p, const uint32_t *units, const uint8_t *values,
                                   int64_t count, int64_t reciprocal, int32_t *out)
{
    if (k.bits == 8) {
        PASTE(score_all_as, RULE)((kn_packing){8, k.sign}, p, units, values, count, reciprocal, out);
    } else {
        PASTE(score_all_as, RULE)(k, p, units, values, count, reciprocal, out);
    }
}

CALLED void PASTE(step_integers, RULE)(kn_packing k, const kn_levels *p, int64_t j, const uint32_t *units,
                                    const uint8_t *values, int64_t count, int64_t reciprocal)
{
    const kn_neuron own = PASTE(neuron_of, RULE)(p, j);
    FOR_EACH_BITS(k, PASTE(step_neuron, RULE), own, units, values, count, reciprocal, p->shift, p->constants)
}

/* Score samples in order, where scores are wanted, and learn each behind it, where there are labels. */
CALLED void PASTE(learn_integers, RULE)(const kn_levels *p)
{
    const kn_packing k = p->packing;
    for (int64_t s = p->first; s < p->last; s++) {
        const uint32_t *units = p->active.units + s * p->active.stride;
        const uint8_t *values = p->active.bytes + s * p->active.stride;
        const int64_t count = p->active.counts[s], reciprocal = reciprocal_of(values, count);
        if (p->scores) {
            PASTE(score_all, RULE)(k, p, units, values, count, reciprocal, p->scores + (s - p->first) * p->width);
        }
        if (!p->labels || p->labels[s] == NO_LABEL) {
            continue;
        }
        if (p->plastic[p->labels[s]]) {
            PASTE(step_integers, RULE)(k, p, p->labels[s], units, values, count, reciprocal);
        }
    }
}

#endif

/* ---- activity in floats */

/* The weight of one level of a neuron. */
CALLED double PASTE(level_of, RULE)(const kn_levels *p, int64_t j)
{
    return RULE_LIMITED ? p->level * (double)up(1, PASTE(exponent, RULE)(p, j)) : p->level;
}

CALLED void PASTE(read_all, RULE)(kn_packing k, const kn_levels *p, const uint32_t *units, const float *values,
                                  int64_t count, const float *beta, float *out)
{
    const uint8_t *weights = p->weights;
    const int64_t width = p->width;
    for (int64_t group = 0; group < width; group += 8) {
        const kn_f8 n = counts_of(p->trained, group);
        kn_f8 total = {0}, scale;
        for (int lane = 0; lane < 8; lane++) {
            scale[lane] = (float)PASTE(level_of, RULE)(p, group + lane);
        }
        for (int64_t a = 0; a < count; a++) {
            const kn_i8 level = get_levels(k, weights + group, width, units[a]);
            const kn_f8 w = __builtin_convertvector(level, kn_f8) * scale;
            total += READS(w, n, (float)p->n_units, beta) * values[a];
        }
        KN_STORE(out + group, total);
    }
}

KN_INLINE void PASTE(step_float_as, RULE)(kn_packing k, const kn_levels *p, int64_t j, const uint32_t *units,
                                    const float *values, int64_t count, const float *beta)
{
    uint8_t *column = p->weights + j;
    const int64_t width = p->width, low = lowest_level(k), top = top_level(k);
    float x_o = 0, scale = (float)PASTE(level_of, RULE)(p, j);
    const float before = count_of(p->trained, j);
    for (int64_t a = 0; a < count; a++) {
        const float w = (float)get_level(k, column, width, units[a]) * scale;
        x_o += READ(w, before, (float)p->n_units, beta + 2) * values[a];
    }
    const int64_t n = min64((int64_t)p->trained[j] + 1, MOST_COUNT);
    p->trained[j] = (uint32_t)n;
    const uint32_t key = key_of(p->seed, n, (uint32_t)j);
    PASTE(halve, RULE)(k, PASTE(neuron_of, RULE)(p, j), n, key);
    const double exact = PASTE(level_of, RULE)(p, j), inverse = 4294967296.0 / exact;
    scale = (float)exact;
    for (int64_t a = 0; a < count; a++) {
        const int32_t q = get_level(k, column, width, units[a]);
        const float w = (float)q * scale;
        double change = (double)MOVE(beta[0], values[a], x_o, 1, w, (float)n, beta + 2) * inverse;
        change = change > -LARGEST_CHANGE ? change : -LARGEST_CHANGE;
        change = change < LARGEST_CHANGE ? change : LARGEST_CHANGE;
        const int64_t moved = down((int64_t)change + chance(key, units[a]), 32);
        put_level(k, column, width, units[a], (int32_t)clip64(q + moved, low, top));
    }
}

CALLED void PASTE(step_float, RULE)(kn_packing k, const kn_levels *p, int64_t j, const uint32_t *units,
                                    const float *values, int64_t count, const float *beta)
{
    FOR_EACH_BITS(k, PASTE(step_float_as, RULE), p, j, units, values, count, beta)
}

/* As learn_integers, for activity in floats. */
CALLED void PASTE(learn_levels, RULE)(const kn_levels *p)
{
    const kn_packing k = p->packing;
    for (int64_t s = p->first; s < p->last; s++) {
        const uint32_t *units = p->active.units + s * p->active.stride;
        const float *values = p->active.floats + s * p->active.stride, *beta = p->beta + s * p->n_beta;
        const int64_t count = p->active.counts[s];
        if (p->outputs) {
            PASTE(read_all, RULE)(k, p, units, values, count, beta + 2, p->outputs + (s - p->first) * p->width);
        }
        if (!p->labels || p->labels[s] == NO_LABEL) {
            continue;
        }
        if (p->plastic[p->labels[s]]) {
            PASTE(step_float, RULE)(k, p, p->labels[s], units, values, count, beta);
        }
    }
}
