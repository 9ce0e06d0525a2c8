/* Entries of readouts.
 *
 *     fill_triangle(pairs, scale, matrix), squares_of_triangle(matrix, out)
 *     add_outer(matrix, columns, factor, scratch)                       cholesky.h; scratch: columns * 8
 *     factor(matrix, scratch)                                           0 where it is not positive
 *     solve(factor, right, scratch)
 *     solver_scratch(n)                                                 float64 numbers that factor and solve take
 *     solve_classes(pairs, means, known, shrinkage, steps, weights, exponents, offsets, vectors, sums)
 *     unlikeness(pairs, mean, activity, shrinkage, steps, used, doublings, vectors, sums)
 *     read_whole(weights, offsets, shifts, known, units, values, counts, first, last, out, totals)
 *     upper_gamma(a, log_gamma, x, out)
 */
#include "../cholesky.h"
#include "../gamma.h"
#include "../pairs.h"
#include "../solve.h"
#include "active.h"

static int64_t entry_fill_triangle(const kn_value *v)
{
    const int64_t n = v[2].shape[0];
    switch (v[0].type) {
    case 'I': fill_u32(v[0].data, v[1].number, n, v[2].data); break;
    case 'Q': fill_u64(v[0].data, v[1].number, n, v[2].data); break;
    case 'i': fill_i32(v[0].data, v[1].number, n, v[2].data); break;
    default: fill_f32(v[0].data, v[1].number, n, v[2].data);
    }
    return 0;
}

static int64_t entry_squares_of_triangle(const kn_value *v)
{
    *(double *)v[1].data = squares_of_triangle(v[0].data, v[0].shape[0]);
    return 0;
}

static int64_t entry_add_outer(const kn_value *v)
{
    add_outer(v[0].data, v[0].shape[0], v[1].data, v[1].shape[1], v[2].number, v[3].data);
    return 0;
}

static int64_t entry_solver_scratch(const kn_value *v)
{
    return cholesky_scratch(v[0].integer);
}

static int64_t entry_factor(const kn_value *v)
{
    return factor_matrix(v[0].data, v[0].shape[0], v[1].data);
}

static int64_t entry_solve(const kn_value *v)
{
    solve_with_factor(v[0].data, v[0].shape[0], v[1].data, v[1].shape[1], v[2].data);
    return 0;
}

static int64_t entry_solve_classes(const kn_value *v)
{
    const int64_t n = v[1].shape[0], width = v[1].shape[1], n_known = v[2].shape[0], *known = v[2].data;
    const uint16_t *means = v[1].data;
    const int bits = v[0].type == 'h' ? 16 : 32;
    int64_t shrinkage = v[3].integer, *exponents = v[6].data, *offsets = v[7].data;
    int32_t *vectors = v[8].data;
    int64_t *centre = (int64_t *)v[9].data + n;
    int16_t *weights = v[5].data;
    kn_solving work = {vectors, vectors + n, vectors + 2 * n, v[9].data};
    const kn_bits room = bits_for(n);
    for (int64_t i = 0; i < n; i++) {
        int64_t sum = 0;
        for (int64_t k = 0; k < n_known; k++) {
            sum += means[i * width + known[k]];
        }
        centre[i] = n_known ? (2 * sum + n_known) / (2 * n_known) : 0;
    }
    int64_t number = 0;
    while (number < n_known) {
        const int64_t j = known[number];
        int place;
        for (int64_t i = 0; i < n; i++) {
            work.r[i] = (int32_t)(means[i * width + j] - centre[i]);
        }
        const int found = bits == 16 ? solve_class(16, v[0].data, n, shrinkage, v[4].integer, room, &work, &place)
                                     : solve_class(32, v[0].data, n, shrinkage, v[4].integer, room, &work, &place);
        if (!found && shrinkage < MOST_SHRINKAGE) {
            shrinkage = min64(10 * shrinkage, MOST_SHRINKAGE);
            number = 0;
            continue;
        }
        const int64_t most = largest_of(work.x, n);
        const int lower = bits_of((uint64_t)most) - WEIGHT_BITS;
        int64_t total = 0;
        for (int64_t i = 0; i < n; i++) {
            const int64_t w = moved(work.x[i], -lower);
            weights[i * width + j] = (int16_t)w;
            total -= w * (means[i * width + j] + centre[i]);
        }
        exponents[j] = most ? lower - place : NO_WEIGHTS;
        offsets[j] = down(total, 9);
        number++;
    }
    return 0;
}

