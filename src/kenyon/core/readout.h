/* The readout of a second-order layer, kept up to date while it learns.
 *
 *     W = T - sum_j S_j S_j' / n_j          scatter within classes; T sums of products, S_j of a class, n_j its samples
 *     A = (W + a I)^-1                      a: the shrinkage, constant within a cell of `shrinkage_cell`
 *     g_j = A (m_j - c),  q_j = (m_j + c)' g_j        m_j = S_j / n_j; c any centre
 *     score_j(x) = n (g_j' x - q_j / 2) + log prior_j, less the mean over classes;       n = sum_j n_j
 *
 * c drops out of the score. Near the means of the classes, g_j is as small as they are apart, and so is its rounding.
 * A sample x of class j changes W by one rank (Sherman and Morrison, 1950). With v = x - m_j, c = n_j / (n_j + 1),
 * u = A v, h_k = v' g_k, b = c / (1 + c v' u):
 *
 *     W <- W + c v v'         A <- A - b u u'         m_j <- m_j + v / (n_j + 1)
 *     g_k <- g_k - b h_k u    q_k <- q_k - b h_k (h_k + 2 c' u)
 *     g_j <- g_j + (1 - b v' u) / (n_j + 1) u,  q_j = (m_j + c)' g_j
 *     tr W <- tr W + c v' v   |W|^2 <- |W|^2 + 2 c v' W v + c^2 (v' v)^2
 *
 * That is O(d^2 + d C). Changes of A are collected, and subtracted READOUT_PENDING at a time. A is exact but for
 * rounding as long as a stays in its cell; then A is inverted anew from the sums. Sums in floats are rounded with every
 * sample, which no change of one rank follows: g is refined, as often as that tells (`readout_refined`).
 */

#ifndef KENYON_READOUT_H
#define KENYON_READOUT_H

#include <math.h>

#include "eight.h"
#include "symmetric.h"

#define READOUT_PENDING 16 /* changes of A that are collected */
#define READOUT_MOVED 1e-5 /* refined twice as often where scores move by more, as a share of what classes are apart */
#define READOUT_NEVER (-1e30f) /* score of a class without samples */

/* Cells of the shrinkage in an octave. On held-out streams (tables, digits) predictions were those of the exact value. */
#define SHRINKAGE_CELLS 4

#define SHRINKAGE_MOST 0.999 /* largest share of shrinkage that is chosen: about the nearest class mean */

typedef struct {
    int64_t n_units, width;   /* width: neurons, padded */
    double *inverse;          /* A without the pending changes, a triangle */
    double *directions;       /* (READOUT_PENDING, units): u of the pending changes */
    double *gains;            /* (READOUT_PENDING): b of them */
    int64_t *n_pending;
    double *products;         /* (units, width): g */
    double *squares;          /* (width): q */
    double *moments;          /* tr W, |W|^2, the cell of a: from, below; a; samples since g was refined, and at most */
    const double *centre;     /* (units): c */
} kn_readout;

enum { READOUT_TRACE, READOUT_NORM, READOUT_FROM, READOUT_BELOW, READOUT_SHRINKAGE, READOUT_SINCE, READOUT_EVERY };

/* ---- shrinkage */

/* Lambda from the scatter and the number of samples alone: rho / (1 - rho) of the oracle-approximating formula (Chen,
 * Wiesel, Eldar and Hero, 2010), terms of 2 / d left out. */
static double oracle_shrinkage(double trace, double norm, double n_used, int64_t n_units)
{
    const double n = n_used > 1 ? n_used : 1, square = trace * trace;
    const double excess = (n + 1) * (norm - square / (double)n_units);
    const double rho = excess > 0 && norm + square < SHRINKAGE_MOST * excess ? (norm + square) / excess : SHRINKAGE_MOST;
    return rho / (1 - rho);
}

/* The value at the middle of the cell that a positive number lies in, and where the cell begins and ends. Cells are
 * 1 / SHRINKAGE_CELLS of an octave wide, by comparisons alone: the same on every machine. */
