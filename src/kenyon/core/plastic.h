/* What learns by a rule is handed: weights, a block of activity, and what each sample is learned with.
 *
 * Weights are (n_units, width), the width a multiple of WIDTH.
 */
#ifndef KENYON_PLASTIC_H
#define KENYON_PLASTIC_H

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "activity.h"
#include "eight.h"
#include "numbers.h"

typedef struct {
    float *weights;        /* (n_units, width) */
    double *sums;          /* (width), of each neuron's weights; NULL where the rule has no window */
    uint32_t *trained;      /* (width), samples that each neuron learned; NULL where nobody asks */
    int64_t n_units, width;
    kn_active active;
    int64_t first, last;   /* samples of the block: first .. last - 1 */
    const int64_t *labels; /* the neuron whose x_m is 1, 0 for all others; or NO_LABEL */
    const float *modulation; /* x_m of that neuron, sample by sample; NULL for 1 */
    const uint8_t *plastic; /* (width), the neurons that may change */
    const float *beta;     /* (block, n_beta): learning rate, window, parameters of the rule */
    int64_t n_beta;
    float lowest, highest; /* weight */
    float least, most;     /* output */
    float *outputs;        /* (last - first, width): x_o before a sample is learned; NULL where not wanted */
    float *dense;          /* (n_units) zeros: scratch where synapses without activity change too, else NULL */
    int64_t *clock;        /* (2) time and synapses visited, moved on with every sample; or NULL */
} kn_plastic;

/* x_o of one sample: the sum over its active units, in order, of weights[unit, j] * x_e; for `eights` times 8 neurons. */
KN_INLINE void forward_some(const int eights, const float *weights, int64_t width, const uint32_t *units,
                            const float *values, int64_t count, float *out)
{
    kn_f8 total[4];
    for (int k = 0; k < eights; k++) {
        total[k] = (kn_f8){0};
    }
    for (int64_t a = 0; a < count; a++) {
        const float *row = weights + (int64_t)units[a] * width, value = values[a];
        for (int k = 0; k < eights; k++) {
            kn_f8 some;
            KN_LOAD(some, row + 8 * k);
            total[k] += some * value;
        }
    }
    for (int k = 0; k < eights; k++) {
        KN_STORE(out + 8 * k, total[k]);
    }
}

CALLED void forward_one(const float *weights, int64_t width, const uint32_t *units, const float *values, int64_t count,
                        float *out)
{
    int64_t column = 0;
    for (; column + 32 <= width; column += 32) {
        forward_some(4, weights + column, width, units, values, count, out + column);
    }
    for (; column + 16 <= width; column += 16) {
        forward_some(2, weights + column, width, units, values, count, out + column);
    }
    for (; column < width; column += 8) {
        forward_some(1, weights + column, width, units, values, count, out + column);
    }
}

HELPER float min_float(float a, float b)
{
    return b < a ? b : a;
}

HELPER float max_float(float a, float b)
{
    return b > a ? b : a;
}

/* An output within its bounds. */
HELPER float bound_output(const kn_plastic *p, float x_o)
{
    return max_float(min_float(x_o, p->most), p->least);
}

CALLED void bound_outputs(const kn_plastic *p, float *out)
{
    for (int64_t j = 0; j < p->width; j++) {
        out[j] = bound_output(p, out[j]);
    }
}

HELPER double min_double(double a, double b)
{
    return b < a ? b : a;
}

HELPER double max_double(double a, double b)
{
    return b > a ? b : a;
}

HELPER float modulation_of(const kn_plastic *p, int64_t sample)
{
    return p->modulation ? p->modulation[sample] : 1;
}

HELPER float count_of(const uint32_t *trained, int64_t j)
{
    return trained && trained[j] > 1 ? (float)trained[j] : 1;
}

/* Samples that eight neurons learned, from 1 on. */
CALLED kn_f8 counts_of(const uint32_t *trained, int64_t j)
{
    float n[8];
    kn_f8 eight;
    for (int lane = 0; lane < 8; lane++) {
        n[lane] = count_of(trained, j + lane);
    }
    KN_LOAD(eight, n);
    return eight;
}

/* What eight neurons bring along to a sample, which is counted here. */
typedef struct {
    kn_f8 x_o, x_m, n;
    kn_f8 free; /* 1 where a neuron may change, else 0 */
    kn_f8 mean; /* of its weights, where there is a window */
    kn_f8 moved;
} kn_neurons;

CALLED void begin_neurons(const kn_plastic *p, int64_t first, int64_t label, float signal, const float *out,
                          kn_neurons *to)
{
    float free[8], mean[8], x_m[8];
    for (int lane = 0; lane < 8; lane++) {
        const int64_t j = first + lane;
        free[lane] = p->plastic[j] ? 1 : 0;
        x_m[lane] = j == label ? signal : 0;
        mean[lane] = p->sums ? (float)(p->sums[j] / (double)p->n_units) : 0;
        if (p->trained && p->plastic[j] && j == label) {
            p->trained[j]++;
        }
    }
    KN_LOAD(to->x_o, out + first);
    KN_LOAD(to->x_m, x_m);
    KN_LOAD(to->free, free);
    KN_LOAD(to->mean, mean);
    to->n = counts_of(p->trained, first);
    to->moved = (kn_f8){0};
}

CALLED void end_neurons(const kn_plastic *p, int64_t first, const kn_neurons *from)
{
    for (int lane = 0; lane < 8; lane++) {
        p->sums[first + lane] += from->moved[lane];
    }
}

/* Set the activity of all units, or clear it. */
CALLED void set_dense(float *dense, const uint32_t *units, const float *values, int64_t count)
{
    for (int64_t a = 0; a < count; a++) {
        dense[units[a]] = values ? values[a] : 0;
    }
}

/* Whether a neuron that may change has run away. */
CALLED int has_diverged(const kn_plastic *p, const float *out)
{
    int far = 0;
    for (int64_t j = 0; j < p->width; j++) {
        far |= p->plastic[j] && !(fabs((double)out[j]) < DIVERGED);
    }
    return far;
}

#endif
