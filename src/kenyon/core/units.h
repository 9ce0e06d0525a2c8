/* Units of a table's inputs: a centre and a width each, and the moments that they follow.
 *
 *     z_i = (u_i - centre_i) / width_i,   beyond * usual_i at most;   beyond the knee  sign(z_i) (2 sqrt(knee |z_i|) - knee)
 *
 * Everything is in float64, sample by sample and input by input, and rounded to float32 once at the end. */

#ifndef KENYON_UNITS_H
#define KENYON_UNITS_H

#include "vectors.h"

typedef struct {
    int64_t n_inputs;
    double *centres;
    double *widths;                   /* 0: the input has not varied; -1: it had no value so far */
    double *usual;                    /* how far out values are, in widths; 1 or more */
    double *counts, *means, *spreads; /* moments of values that lie no farther out than they may */
    double knee, beyond;
} units_inputs;

/* How many widths a value is from the centre. */
KN_INLINE double units_distance(const units_inputs *units, int64_t i, double value)
{
    if (units->widths[i] <= 0.0 || value != value) {
        return 0.0;
    }
    const double limit = units->beyond * units->usual[i];
    const double z = (value - units->centres[i]) / units->widths[i];
    return z > limit ? limit : z < -limit ? -limit : z;
}

static void units_scale(const units_inputs *units, const double *sample, float *out)
{
    for (int64_t i = 0; i < units->n_inputs; i++) {
        const double z = units_distance(units, i, sample[i]);
        double size = fabs(z);
        if (size > units->knee) {
            size = 2.0 * sqrt(units->knee * size) - units->knee; /* goes on from the line with the same slope */
        }
        out[i] = (float)(z >= 0 ? size : -size);
    }
}

/* counting: whether the moments are still of use. */
static void units_count(const units_inputs *units, const double *sample, int counting)
{
    for (int64_t i = 0; i < units->n_inputs; i++) {
        double value = sample[i];
        if (value != value) {
            continue;
        }
        if (units->widths[i] > 0.0) {
            const double z = units_distance(units, i, value), usual = units->usual[i];
            const double moved = usual + (fabs(z) - usual) / 16.0;
            value = units->centres[i] + units->widths[i] * z;
            units->usual[i] = moved > 1.0 ? moved : 1.0;
        } else if (units->widths[i] < 0.0) {
            units->centres[i] = value;
            units->widths[i] = 0.0;
        } else {
            units->widths[i] = fabs(value - units->centres[i]);
        }
        if (counting) {
            const double distance = value - units->means[i];
            units->counts[i] += 1.0;
            units->means[i] += distance / units->counts[i];
            units->spreads[i] += distance * (value - units->means[i]);
        }
    }
}

#endif
