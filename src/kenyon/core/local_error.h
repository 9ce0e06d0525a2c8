/* A hidden layer that learns from an error of its own:
 *
 *     x_o = W' x_e,   h = ReLU(x_o),   e[c] = y[c] - sum over j of B[c, j] h[j]
 *     W[i, j] += rate * x_e[i] * sum over c of B[c, j] e[c]        where x_o[j] > 0
 */

#ifndef KENYON_LOCAL_ERROR_H
#define KENYON_LOCAL_ERROR_H

#include "plastic.h"

typedef struct {
    float *weights;          /* (n_units, width) */
    const float *readout;    /* B: (n_classes, width), zero in the padding */
    int64_t width, n_classes;
    kn_active active;
    int64_t first, last;
    const int64_t *labels;
    float rate;
    float *outputs;          /* (last - first, width): x_o before a sample is learned */
    float *signal;           /* (width) scratch */
    float *error;            /* (n_classes) scratch */
} kn_local;

/* Learn samples in order; the first that diverged, which is not learned, or last. */
HELPER int64_t learn_by_local_error(const kn_local *p)
{
    float *restrict signal = p->signal;
    for (int64_t s = p->first; s < p->last; s++) {
        const int64_t at = s * p->active.stride;
        float *restrict x_o = p->outputs + (s - p->first) * p->width;
        forward_one(p->weights, p->width, p->active.units + at, p->active.floats + at, p->active.counts[s], x_o);
        for (int64_t j = 0; j < p->width; j++) {
            if (!(fabs((double)x_o[j]) <= DIVERGED)) {
                return s;
            }
        }
        if (p->labels[s] == NO_LABEL) {
            continue;
        }
        for (int64_t c = 0; c < p->n_classes; c++) {
            const float *row = p->readout + c * p->width;
            float total = 0;
            for (int64_t j = 0; j < p->width; j++) {
                if (x_o[j] > 0) {
                    total += row[j] * x_o[j];
                }
            }
            p->error[c] = (c == p->labels[s] ? 1.0f : 0.0f) - total;
        }
        memset(signal, 0, sizeof(float) * (size_t)p->width);
        for (int64_t c = 0; c < p->n_classes; c++) {
            const float *row = p->readout + c * p->width, error = p->error[c];
            for (int64_t j = 0; j < p->width; j++) {
                signal[j] += row[j] * error;
            }
        }
        for (int64_t j = 0; j < p->width; j++) {
            signal[j] = x_o[j] <= 0 ? 0 : signal[j];
        }
        for (int64_t k = 0; k < p->active.counts[s]; k++) {
            float *restrict row = p->weights + (int64_t)p->active.units[at + k] * p->width;
            const float step = p->rate * p->active.floats[at + k];
            for (int64_t j = 0; j < p->width; j++) {
                row[j] += step * signal[j];
            }
        }
    }
    return p->last;
}

#endif
