/* Windows: what each unit answers over small shifts of its window, pooled, from samples to their active units.
 *
 *     r_u(d) = sum_k s_uk u[place_uk + d]                       the response of unit u at a shift d
 *     p_u    = max_d r_u(d)   or   sum_d max(0, r_u(d))         pooled over the shifts
 *     v_u    = p_u            or   sqrt(factor p_u)
 *
 * A sample is laid out channel by channel with a border of zeros, so that every shift is an offset. Bytes are summed
 * exactly; floats are summed in float32: the excitatory inputs in order, less the inhibitory ones in order, then over the
 * shifts row by row. For blocks of samples a lane is a sample, for single samples a shift; both give the same bits. */

#ifndef KENYON_WINDOWS_H
#define KENYON_WINDOWS_H

#include "threshold.h"

typedef struct {
    const void *inputs; /* (units, connections) places at the first shift, excitatory ones first */
    int wide;           /* they have 32 bits, not 16 */
    int64_t n_units, n_connections, n_excitatory;
    int64_t rows, columns; /* of shifts */
    int64_t stride;        /* places from one row to the next */
    int best;              /* the best response, or the sum of the positive ones */
    double root;           /* factor under the root, 0 for none */
} windows_layer;

KN_INLINE uint32_t windows_number(const void *numbers, int wide, int64_t k)
{
    return wide ? ((const uint32_t *)numbers)[k] : ((const uint16_t *)numbers)[k];
}

/* ---- the pooled responses, for each type of number */

#define PIXEL int16_t
#define TOTAL int32_t
#define NAMED(name) name##_short
#define NAMED_TOTAL(name) name##_int
#define PIXEL_SHORT
#include "windows_block.h"
#include "windows_one.h"
#undef PIXEL
#undef NAMED
#undef PIXEL_SHORT

#define PIXEL int32_t
#define NAMED(name) name##_int
#include "windows_block.h"
#include "windows_one.h"
#undef PIXEL
#undef TOTAL
#undef NAMED
#undef NAMED_TOTAL

#define PIXEL float
#define TOTAL float
#define NAMED(name) name##_float
#define NAMED_TOTAL(name) name##_float
#define PIXEL_FLOAT
#include "windows_block.h"
#include "windows_one.h"
#undef PIXEL
#undef TOTAL
#undef NAMED
#undef NAMED_TOTAL
#undef PIXEL_FLOAT

/* ---- from pooled responses to activity; moments have LANES partial sums: unit u goes to partial u % LANES */

typedef double windows_doubles __attribute__((vector_size(32)));

#define TOTAL int32_t
#define NAMED(name) name##_int
#include "windows_answer.h"
#undef TOTAL
#undef NAMED

#define TOTAL float
#define TOTAL_FLOAT
#define NAMED(name) name##_float
#include "windows_answer.h"
#undef TOTAL
#undef TOTAL_FLOAT
#undef NAMED

#endif
