/* Entries of readouts.
 *
 *     fill_scatter(pairs, scale, triangle)                              symmetric.h: triangles are packed, rows contiguous
 *     subtract_products(triangle, p, q)                                 triangle -= p' q
 *     scatter_moments(triangle, n_units, out)                           (trace, sum of squares)
 *     shrinkage_cell(value, out)                                        (middle, from, below)
 *     oracle_shrinkage(trace, norm, n_used, n_units, out)
 *     invert(triangle, n_units, scratch), solve(triangle, right, scratch)     0 where it is not positive
 *     multiply(triangle, rows, out)                                     rows times the triangle
 *     solver_scratch(n_units, n_columns)                                float64 numbers that they take
 *     follow(READOUT, pairs, sums, trained, units, values, counts, labels, plastic, first, last, shrinkage, oracle, prior,
 *            scratch, outputs)          2 * samples that were learned or passed over + whether the shrinkage left its cell
 *     refine(READOUT, pairs, sums, trained, scratch)                    after samples that were learned into sums in floats
 *     follow_thin(READOUT, distances, weight, mean, j, shrinkage, scratch)     whether it is still in its cell
 *     discriminant_scores(products, squares, trained, prior, units, values, counts, first, last, outputs, scratch)
 *     solve_classes(pairs, means, known, shrinkage, few, most, weights, exponents, offsets, vectors, sums)
 *                                                                       weights: of the last readout, or zeros
 *     unlikeness(pairs, mean, activity, shrinkage, steps, used, doublings, vectors, sums)
 *     read_integers(weights, offsets, shifts, known, units, values, counts, first, last, out, totals)
 *     upper_gamma(a, log_gamma, x, out)
 *
 * READOUT: inverse, directions, gains, n_pending, products, squares, moments, centre.
 */
#include "../gamma.h"
#include "../pairs.h"
#include "../readout.h"
#include "../solve.h"
#include "active.h"

#define READOUT "[d]1w [d]2w [d]1w [q]1w [d]2w [d]1w [d]1w [d]1 "
#define FOLLOWED 32 /* samples that `follow` takes at most */
#define REFINED 32  /* classes at most whose products are refined: with more it would take longer than to follow */

static kn_readout readout_of(const kn_value *v)
{
    const kn_readout r = {v[4].shape[0], v[4].shape[1], v[0].data, v[1].data, v[2].data, v[3].data, v[4].data, v[5].data,
                          v[6].data, v[7].data};
    return r;
}

static int64_t entry_fill_scatter(const kn_value *v)
{
    const int64_t n = v[0].shape[0];
    switch (v[0].type) {
    case 'I': fill_u32(v[0].data, n, v[1].number, v[2].data); break;
    case 'Q': fill_u64(v[0].data, n, v[1].number, v[2].data); break;
    case 'h': fill_i16(v[0].data, n, v[1].number, v[2].data); break;
    case 'i': fill_i32(v[0].data, n, v[1].number, v[2].data); break;
    default: fill_f32(v[0].data, n, v[1].number, v[2].data);
    }
    return 0;
}

static int64_t entry_subtract_products(const kn_value *v)
{
    symmetric_subtract(v[0].data, v[1].shape[1], v[1].data, v[2].data, v[1].shape[1], v[1].shape[0]);
    return 0;
}

static int64_t entry_scatter_moments(const kn_value *v)
{
    const int64_t n = v[1].integer;
    const double *triangle = v[0].data;
    double *out = v[2].data;
    out[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        out[0] += triangle[i * (i + 3) / 2];
    }
    out[1] = squared_norm(triangle, n);
    return 0;
}

static int64_t entry_shrinkage_cell(const kn_value *v)
{
    double *out = v[1].data;
    out[0] = shrinkage_cell(v[0].number, out + 1, out + 2);
    return 0;
}

static int64_t entry_oracle_shrinkage(const kn_value *v)
{
    *(double *)v[4].data = oracle_shrinkage(v[0].number, v[1].number, v[2].number, v[3].integer);
    return 0;
}

static int64_t entry_solver_scratch(const kn_value *v)
{
    return symmetric_scratch(v[0].integer, v[1].integer);
}

static int64_t entry_invert(const kn_value *v)
{
    return symmetric_invert(v[0].data, v[1].integer, v[2].data);
}

static int64_t entry_solve(const kn_value *v)
{
    return symmetric_solve(v[0].data, v[1].shape[0], v[1].data, v[1].shape[1], v[2].data);
}

