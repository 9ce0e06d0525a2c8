/* What entries of features have in common: how activity is made of responses, and where it goes. */

#include "../threshold.h"

/* strength, thresholded, unit_norm, scale, exact: see threshold.h. */
#define RULE_SIGNATURE "f i i f i"
#define RULE_VALUES 5

static threshold_rule rule_of(const kn_value *v, char samples, char responses)
{
    threshold_rule rule = {.strength = v[0].number,
                           .thresholded = v[1].integer != 0,
                           .unit_norm = v[2].integer != 0,
                           .scale = v[3].number,
                           .exact = v[4].integer != 0,
                           .integral = samples == 'B'};
    rule.lowest = responses == 'h' ? INT16_MIN : responses == 'i' ? INT32_MIN : -HUGE_VAL;
    rule.highest = responses == 'h' ? INT16_MAX : responses == 'i' ? INT32_MAX : HUGE_VAL;
    return rule;
}

/* units, values, counts: sample s has the active units units[s, :counts[s]] with values[s, :counts[s]]. */
#define OUT_SIGNATURE "[I]2w [fB]2w [q]1w"

static activity_out out_of(const kn_value *v)
{
    const activity_out out = {.units = v[0].data,
                              .floats = v[1].type == 'f' ? v[1].data : NULL,
                              .bytes = v[1].type == 'B' ? v[1].data : NULL,
                              .counts = v[2].data,
                              .stride = v[0].shape[1]};
    return out;
}
