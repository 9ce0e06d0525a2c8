/* The entries of one rule; included by rule.h for each.
 *
 *     learn(by_column, weights, sums, trained, units, values, counts, first, last, labels, plastic, beta, lowest,
 *           highest, least, most, outputs, dense, clock, modulation)
 *                                                      plastic.h says what they are; gives the first that diverged, or last
 *     outputs(weights, trained, units, values, counts, first, last, parameters, out)
 *     each(weights, trained, parameters, out)
 *     whole(bits, sign, weights, trained, exponents, units, values, counts, first, last, n_units, labels, plastic,
 *           seed, shift, constants, scores)
 *     levels(.. as whole up to seed .., level, beta, outputs)       beta may be one row for all samples
 */
#include "active.h"

#define LEARN_SIGNATURE                                                                                                \
    "i [f]2w [d]1wo [I]1wo " ACTIVE_FLOATS "i i [q]1 [?]1 [f]2 f f f f [f]2wo [f]1wo [q]1wo [f]1o"
#define OUTPUTS_SIGNATURE "[f]2 [I]1o " ACTIVE_FLOATS "i i [f]1 [f]2w"
#define EACH_SIGNATURE "[f]2 [I]1o [f]1 [f]2w"
#define LEVELS_COMMON(active) "i i [B]2w [I]1w [B]1wo " active "i i i [q]1o [?]1o u "
#define INTEGERS_SIGNATURE LEVELS_COMMON(ACTIVE_BYTES) "i [q]1 [i]2wo"
#define LEVELS_SIGNATURE LEVELS_COMMON(ACTIVE_FLOATS) "f [f]2 [f]2wo"

static int64_t PASTE(entry_learn, RULE)(const kn_value *v)
{
    const kn_plastic p = {
        .weights = v[1].data,
        .sums = v[2].data,
        .trained = v[3].data,
        .n_units = v[1].shape[0],
        .width = v[1].shape[1],
        .active = active_of(v + 4),
        .first = v[7].integer,
        .last = v[8].integer,
        .labels = v[9].data,
        .plastic = v[10].data,
        .beta = v[11].data,
        .n_beta = v[11].shape[1],
        .lowest = (float)v[12].number,
        .highest = (float)v[13].number,
        .least = (float)v[14].number,
        .most = (float)v[15].number,
        .outputs = v[16].data,
        .dense = v[17].data,
        .clock = v[18].data,
        .modulation = v[19].data,
    };
#if RULE_GATED
    if (v[0].integer) {
        return PASTE(learn_columns, RULE)(&p);
    }
#endif
    return PASTE(learn_rows, RULE)(&p);
}

#if RULE_READS
static int64_t PASTE(entry_outputs, RULE)(const kn_value *v)
{
    PASTE(outputs, RULE)
    (v[0].data, v[1].data, v[0].shape[0], v[0].shape[1], active_of(v + 2), v[5].integer, v[6].integer, v[7].data,
     v[8].data);
    return 0;
}

static int64_t PASTE(entry_each, RULE)(const kn_value *v)
{
    PASTE(each, RULE)(v[0].data, v[1].data, v[0].shape[0], v[0].shape[1], v[2].data, v[3].data, v[3].shape[1]);
    return 0;
}
#endif

#if RULE_LEVELS
static kn_levels PASTE(levels_from, RULE)(const kn_value *v)
{
    const kn_levels p = {
        .packing = {(int)v[0].integer, (int)v[1].integer},
        .weights = v[2].data,
        .width = v[2].shape[1],
        .trained = v[3].data,
        .exponents = v[4].data,
        .active = active_of(v + 5),
        .first = v[8].integer,
        .last = v[9].integer,
        .n_units = v[10].integer,
        .labels = v[11].data,
        .plastic = v[12].data,
        .seed = (uint32_t)v[13].integer,
    };
    return p;
}

#if RULE_INTEGERS
static int64_t PASTE(entry_integers, RULE)(const kn_value *v)
{
    kn_levels p = PASTE(levels_from, RULE)(v);
    p.shift = (int)v[14].integer;
    p.constants = v[15].data;
    p.scores = v[16].data;
    PASTE(learn_integers, RULE)(&p);
    return 0;
}
#endif

static int64_t PASTE(entry_levels, RULE)(const kn_value *v)
{
    kn_levels p = PASTE(levels_from, RULE)(v);
    p.level = v[14].number;
    p.beta = v[15].data;
    p.n_beta = v[15].shape[0] == 1 ? 0 : v[15].shape[1];
    p.outputs = v[16].data;
    PASTE(learn_levels, RULE)(&p);
    return 0;
}
#endif