static int64_t entry_multiply(const kn_value *v)
{
    symmetric_multiply(v[0].data, v[1].shape[1], v[1].data, v[2].data, v[1].shape[1], v[1].shape[0]);
    return 0;
}

/* Counts as doubles; gives their sum. */
static double class_counts(const kn_value *trained, double *counts)
{
    double total = 0;
    for (int64_t k = 0; k < trained->shape[0]; k++) {
        counts[k] = trained->type == 'Q' ? (double)((const uint64_t *)trained->data)[k]
                                        : (double)((const uint32_t *)trained->data)[k];
        total += counts[k];
    }
    return total;
}

static void scores_of(const double *products, const double *offsets, const double *counts, int64_t width,
                      int64_t n_known, double n_samples, kn_active active, int64_t s, double *total, float *scores)
{
    const int64_t at = s * active.stride;
    if (active.floats) {
        readout_scores_floats(products, offsets, counts, width, n_known, n_samples, active.units + at, active.floats + at,
                              active.counts[s], total, scores);
    } else {
        readout_scores_bytes(products, offsets, counts, width, n_known, n_samples, active.units + at, active.bytes + at,
                             active.counts[s], total, scores);
    }
}

static int64_t entry_discriminant_scores(const kn_value *v)
{
    const kn_active active = active_of(v + 4);
    const int64_t width = v[0].shape[1], first = v[7].integer, last = v[8].integer;
    double *counts = v[10].data, *offsets = counts + width, *total = offsets + width;
    const double n_samples = class_counts(v + 2, counts);
    const int64_t n_known = readout_offsets(v[1].data, counts, width, n_samples, (int)v[3].integer, offsets);
    for (int64_t s = first; s < last; s++) {
        scores_of(v[0].data, offsets, counts, width, n_known, n_samples, active, s, total,
                  (float *)v[9].data + (s - first) * width);
    }
    return 0;
}

static void add_sample(kn_active active, int64_t s, double *to)
{
    for (int64_t a = s * active.stride; a < s * active.stride + active.counts[s]; a++) {
        to[active.units[a]] += active.floats ? (double)active.floats[a] : (double)active.bytes[a];
    }
}

static void class_sum(const kn_value *sums, int64_t n, int64_t j, double *out)
{
    const int64_t width = sums->shape[1];
    switch (sums->type) {
    case 'I': class_sum_u32(sums->data, n, width, j, out); break;
    case 'Q': class_sum_u64(sums->data, n, width, j, out); break;
    default: class_sum_f32(sums->data, n, width, j, out);
    }
}

/* y[p] = T v[p] for each of some rows. */
static void times_pairs(const kn_value *pairs, int64_t n, const double *v, double *y, int64_t n_vectors)
{
    switch (pairs->type) {
    case 'I': symmetric_multiply_u32(pairs->data, n, v, y, n, n_vectors); break;
    case 'Q': symmetric_multiply_u64(pairs->data, n, v, y, n, n_vectors); break;
    default: symmetric_multiply_f32(pairs->data, n, v, y, n, n_vectors);
    }
}

/* The sums of each class times v. */
static void times_sums(const kn_value *sums, int64_t n, const double *v, double *h)
{
    const int64_t width = sums->shape[1];
    memset(h, 0, sizeof *h * (size_t)width);
    switch (sums->type) {
    case 'I': times_sums_u32(sums->data, n, width, v, h); break;
    case 'Q': times_sums_u64(sums->data, n, width, v, h); break;
    default: times_sums_f32(sums->data, n, width, v, h);
    }
}

/* v' W v of the state; h is (width) of scratch. */
static double scatter_form(const kn_value *pairs, const kn_value *sums, int64_t n, const double *v, const double *counts,
                           double *h)
{
    const int64_t width = sums->shape[1];
    double form;
    switch (pairs->type) {
    case 'I': form = form_u32(pairs->data, n, v); break;
    case 'Q': form = form_u64(pairs->data, n, v); break;
    default: form = form_f32(pairs->data, n, v);
    }
    times_sums(sums, n, v, h);
    for (int64_t k = 0; k < width; k++) {
        form -= counts[k] > 0 ? h[k] * h[k] / counts[k] : 0;
    }
    return form;
}

/* Doubles of scratch that `follow` and `follow_thin` take. */
static int64_t entry_follow_scratch(const kn_value *v)
{
    return (3 * FOLLOWED + READOUT_PENDING) * v[0].integer + 5 * v[1].integer;
}

