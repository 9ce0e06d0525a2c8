/* A sample predicted by an earlier readout before it is learned, and what that tells (kenyon/model/calibration.py).
 *
 *     s_k = n / (n + few C) (score_k - the largest),         C classes that the readout of n samples knows
 *     loss(theta) = log sum_k exp(theta s_k) - theta s_j,    for a sample of class j
 *
 * Losses are added up in 2^-20. Every other theta is twice one before it, so that its exponentials are squares. Sums are
 * in the order of the classes: the same bits for one sample and for many. */

#ifndef KENYON_CALIBRATE_H
#define KENYON_CALIBRATE_H

#include <math.h>

#include "vectors.h"

#define CALIBRATE_UNIT 1048576.0
#define CALIBRATE_WORST 30.0    /* a loss counts for so much at most */
#define CALIBRATE_NEVER (-1e29f) /* offsets below are those of classes that the readout does not know */
#define CALIBRATE_MORE 4 /* the readout is replaced when there is one sample more for so many; calibration.py has it too */

typedef struct {
    const double *thetas; /* each of them 2^(1/2) times the one before */
    int64_t n_thetas;
    double few;
    const float *readout, *offsets; /* (units, width), (width) */
    const float *plain, *plain_offsets; /* the same of the first units alone */
    int64_t n_plain;                    /* how many: 0 where only one readout is compared */
    int64_t width;
    double *hits, *trials, *squares; /* (width) */
    int64_t *losses;                 /* (thetas) */
    double *period;                  /* hits and trials since the readout was replaced */
    double *race; /* samples that the plain readout alone was right on, and the other alone; class of the last, plus 1 */
    int64_t first;                   /* units that predict: n_plain, or 0 for all */
    int64_t since;                   /* samples that it is of; 0 for no readout */
} kn_calibration;

/* Whether the readout is replaced before the next sample, so many having been learned. */
KN_INLINE int calibrate_is_due(const kn_calibration *c, int64_t time)
{
    return time >= 1 && (!c->since || time >= c->since + c->since / CALIBRATE_MORE + 1);
}

/* Doubles of scratch. */
KN_INLINE int64_t calibrate_scratch(int64_t width)
{
    return 4 * width;
}

/* How many of the active units of a sample, in ascending order, are among the first. */
KN_INLINE int64_t count_first(const uint32_t *units, int64_t count, int64_t first)
{
    while (count > 0 && units[count - 1] >= first) {
        count--;
    }
    return count;
}

/* Scores of the head's classes that a readout knows, of so many units; the place of the largest. */
static int64_t calibrate_scores(const float *readout, const float *offsets, int64_t width, const int64_t *head,
                                int64_t n_head, const uint32_t *units, const float *values, int64_t count, float *total,
                                double *scores)
{
    int64_t n = 0, best = 0;
    memset(total, 0, sizeof *total * (size_t)width);
    for (int64_t a = 0; a < count; a++) {
        const float *row = readout + units[a] * width, value = values[a];
        for (int64_t k = 0; k < width; k++) {
            total[k] += value * row[k];
        }
    }
    for (int64_t i = 0; i < n_head; i++) {
        const int64_t k = head[i];
        if (offsets[k] > CALIBRATE_NEVER) {
            scores[n] = (double)(total[k] + offsets[k]);
            best = scores[n] > scores[best] ? n : best;
            n++;
        }
    }
    return best;
}

/* A sample of class j, one of the head's, with active units in ascending order. */
static void calibrate_one(const kn_calibration *c, const int64_t *head, int64_t n_head, int64_t j, const uint32_t *units,
                          const float *values, int64_t count, double *scratch)
{
    double *scores = scratch, *even = scores + c->width, *odd = even + c->width;
    float *total = (float *)(odd + c->width);
    int64_t n = 0, own = -1;
    if (!c->since) {
        return;
    }
    const int changed = c->race[2] != (double)(j + 1);
    c->race[2] = (double)(j + 1);
    if (!(c->offsets[j] > CALIBRATE_NEVER)) {
        return;
    }
    for (int64_t i = 0; i < n_head; i++) {
        own = head[i] == j ? n : own;
        n += c->offsets[head[i]] > CALIBRATE_NEVER;
    }
    if (n < 2 || own < 0) {
        return;
    }
    int64_t best = calibrate_scores(c->readout, c->offsets, c->width, head, n_head, units, values, count, total, scores);
    if (c->n_plain) {
        double *others = c->first ? scores : even;
        const int64_t plain = calibrate_scores(c->plain, c->plain_offsets, c->width, head, n_head, units, values,
                                               count_first(units, count, c->n_plain), total, others);
        c->race[0] += changed && plain == own && best != own;
        c->race[1] += changed && best == own && plain != own;
        best = c->first ? plain : best;
    }
    const double largest = scores[best], factor = (double)c->since / ((double)c->since + c->few * (double)n);
    for (int64_t k = 0; k < n; k++) {
        scores[k] = factor * (scores[k] - largest);
        even[k] = exp(c->thetas[0] * scores[k]);
        odd[k] = exp(c->thetas[1] * scores[k]);
    }
    for (int64_t t = 0; t < c->n_thetas; t++) {
        double *raised = t % 2 ? odd : even, sum = 0;
        for (int64_t k = 0; k < n; k++) {
            sum += raised[k];
            raised[k] *= raised[k];
        }
        const double loss = log(sum) - c->thetas[t] * scores[own];
        c->losses[t] += (int64_t)rint(CALIBRATE_UNIT * (loss < CALIBRATE_WORST ? loss : CALIBRATE_WORST));
    }
    c->period[0] += best == own;
    c->period[1] += 1;
    c->hits[j] += best == own;
    c->trials[j] += 1;
    c->squares[j] += 1;
}

#endif