static double shrinkage_cell(double value, double *from, double *below)
{
    static const double edges[SHRINKAGE_CELLS + 1] = {0.5, 0x1.306fe0a31b715p-1, 0x1.6a09e667f3bcdp-1,
                                                      0x1.ae89f995ad3adp-1, 1.0};
    static const double middles[SHRINKAGE_CELLS] = {0x1.172b83c7d517bp-1, 0x1.4bfdad5362a27p-1, 0x1.8ace5422aa0dbp-1,
                                                    0x1.d5818dcfba487p-1};
    int exponent, cell = 0;
    const double part = frexp(value, &exponent);
    while (cell + 1 < SHRINKAGE_CELLS && part >= edges[cell + 1]) {
        cell++;
    }
    *from = ldexp(edges[cell], exponent);
    *below = ldexp(edges[cell + 1], exponent);
    return ldexp(middles[cell], exponent);
}

/* ---- vectors */

/* A sum of eight parts, in one order. */
KN_INLINE double sum_of_parts(kn_d8 parts)
{
    return ((parts[0] + parts[1]) + (parts[2] + parts[3])) + ((parts[4] + parts[5]) + (parts[6] + parts[7]));
}

#define READOUT_DOT(name, ENTRY)                                                                                       \
    HELPER double name(const ENTRY *a, const double *b, int64_t n)                                                     \
    {                                                                                                                  \
        typedef ENTRY entries __attribute__((vector_size(8 * sizeof(ENTRY))));                                         \
        kn_d8 parts[4] = {{0}};                                                                                        \
        int64_t i = 0;                                                                                                 \
        entries own;                                                                                                   \
        kn_d8 others;                                                                                                  \
        for (; i + 32 <= n; i += 32) { /* four sums at a time: one would wait for itself */                            \
            for (int k = 0; k < 4; k++) {                                                                              \
                KN_LOAD(own, a + i + 8 * k);                                                                           \
                KN_LOAD(others, b + i + 8 * k);                                                                        \
                parts[k] += __builtin_convertvector(own, kn_d8) * others;                                              \
            }                                                                                                          \
        }                                                                                                              \
        for (; i + 8 <= n; i += 8) {                                                                                   \
            KN_LOAD(own, a + i);                                                                                       \
            KN_LOAD(others, b + i);                                                                                    \
            parts[0] += __builtin_convertvector(own, kn_d8) * others;                                                  \
        }                                                                                                              \
        for (int k = 0; i < n; i++, k++) {                                                                             \
            parts[0][k] += (double)a[i] * b[i];                                                                        \
        }                                                                                                              \
        return sum_of_parts((parts[0] + parts[1]) + (parts[2] + parts[3]));                                            \
    }
READOUT_DOT(dot_of, double)
READOUT_DOT(dot_u32, uint32_t)
READOUT_DOT(dot_u64, uint64_t)
READOUT_DOT(dot_f32, float)

