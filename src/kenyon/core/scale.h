/* Running moments of the inputs, and samples scaled by them.
 *
 *     z_i = (u_i - mean_i) / deviation_i,     beyond the knee  sign(z_i) (2 sqrt(knee |z_i|) - knee)
 *
 * Everything is in float64, sample by sample and input by input, and rounded to float32 once at the end. Inputs may share
 * their moments: groups[i] is the number of those of input i. */

#ifndef KENYON_SCALE_H
#define KENYON_SCALE_H

#include "vectors.h"

typedef struct {
    const int64_t *groups;
    int64_t n_inputs, n_groups;
    double *counts, *means, *spreads; /* (groups); spreads: sums of squared distances from the mean */
    double knee, farthest, unit;      /* farther than the farthest is as far as that; unit: what a deviation becomes */
    double held, most;                /* how often values are counted: of a group that never varied, and of any */
    int moving;                       /* further values then take the place of old ones */
    double *deviations;               /* (groups) scratch memory */
} scale_moments;

KN_INLINE void scale_sample(const scale_moments *m, const double *sample, float *out)
{
    for (int64_t g = 0; g < m->n_groups; g++) {
        m->deviations[g] = m->counts[g] > 0 ? sqrt(m->spreads[g] / m->counts[g]) : 0.0;
    }
    for (int64_t i = 0; i < m->n_inputs; i++) {
        const int64_t g = m->groups[i];
        const double value = sample[i], deviation = m->deviations[g];
        if (deviation == 0.0 || value != value) { /* not seen to vary yet, or absent: as if it were the mean */
            out[i] = 0;
            continue;
        }
        double z = (value - m->means[g]) / deviation;
        double size = fabs(z) > m->farthest ? m->farthest : fabs(z);
        if (size > m->knee) {
            size = 2.0 * sqrt(m->knee * size) - m->knee; /* goes on from the line with the same slope */
            z = z > 0 ? size : -size;
        }
        out[i] = (float)(m->unit * z);
    }
}

static void scale_count(const scale_moments *m, const double *sample)
{
    for (int64_t i = 0; i < m->n_inputs; i++) {
        const int64_t g = m->groups[i];
        const double value = sample[i], distance = value - m->means[g];
        double n = m->counts[g];
        if (value != value || (n >= m->most && !m->moving)) {
            continue;
        }
        if (m->spreads[g] == 0.0 && distance == 0.0 && n >= m->held) {
            continue;
        }
        if (n >= m->most) {
            m->spreads[g] *= m->most / (m->most + 1.0);
        } else {
            n += 1.0;
        }
        m->means[g] += distance / n;
        m->spreads[g] += distance * (value - m->means[g]);
        m->counts[g] = n;
    }
}

#endif