/* Samples that are about to be learned, and what a readout of them needs. */
typedef struct {
    const kn_value *pairs, *sums, *trained;
    kn_active active;
    const int64_t *labels;
    const uint8_t *plastic;
    double shrinkage;
    int oracle, prior;
    double *scratch;
    float *outputs; /* for the scores of each sample before it is learned, or NULL */
} kn_followed;

/* One step towards g_k of the sums as they are, where these are in floats and it is time:
 *
 *     g_k <- g_k + A (m_k - c - (W + a I) g_k),       q_k = (m_k + c)' g_k
 *
 * Scratch as for `follow`. */
static void refine(kn_readout *r, const kn_value *pairs, const kn_value *sums, const kn_value *trained, double *scratch)
{
    const int64_t n = r->n_units, width = r->width;
    double *rows = scratch, *turned = rows + REFINED * n, *rest = turned + REFINED * n;
    double *counts = rest + (REFINED + READOUT_PENDING) * n, *h = counts + width;
    int64_t known[REFINED], n_known = 0;
    double before[REFINED], after[REFINED];
    if (pairs->type != 'f' || r->moments[READOUT_SINCE] < r->moments[READOUT_EVERY]) {
        return;
    }
    const double n_samples = class_counts(trained, counts);
    const float *sum = sums->data;
    for (int64_t k = 0; k < width; k++) {
        if (counts[k] > 0 && n_known == REFINED) {
            return;
        }
        if (counts[k] > 0) {
            known[n_known++] = k;
        }
    }
    if (!n_known) {
        return;
    }
    const int64_t some = known[0];
    for (int64_t p = 0; p < n_known; p++) {
        before[p] = -n_samples * r->squares[known[p]] / 2;
        for (int64_t i = 0; i < n; i++) {
            const double product = r->products[i * width + known[p]];
            rows[p * n + i] = product;
            before[p] += n_samples * product * ((double)sum[i * width + some] / counts[some]);
        }
    }
    times_pairs(pairs, n, rows, turned, n_known);
    for (int64_t p = 0; p < n_known; p++) {
        const int64_t own = known[p];
        times_sums(sums, n, rows + p * n, h);
        for (int64_t k = 0; k < width; k++) {
            h[k] = counts[k] > 0 ? h[k] / counts[k] : 0;
        }
        for (int64_t i = 0; i < n; i++) {
            double product = turned[p * n + i] + r->moments[READOUT_SHRINKAGE] * rows[p * n + i];
            for (int64_t k = 0; k < width; k++) {
                product -= (double)sum[i * width + k] * h[k];
            }
            rest[p * n + i] = (double)sum[i * width + own] / counts[own] - r->centre[i] - product;
        }
    }
    symmetric_multiply(r->inverse, n, rest, turned, n, n_known);
    for (int64_t p = 0; p < n_known; p++) {
        const int64_t own = known[p];
        double square = 0;
        after[p] = 0;
        readout_correct(r, *r->n_pending, rest + p * n, turned + p * n);
        for (int64_t i = 0; i < n; i++) {
            const double product = r->products[i * width + own] += turned[p * n + i];
            square += ((double)sum[i * width + own] / counts[own] + r->centre[i]) * product;
            after[p] += n_samples * product * ((double)sum[i * width + some] / counts[some]);
        }
        r->squares[own] = square;
        after[p] -= n_samples * square / 2;
    }
    readout_refined(r, before, after, n_known);
}

static int64_t entry_refine(const kn_value *v)
{
    kn_readout r = readout_of(v);
    refine(&r, v + 8, v + 9, v + 10, v[11].data);
    return 0;
}