/* v' T v of a symmetric T, row by row of its triangle. */
#define READOUT_FORM(kind, ENTRY)                                                                                      \
    HELPER double form_##kind(const ENTRY *pairs, int64_t n, const double *v)                                          \
    {                                                                                                                  \
        double form = 0;                                                                                               \
        for (int64_t i = 0; i < n; i++, pairs += i) {                                                                  \
            form += v[i] * (2 * dot_##kind(pairs, v, i) + v[i] * (double)pairs[i]);                                    \
        }                                                                                                              \
        return form;                                                                                                   \
    }
READOUT_FORM(u32, uint32_t)
READOUT_FORM(u64, uint64_t)
READOUT_FORM(f32, float)

/* ---- from sums */

/* The sums of classes times v, added; the sums of a class. */
#define READOUT_SUMS(kind, ENTRY)                                                                                      \
    HELPER void times_sums_##kind(const ENTRY *sums, int64_t n_units, int64_t width, const double *v, double *h)       \
    {                                                                                                                  \
        for (int64_t i = 0; i < n_units; i++) {                                                                        \
            for (int64_t k = 0; k < width; k++) {                                                                      \
                h[k] += v[i] * (double)sums[i * width + k];                                                            \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    HELPER void class_sum_##kind(const ENTRY *sums, int64_t n_units, int64_t width, int64_t j, double *out)            \
    {                                                                                                                  \
        for (int64_t i = 0; i < n_units; i++) {                                                                        \
            out[i] = (double)sums[i * width + j];                                                                      \
        }                                                                                                              \
    }
READOUT_SUMS(u32, uint32_t)
READOUT_SUMS(u64, uint64_t)
READOUT_SUMS(f32, float)

#define READOUT_FILL(name, ENTRY)                                                                                      \
    HELPER void name(const ENTRY *pairs, int64_t n, double scale, double *out)                                         \
    {                                                                                                                  \
        for (int64_t k = 0; k < n; k++) {                                                                              \
            out[k] = scale * (double)pairs[k];                                                                         \
        }                                                                                                              \
    }
READOUT_FILL(fill_u32, uint32_t)
READOUT_FILL(fill_u64, uint64_t)
READOUT_FILL(fill_i16, int16_t)
READOUT_FILL(fill_i32, int32_t)
READOUT_FILL(fill_f32, float)

/* The sum of squares of a symmetric matrix. */
static double squared_norm(const double *a, int64_t n)
{
    double total = 0;
    for (int64_t i = 0; i < n; i++, a += i) {
        total += 2 * dot_of(a, a, i) + a[i] * a[i];
    }
    return total;
}

/* ---- one sample */

/* y <- y - (the first n pending changes) x, which makes A x of what was A x without them. */
static void readout_correct(const kn_readout *r, int64_t n_pending, const double *x, double *y)
{
    const int64_t n = r->n_units;
    for (int64_t p = 0; p < n_pending; p++) {
        const double *direction = r->directions + p * n, by = r->gains[p] * dot_of(direction, x, n);
        for (int64_t i = 0; i < n; i++) {
            y[i] -= by * direction[i];
        }
    }
}

/* Subtract the pending changes from the inverse; `scaled` is (READOUT_PENDING, units) of scratch. */
static void readout_settle(kn_readout *r, double *scaled)
{
    const int64_t n = r->n_units, n_pending = *r->n_pending;
    for (int64_t p = 0; p < n_pending; p++) {
        for (int64_t i = 0; i < n; i++) {
            scaled[p * n + i] = r->gains[p] * r->directions[p * n + i];
        }
    }
    symmetric_subtract(r->inverse, n, scaled, r->directions, n, n_pending);
    *r->n_pending = 0;
}

/* W <- W + share v v'. The direction that waits next holds A v, of the inverse without what is pending; h is (width) of
 * scratch, `form` v' W v. Gives v' A v of the A before. */
static double readout_change(kn_readout *r, const double *v, double share, double form, double *h)
{
    const int64_t n = r->n_units, width = r->width;
    double *u = r->directions + *r->n_pending * n;
    readout_correct(r, *r->n_pending, v, u);
    const double square = dot_of(v, v, n), product = dot_of(v, u, n), gain = share / (1 + share * product);
    const double along = 2 * dot_of(r->centre, u, n);
    memset(h, 0, sizeof *h * (size_t)width);
    for (int64_t i = 0; i < n; i++) {
        const double *row = r->products + i * width, value = v[i];
        for (int64_t k = 0; k < width; k++) {
            h[k] += value * row[k];
        }
    }
    for (int64_t i = 0; i < n; i++) {
        double *row = r->products + i * width;
        const double by = gain * u[i];
        for (int64_t k = 0; k < width; k++) {
            row[k] -= by * h[k];
        }
    }
    for (int64_t k = 0; k < width; k++) {
        r->squares[k] -= gain * h[k] * (h[k] + along);
    }
    r->moments[READOUT_TRACE] += share * square;
    r->moments[READOUT_NORM] += 2 * share * form + share * share * square * square;
    r->gains[(*r->n_pending)++] = gain;
    return product;
}

/* Class j, of which n_class samples were learned, goes to `mean`, as far as its part of the last change says. */
static void readout_move_class(kn_readout *r, int64_t j, double n_class, double product, const double *mean)
{
    const int64_t n = r->n_units, last = *r->n_pending - 1;
    const double more = (1 - r->gains[last] * product) / (n_class + 1), *u = r->directions + last * n;
    double square = 0;
    for (int64_t i = 0; i < n; i++) {
        double *own = r->products + i * r->width + j;
        *own += more * u[i];
        square += (mean[i] + r->centre[i]) * *own;
    }
    r->squares[j] = square;
}

/* Class j goes to any mean, which is given less the centre; y holds A times that, of the inverse without what is pending. */
static void readout_put_class(kn_readout *r, int64_t j, const double *apart, double *y)
{
    readout_correct(r, *r->n_pending, apart, y);
    for (int64_t i = 0; i < r->n_units; i++) {
        r->products[i * r->width + j] = y[i];
    }
    r->squares[j] = dot_of(apart, y, r->n_units) + 2 * dot_of(r->centre, y, r->n_units);
}

/* The products were refined, which has moved the scores of some sample of n_known classes from `before` to `after`. Sooner
 * or later next time, so that rounding stays below a ten-thousandth of what classes are apart. */
static void readout_refined(kn_readout *r, const double *before, const double *after, int64_t n_known)
{
    double moved = 0, most = after[0], least = after[0];
    for (int64_t p = 0; p < n_known; p++) {
        const double by = fabs((after[p] - before[p]) - (after[0] - before[0]));
        moved = by > moved ? by : moved;
        most = after[p] > most ? after[p] : most;
        least = after[p] < least ? after[p] : least;
    }
    double *every = r->moments + READOUT_EVERY;
    if (moved > READOUT_MOVED * (most - least)) {
        *every = *every > 1 ? *every / 2 : 1;
    } else if (2 * moved < READOUT_MOVED * (most - least)) {
        *every = *every < READOUT_PENDING ? *every * 2 : READOUT_PENDING;
    }
    r->moments[READOUT_SINCE] = 0;
}

/* Whether the shrinkage is still in its cell; a little before its ends it is taken to have left. */
static int readout_in_cell(const kn_readout *r, double shrinkage, int oracle, double n_used)
{
    const double *m = r->moments, narrow = 1e-9;
    double lambda = shrinkage;
    if (oracle) {
        const double chosen = oracle_shrinkage(m[READOUT_TRACE], m[READOUT_NORM], n_used, r->n_units);
        lambda = chosen > lambda ? chosen : lambda;
    }
    const double value = lambda * m[READOUT_TRACE] / (double)r->n_units;
    return value >= m[READOUT_FROM] * (1 + narrow) && value < m[READOUT_BELOW] * (1 - narrow);
}

/* ---- scores */

/* Offsets of the scores, and how many classes have samples: n (-q / 2), with the logarithm of n_j where `prior`. */
static int64_t readout_offsets(const double *squares, const double *counts, int64_t width, double n_samples, int prior,
                               double *offsets)
{
    int64_t n_known = 0;
    for (int64_t k = 0; k < width; k++) {
        offsets[k] = -n_samples * squares[k] / 2 + (prior && counts[k] > 0 ? log(counts[k]) : 0);
        n_known += counts[k] > 0;
    }
    return n_known;
}

/* Scores of a sample, given by its active units: of classes that have samples, less the mean over them, READOUT_NEVER of
 * the others. `total` is (width) of scratch. */
#define READOUT_SCORES(kind, VALUE)                                                                                    \
    static void readout_scores_##kind(const double *products, const double *offsets, const double *counts,             \
                                      int64_t width, int64_t n_known, double n_samples, const uint32_t *units,         \
                                      const VALUE *values, int64_t count, double *total, float *scores)                \
    {                                                                                                                  \
        double sum = 0;                                                                                                \
        memset(total, 0, sizeof *total * (size_t)width);                                                               \
        for (int64_t a = 0; a < count; a++) {                                                                          \
            const double *row = products + units[a] * width, value = values[a];                                        \
            for (int64_t k = 0; k < width; k++) {                                                                      \
                total[k] += value * row[k];                                                                            \
            }                                                                                                          \
        }                                                                                                              \
        for (int64_t k = 0; k < width; k++) {                                                                          \
            total[k] = n_samples * total[k] + offsets[k];                                                              \
            sum += counts[k] > 0 ? total[k] : 0;                                                                       \
        }                                                                                                              \
        const double mean = n_known ? sum / (double)n_known : 0;                                                       \
        for (int64_t k = 0; k < width; k++) {                                                                          \
            scores[k] = counts[k] > 0 ? (float)(total[k] - mean) : READOUT_NEVER;                                      \
        }                                                                                                              \
    }
READOUT_SCORES(floats, float)
READOUT_SCORES(bytes, uint8_t)

#endif
