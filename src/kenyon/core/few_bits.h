/* One neuron whose weights have few bits, each step rounded by chance; kenyon.layers.FewBitLayer defines every bit.
 *
 *     z = score,   n += 1,   q[i] += a[i] R step(z, q[i], n) / 2^e, rounded by chance, within the levels there are
 *
 * A template, included once for each rule, with
 *
 *     RULE                        its name, of which the functions get theirs
 *     RULE_LIMITED, RULE_SCORED   1 where the rule has a limit and a score of its own
 *
 * and the functions rule_step_RULE, rule_limit_RULE and rule_score_RULE. A sample is a list of units and their bytes; a
 * device says by SAMPLE what else it is.
 */
#include "levels.h"

#ifndef SAMPLE
#define SAMPLE const uint32_t *units, const uint8_t *values, size_t count
#define SAMPLE_ARGUMENTS units, values, count
#define SAMPLE_SIZE count
#define SAMPLE_UNIT(a) units[a]
#define SAMPLE_VALUE(a) values[a]
#endif

#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_(a, b)
#define STEP PASTE(rule_step, RULE)
#define LIMIT PASTE(rule_limit, RULE)
#define SCORE PASTE(rule_score, RULE)

/* Bits of the fraction with which a limit in levels is taken. */
#define PARTS(packing) (RULE_LIMITED && (packing).bits < 7 ? 7 - (packing).bits : 0)

/* The most that a level counts for, in parts of a level. */
HELPER int32_t PASTE(highest, RULE)(kn_packing k, int64_t n, int e)
{
#if RULE_LIMITED
    return (int32_t)min64(down(up(LIMIT(n, top_level(k)), PARTS(k)), e), up(top_level(k), PARTS(k)));
#else
    UNUSED(n);
    UNUSED(e);
    return top_level(k);
#endif
}

/* The score from what the levels that are read add up to. */
HELPER int64_t PASTE(scored, RULE)(kn_packing k, int32_t sum, int64_t reciprocal, int shift, int64_t n, int e)
{
    const int64_t z = up(down(sum * reciprocal, shift + PARTS(k)), e);
#if RULE_SCORED
    return SCORE(z, n);
#else
    UNUSED(n);
    return z;
#endif
}

INLINED int64_t PASTE(score_of, RULE)(kn_packing k, kn_neuron own, SAMPLE, int64_t reciprocal, int shift)
{
    const int64_t n = max64(1, *own.trained);
    const int e = RULE_LIMITED ? *own.exponent : 0;
    const int32_t most = PASTE(highest, RULE)(k, n, e);
    int32_t sum = 0;
    for (size_t a = 0; a < SAMPLE_SIZE; a++) {
        if (SAMPLE_VALUE(a)) {
            const int32_t level = get_level(k, own.column, own.step, (uint32_t)SAMPLE_UNIT(a)) * (1 << PARTS(k));
            sum += (RULE_LIMITED && level > most ? most : level) * (int32_t)SAMPLE_VALUE(a);
        }
    }
    return PASTE(scored, RULE)(k, sum, reciprocal, shift, n, e);
}

/* Halve the levels of a neuron until the rule's limit fits into them. */
INLINED void PASTE(halve, RULE)(kn_packing k, kn_neuron own, int64_t n, uint32_t key)
{
#if RULE_LIMITED
    while (LIMIT(n, top_level(k)) > up(top_level(k), *own.exponent)) {
        const uint32_t again = mix(key + *own.exponent + 1);
        for (uint32_t i = 0; i < own.n_units; i++) {
            const int32_t level = get_level(k, own.column, own.step, i) + (int32_t)(chance(again, i) >> 31);
            put_level(k, own.column, own.step, i, (int32_t)down(level, 1));
        }
        ++*own.exponent;
    }
#else
    UNUSED(k);
    UNUSED(own);
    UNUSED(n);
    UNUSED(key);
#endif
}

/* Learn a sample in bytes. Gives the units visited. */
INLINED uint32_t PASTE(step_neuron, RULE)(kn_packing k, kn_neuron own, SAMPLE, int64_t reciprocal, int shift,
                                          const int64_t *constants)
{
    const int64_t z = PASTE(score_of, RULE)(k, own, SAMPLE_ARGUMENTS, reciprocal, shift);
    const int64_t n = min64((int64_t)*own.trained + 1, MOST_COUNT);
    const uint32_t key = key_of(own.seed, n, own.number);
    uint32_t visits = 0;
    *own.trained = (uint32_t)n;
    PASTE(halve, RULE)(k, own, n, key);
    const int e = RULE_LIMITED ? *own.exponent : 0;
    for (size_t a = 0; a < SAMPLE_SIZE; a++) {
        if (SAMPLE_VALUE(a)) {
            const uint32_t unit = (uint32_t)SAMPLE_UNIT(a);
            const int32_t level = get_level(k, own.column, own.step, unit);
            const int64_t step = clip64(STEP(z, level, n, constants), -LARGEST_STEP, LARGEST_STEP);
            const int64_t change = down(SAMPLE_VALUE(a) * down(step * reciprocal, 12), e);
            const int64_t moved = down(change + chance(key, unit), 32);
            put_level(k, own.column, own.step, unit, (int32_t)clip64(level + moved, lowest_level(k), top_level(k)));
            visits++;
        }
    }
    return visits;
}