/* 2 * samples that were learned or passed over + whether the shrinkage left its cell. */
static int64_t follow_samples(kn_readout *r, const kn_followed *f, int64_t first, int64_t end)
{
    const int64_t n = r->n_units, width = r->width, *labels = f->labels;
    const double left = r->moments[READOUT_EVERY] - r->moments[READOUT_SINCE]; /* until the products are to be refined */
    const int64_t some = !f->outputs || f->pairs->type != 'f' ? FOLLOWED : left > 1 ? (int64_t)left : 1;
    const int64_t last = min64(end, first + min64(some, FOLLOWED));
    double *from = f->scratch, *means = from + FOLLOWED * n, *scaled = from + 3 * FOLLOWED * n;
    double *counts = scaled + READOUT_PENDING * n, *before = counts + width, *h = before + width, *offsets = h + width;
    double *total = offsets + width, shares[FOLLOWED], n_samples = class_counts(f->trained, counts);
    int64_t learned[FOLLOWED], n_learned = 0, ready = 0;
    memcpy(before, counts, sizeof *counts * (size_t)width);
    for (int64_t s = first; s < last; s++) {
        if (labels[s] >= 0 && f->plastic[labels[s]]) {
            learned[n_learned++] = s;
        }
    }
    for (int64_t p = 0; p < n_learned; p++) { /* how far each is from its class's mean before it, and that after it */
        const int64_t j = labels[learned[p]];
        double *sum = means + p * n, *distance = from + p * n, count = before[j];
        class_sum(f->sums, n, j, sum);
        for (int64_t q = 0; q < p; q++) {
            if (labels[learned[q]] == j) {
                add_sample(f->active, learned[q], sum);
                count++;
            }
        }
        for (int64_t i = 0; i < n; i++) {
            distance[i] = count > 0 ? -sum[i] / count : -r->centre[i];
        }
        add_sample(f->active, learned[p], distance);
        add_sample(f->active, learned[p], sum);
        for (int64_t i = 0; i < n; i++) {
            sum[i] /= count + 1;
        }
    }
    int64_t p = 0;
    for (int64_t s = first; s < last; s++) {
        if (f->outputs) {
            const int64_t n_known = readout_offsets(r->squares, counts, width, n_samples, f->prior, offsets);
            scores_of(r->products, offsets, counts, width, n_known, n_samples, f->active, s, total,
                      f->outputs + (s - first) * width);
        }
        if (p == n_learned || learned[p] != s) {
            continue;
        }
        if (p == ready) { /* as many directions at a time as may wait */
            if (*r->n_pending == READOUT_PENDING) {
                readout_settle(r, scaled);
            }
            const int64_t some = min64(n_learned - p, READOUT_PENDING - *r->n_pending);
            symmetric_multiply(r->inverse, n, from + p * n, r->directions + *r->n_pending * n, n, some);
            ready = p + some;
        }
        const int64_t j = labels[s];
        const double *distance = from + p * n;
        double form = 0;
        if (f->oracle) {
            form = scatter_form(f->pairs, f->sums, n, distance, before, h);
            for (int64_t q = 0; q < p; q++) {
                const double along = dot_of(from + q * n, distance, n);
                form += shares[q] * along * along;
            }
        }
        shares[p] = counts[j] / (counts[j] + 1);
        const double product = readout_change(r, distance, shares[p], form, h);
        readout_move_class(r, j, counts[j], product, means + p * n);
        r->moments[READOUT_SINCE]++;
        counts[j]++;
        n_samples++;
        p++;
        if (!readout_in_cell(r, f->shrinkage, f->oracle, n_samples)) {
            return 2 * (s + 1 - first) + 1;
        }
    }
    return 2 * (last - first);
}

static int64_t entry_follow(const kn_value *v)
{
    kn_readout r = readout_of(v);
    const kn_followed f = {
        v + 8, v + 9, v + 10, active_of(v + 11), v[14].data, v[15].data, v[18].number, (int)v[19].integer, (int)v[20].integer,
        v[21].data, v[22].data,
    };
    return follow_samples(&r, &f, v[16].integer, v[17].integer);
}

/* One sample into co-activity of few bits: distances times the step of their unit, or None where it was not let in. */
static int64_t entry_follow_thin(const kn_value *v)
{
    kn_readout r = readout_of(v);
    const int64_t n = r.n_units, j = v[12].integer, width = r.width;
    const int16_t *distances = v[8].data;
    const uint16_t *column = v[11].data;
    double *rows = v[14].data, *y = rows + 2 * n, *scaled = rows + 3 * FOLLOWED * n, *h = scaled + READOUT_PENDING * n;
    if (*r.n_pending == READOUT_PENDING) {
        readout_settle(&r, scaled);
    }
    for (int64_t i = 0; i < n; i++) {
        rows[i] = distances ? v[9].number * distances[i] : 0;
        rows[n + i] = column[i * width + j] / 256.0 - r.centre[i];
    }
    symmetric_multiply(r.inverse, n, rows, y, n, 2);
    if (distances) {
        memcpy(r.directions + *r.n_pending * n, y, sizeof *y * (size_t)n);
        (void)readout_change(&r, rows, v[10].number, 0, h);
    }
    readout_put_class(&r, j, rows + n, y + n);
    return readout_in_cell(&r, v[13].number, 0, 0);
}