static int64_t entry_unlikeness(const kn_value *v)
{
    const int64_t n = v[2].shape[0];
    int32_t *vectors = v[7].data;
    kn_solving work = {vectors, vectors + n, vectors + 2 * n, v[8].data};
    const kn_bits room = bits_for(n);
    const uint64_t used = (uint64_t)v[5].integer;
    return v[0].type == 'h' ? unlikeness_of(16, v[0].data, n, v[3].integer, v[4].integer, room, &work, v[2].data,
                                            v[1].data, 1, used, (int)v[6].integer)
                            : unlikeness_of(32, v[0].data, n, v[3].integer, v[4].integer, room, &work, v[2].data,
                                            v[1].data, 1, used, (int)v[6].integer);
}

static int64_t entry_read_whole(const kn_value *v)
{
    const kn_active active = active_of(v + 4);
    const int64_t width = v[0].shape[1], first = v[7].integer, last = v[8].integer;
    const int64_t *offsets = v[1].data, *shifts = v[2].data, *known = v[3].data;
    int64_t *restrict totals = v[10].data;
    for (int64_t s = first; s < last; s++) {
        int32_t *out = (int32_t *)v[9].data + (s - first) * width;
        memcpy(totals, offsets, sizeof *totals * (size_t)width);
        for (int64_t a = 0; a < active.counts[s]; a++) {
            const int64_t at = s * active.stride + a;
            const int16_t *restrict row = (const int16_t *)v[0].data + active.units[at] * width;
            const int32_t value = active.bytes[at];
            for (int64_t j = 0; j < width; j++) {
                totals[j] += row[j] * value;
            }
        }
        for (int64_t k = 0; k < v[3].shape[0]; k++) {
            out[known[k]] = (int32_t)down(totals[known[k]], (int)shifts[known[k]]);
        }
    }
    return 0;
}

static int64_t entry_upper_gamma(const kn_value *v)
{
    const double *x = v[2].data;
    double *out = v[3].data;
    for (int64_t i = 0; i < v[2].shape[0] * v[2].shape[1]; i++) {
        out[i] = upper_gamma(v[0].number, v[1].number, x[i]);
    }
    return 0;
}

#define READOUT_ENTRIES                                                                                                \
    {"fill_triangle", "[IQif]1 f [d]2w", entry_fill_triangle},                                                         \
    {"squares_of_triangle", "[d]2 [d]1w", entry_squares_of_triangle},                                                  \
    {"add_outer", "[d]2w [d]2 f [d]1w", entry_add_outer},                                                              \
    {"solver_scratch", "i", entry_solver_scratch},                                                                     \
    {"factor", "[d]2w [d]1w", entry_factor},                                                                           \
    {"solve", "[d]2 [d]2w [d]1w", entry_solve},                                                                        \
    {"solve_classes", "[hi]1 [H]2 [q]1 i i [h]2w [q]1w [q]1w [i]1w [q]1w", entry_solve_classes},                       \
    {"unlikeness", "[hi]1 [H]1 [B]1 i i i i [i]1w [q]1w", entry_unlikeness},                                           \
    {"read_whole", "[h]2 [q]1 [q]1 [q]1 " ACTIVE_BYTES "i i [i]2w [q]1w", entry_read_whole},                           \
    {"upper_gamma", "f f [d]2 [d]2w", entry_upper_gamma},
