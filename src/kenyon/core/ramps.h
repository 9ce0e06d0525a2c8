/* Ramps: units that sum a few inputs with signs and answer above an offset of their own.
 *
 *     x_u = gain max(0, scale_u sum_k sign_uk u_k - offset_u)
 *
 * A sum is in float32, in ascending order of the inputs. The inputs themselves may come first, as units of their own, those
 * that are not zero. */

#ifndef KENYON_RAMPS_H
#define KENYON_RAMPS_H

#include "threshold.h"

typedef struct {
    const uint32_t *inputs; /* (units, most), as the signs */
    const int8_t *signs;
    const int64_t *sizes; /* (units) inputs of each, `most` at most */
    const float *scales, *offsets;
    int64_t n_units, most, n_inputs;
    int64_t n_beside; /* inputs that are units of their own */
    float gain;
} ramps_layer;

/* The inputs of a sample that are units, in front; gives how many they are. */
static int64_t ramps_beside(const float *sample, int64_t n, uint32_t *units, float *values)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        units[count] = (uint32_t)i;
        values[count] = sample[i];
        count += sample[i] != 0;
    }
    return count;
}

static void ramps_times(float *values, int64_t n, float gain)
{
    for (int64_t a = 0; a < n; a++) {
        values[a] *= gain;
    }
}

static void ramps_one(const float *sample, const ramps_layer *layer, const activity_out *out, int64_t at)
{
    uint32_t *units = out->units + at * out->stride;
    float *values = out->floats + at * out->stride;
    const int64_t beside = ramps_beside(sample, layer->n_beside, units, values);
    int64_t count = beside;
    for (int64_t unit = 0; unit < layer->n_units; unit++) {
        const uint32_t *inputs = layer->inputs + unit * layer->most;
        const int8_t *signs = layer->signs + unit * layer->most;
        float total = 0;
        for (int64_t k = 0; k < layer->sizes[unit]; k++) {
            total += (float)signs[k] * sample[inputs[k]];
        }
        const float above = layer->scales[unit] * total - layer->offsets[unit];
        units[count] = (uint32_t)(layer->n_beside + unit);
        values[count] = above;
        count += above > 0;
    }
    ramps_times(values + beside, count - beside, layer->gain);
    out->counts[at] = count;
}

/* LANES samples side by side; columns: (inputs, LANES), above: (units, LANES), both scratch memory. */
static void ramps_block(const float *samples, int64_t n, const ramps_layer *layer, float *columns, float *above,
                        const activity_out *out, int64_t first)
{
    const threshold_rule no_rule = {.unit_norm = 0};
    const threshold_cut cut = {0, 0};
    int64_t beside[LANES];
    float run[LANES * THRESHOLD_RUN];
    transpose_float(samples, n, layer->n_inputs, layer->n_inputs, columns, LANES);
    for (int64_t unit = 0; unit < layer->n_units; unit++) {
        const uint32_t *inputs = layer->inputs + unit * layer->most;
        const int8_t *signs = layer->signs + unit * layer->most;
        kn_floats a = {0}, b = {0}, c = {0}, d = {0}, value;
        for (int64_t k = 0; k < layer->sizes[unit]; k++) {
            const float *column = columns + (size_t)inputs[k] * LANES, sign = signs[k];
            KN_LOAD(value, column);
            a += sign * value;
            KN_LOAD(value, column + 8);
            b += sign * value;
            KN_LOAD(value, column + 16);
            c += sign * value;
            KN_LOAD(value, column + 24);
            d += sign * value;
        }
        const float scale = layer->scales[unit], offset = layer->offsets[unit];
        const kn_floats row[4] = {scale * a - offset, scale * b - offset, scale * c - offset, scale * d - offset};
        memcpy(above + unit * LANES, row, sizeof row);
    }
    for (int64_t s = 0; s < n; s++) {
        const int64_t at = (first + s) * out->stride;
        beside[s] = ramps_beside(samples + s * layer->n_inputs, layer->n_beside, out->units + at, out->floats + at);
        out->counts[first + s] = beside[s];
    }
    for (int64_t unit = 0; unit < layer->n_units; unit += THRESHOLD_RUN) {
        const int64_t some = layer->n_units - unit < THRESHOLD_RUN ? layer->n_units - unit : THRESHOLD_RUN;
        transpose_float(above + unit * LANES, some, LANES, LANES, run, THRESHOLD_RUN);
        for (int64_t s = 0; s < n; s++) {
            threshold_append_float(run + s * THRESHOLD_RUN, layer->n_beside + unit, some, &no_rule, cut, out, first + s);
        }
    }
    for (int64_t s = 0; s < n; s++) {
        ramps_times(out->floats + (first + s) * out->stride + beside[s], out->counts[first + s] - beside[s], layer->gain);
    }
}

#endif