static int64_t entry_solve_classes(const kn_value *v)
{
    const int64_t n = v[1].shape[0], width = v[1].shape[1], n_known = v[2].shape[0], *known = v[2].data;
    const int64_t few = v[4].integer, most = v[5].integer;
    const uint16_t *means = v[1].data;
    int64_t shrinkage = v[3].integer, *exponents = v[7].data, *offsets = v[8].data;
    int32_t *vectors = v[9].data;
    int64_t *centre = (int64_t *)v[10].data + n;
    int16_t *weights = v[6].data;
    kn_solving work = {.r = vectors, .p = vectors + n, .x = vectors + 2 * n, .q = v[10].data};
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
        for (int64_t i = 0; i < n; i++) {
            work.r[i] = (int32_t)(means[i * width + j] - centre[i]);
            work.p[i] = weights[i * width + j];
        }
        const int found = v[0].type == 'h' ? solve_class(16, v[0].data, n, shrinkage, few, most, room, &work)
                                           : solve_class(32, v[0].data, n, shrinkage, few, most, room, &work);
        if (!found && shrinkage < MOST_SHRINKAGE) {
            shrinkage = min64(10 * shrinkage, MOST_SHRINKAGE);
            number = 0;
            continue;
        }
        const int64_t largest = largest_of(work.x, n);
        const int lower = bits_of((uint64_t)largest) - WEIGHT_BITS;
        int64_t total = 0;
        for (int64_t i = 0; i < n; i++) {
            const int64_t w = moved(work.x[i], -lower);
            weights[i * width + j] = (int16_t)w;
            total -= w * (means[i * width + j] + centre[i]);
        }
        exponents[j] = largest ? lower - work.place : NO_WEIGHTS;
        offsets[j] = down(total, 9);
        number++;
    }
    return 0;
}

static int64_t entry_unlikeness(const kn_value *v)
{
    const int64_t n = v[2].shape[0];
    int32_t *vectors = v[7].data;
    kn_solving work = {.r = vectors, .p = vectors + n, .x = vectors + 2 * n, .q = v[8].data};
    const kn_bits room = bits_for(n);
    const uint64_t used = (uint64_t)v[5].integer;
    return v[0].type == 'h' ? unlikeness_of(16, v[0].data, n, v[3].integer, v[4].integer, room, &work, v[2].data,
                                            v[1].data, 1, used, (int)v[6].integer)
                            : unlikeness_of(32, v[0].data, n, v[3].integer, v[4].integer, room, &work, v[2].data,
                                            v[1].data, 1, used, (int)v[6].integer);
}

static int64_t entry_read_integers(const kn_value *v)
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
    {"fill_scatter", "[IQhif]1 f [d]1w", entry_fill_scatter},                                                          \
    {"subtract_products", "[d]1w [d]2 [d]2", entry_subtract_products},                                                 \
    {"scatter_moments", "[d]1 i [d]1w", entry_scatter_moments},                                                        \
    {"shrinkage_cell", "f [d]1w", entry_shrinkage_cell},                                                               \
    {"oracle_shrinkage", "f f f i [d]1w", entry_oracle_shrinkage},                                                     \
    {"solver_scratch", "i i", entry_solver_scratch},                                                                   \
    {"invert", "[d]1w i [d]1w", entry_invert},                                                                         \
    {"solve", "[d]1w [d]2w [d]1w", entry_solve},                                                                       \
    {"multiply", "[d]1 [d]2 [d]2w", entry_multiply},                                                                   \
    {"follow_scratch", "i i", entry_follow_scratch},                                                                   \
    {"follow", READOUT "[IQf]1 [IQf]2 [IQ]1 " ACTIVE "[q]1 [?]1 i i f i i [d]1w [f]2wo", entry_follow},                \
    {"refine", READOUT "[f]1 [f]2 [IQ]1 [d]1w", entry_refine},                                                         \
    {"follow_thin", READOUT "[h]1o f f [H]2 i f [d]1w", entry_follow_thin},                                            \
    {"discriminant_scores", "[d]2 [d]1 [IQ]1 i " ACTIVE "i i [f]2w [d]1w", entry_discriminant_scores},                 \
    {"solve_classes", "[hi]1 [H]2 [q]1 i i i [h]2w [q]1w [q]1w [i]1w [q]1w", entry_solve_classes},                     \
    {"unlikeness", "[hi]1 [H]1 [B]1 i i i i [i]1w [q]1w", entry_unlikeness},                                           \
    {"read_integers", "[h]2 [q]1 [q]1 [q]1 " ACTIVE_BYTES "i i [i]2w [q]1w", entry_read_integers},                           \
    {"upper_gamma", "f f [d]2 [d]2w", entry_upper_gamma},
