/* A dense projection: signed sums of all inputs, each unit's in ascending order of the inputs, in float32.
 *
 *     x_u = sum_i s_ui v_i            and in bytes  x_u = min(255, max(0, rint(gain x_u / |v|) + middle)) */

#ifndef KENYON_DENSE_H
#define KENYON_DENSE_H

#include "vectors.h"

/* signs: (inputs, units); sums: (units). */
KN_INLINE void dense_add(float value, const float *signs, int64_t n_units, float *sums)
{
    if (value != 0) {
        for (int64_t unit = 0; unit < n_units; unit++) {
            sums[unit] += value * signs[unit];
        }
    }
}

/* The squares of a sample are added in order of its inputs. */
static void dense_bytes(double squares, const float *sums, int64_t n_units, double middle, double gain, uint8_t *values)
{
    const double scale = squares > 0 ? gain / sqrt(squares) : 0;
    for (int64_t unit = 0; unit < n_units; unit++) {
        double value = rint((double)sums[unit] * scale) + middle;
        value = value > 0 ? value : 0;
        values[unit] = (uint8_t)(value < 255 ? value : 255);
    }
}

#endif
