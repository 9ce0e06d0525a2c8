/* Sums of the activity of the samples of each class, in integers; kenyon.layers.CountingLayer defines them.
 *
 *     S[i, j] += c[i],   n[j] += 1        for a sample of class j, c its activity in 1 / 65536
 *     x_o[j]   = sum over active units of min(S[i, j] / (65536 n[j]), most) * c[i] / 65536
 *
 * or by naive Bayes, with a the smoothing in 1 / 65536 and N the units:
 *
 *     x_o[j]   = sum over active units of (log(S[i, j] + a) - log(sum over i of S[i, j] + a N)) * c[i] / 65536
 *
 * A template, included once for each pair of types SUM and COUNT.
 */
#ifndef KENYON_COUNTING_H
#define KENYON_COUNTING_H

#include "levels.h"
#include "plastic.h"

#define ONE 65536 /* an activity of 1 */

/* The activity of a unit in a sample of length 1, in 1 / ONE. */
HELPER int64_t part_of(kn_active active, int64_t at, int64_t scale)
{
    return active.bytes ? down(active.bytes[at] * scale, 12) : (int64_t)((double)active.floats[at] * ONE + 0.5);
}

HELPER int64_t scale_of(kn_active active, int64_t s)
{
    return active.bytes ? reciprocal_of(active.bytes + s * active.stride, active.counts[s]) : 0;
}
#endif

HELPER void NAMED(add_counts)(SUM *sums, COUNT *trained, int64_t width, kn_active active, int64_t first, int64_t last,
                              const int64_t *labels, const uint8_t *plastic)
{
    for (int64_t s = first; s < last; s++) {
        const int64_t j = labels[s], at = s * active.stride;
        if (j < 0 || !plastic[j]) {
            continue;
        }
        const int64_t scale = scale_of(active, s), count = active.counts[s];
        const uint32_t *units = active.units + at;
        if (active.bytes) {
            for (int64_t a = 0; a < count; a++) {
                sums[units[a] * width + j] += (SUM)down(active.bytes[at + a] * scale, 12);
            }
        } else {
            for (int64_t a = 0; a < count; a++) {
                sums[units[a] * width + j] += (SUM)part_of(active, at + a, scale);
            }
        }
        trained[j]++;
    }
}

HELPER void NAMED(read_counts)(const SUM *sums, const COUNT *trained, int64_t width, kn_active active, int64_t first,
                               int64_t last, double most, float *out)
{
    for (int64_t s = first; s < last; s++) {
        const int64_t at = s * active.stride, scale = scale_of(active, s);
        for (int64_t group = 0; group < width; group += WIDTH) {
            double each[WIDTH], total[WIDTH];
            for (int lane = 0; lane < WIDTH; lane++) {
                const COUNT n = trained[group + lane];
                each[lane] = 1.0 / ((double)(n ? n : 1) * ONE);
                total[lane] = 0;
            }
            for (int64_t a = 0; a < active.counts[s]; a++) {
                const SUM *row = sums + active.units[at + a] * width + group;
                const double part = (double)part_of(active, at + a, scale);
                for (int lane = 0; lane < WIDTH; lane++) {
                    const double mean = (double)row[lane] * each[lane];
                    total[lane] += (most < mean ? most : mean) * part;
                }
            }
            for (int lane = 0; lane < WIDTH; lane++) {
                out[(s - first) * width + group + lane] = (float)(total[lane] / ONE);
            }
        }
    }
}

/* totals: (width) the sums over all units. */
HELPER void NAMED(read_bayes)(const SUM *sums, const COUNT *trained, int64_t width, int64_t n_units, kn_active active,
                              int64_t first, int64_t last, const double *totals, double smoothing, float *out)
{
    (void)trained;
    for (int64_t j = 0; j < width; j++) {
        const double all_units = log(totals[j] + smoothing * (double)n_units);
        for (int64_t s = first; s < last; s++) {
            const int64_t at = s * active.stride, scale = scale_of(active, s);
            double total = 0;
            for (int64_t a = 0; a < active.counts[s]; a++) {
                const double one = log((double)sums[active.units[at + a] * width + j] + smoothing) - all_units;
                total += one * (double)part_of(active, at + a, scale);
            }
            out[(s - first) * width + j] = (float)(total / ONE);
        }
    }
}

#undef SUM
#undef COUNT
#undef NAMED
