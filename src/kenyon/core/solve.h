/* The discriminant of a second-order layer in integers: conjugate gradients, one class after the other.
 *
 *     (P + shrinkage I) x_j = m_j - c,   score_j = (sum of w_j[i] activity[i] + offset_j) >> shift_j
 *
 * kenyon.layers.IntegerReadout defines every bit of it. P is a packed lower triangle, read where it lies. Soon after a
 * readout was solved, the next one begins with its weights.
 */

#ifndef KENYON_SOLVE_H
#define KENYON_SOLVE_H

#include "numbers.h"
#include "thin.h"

#define MOST_SHRINKAGE ((int64_t)1 << 30)
#define LARGEST ((int64_t)INT32_MAX)
#define NO_WEIGHTS (-1000) /* the exponent of a class whose weights are all zero */
#define WEIGHT_BITS 15     /* of the largest weight of a class */
#define MOST_USED ((uint64_t)1 << 24)

/* A number times 2^n, rounded down. */
HELPER int64_t moved(int64_t value, int n)
{
    return n >= 0 ? up(value, n) : down(value, n > -63 ? -n : 63);
}

/* a / b is about k / 2^t, with k below 2^32; a from 0 on, b positive. */
typedef struct {
    int64_t k;
    int t;
} ratio;

HELPER ratio over(int64_t a, int64_t b)
{
    const int u = 62 - bits_of((uint64_t)a), v = bits_of((uint64_t)b) - 31;
    const ratio found = {up(a, u) / moved(b, -v), u + v};
    return found;
}

HELPER int64_t times(ratio by, int more, int64_t value)
{
    const int t = by.t + more;
    return clip64(down(by.k * value, t < 0 ? 0 : t > 62 ? 62 : t), -LARGEST, LARGEST);
}

/* The sum of the squares of values / 2^lower. */
HELPER int64_t squares_of(const int32_t *values, size_t n, int lower)
{
    int64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        const int64_t value = down(values[i], lower);
        total += value * value;
    }
    return total;
}

HELPER int64_t largest_of(const int32_t *values, size_t n)
{
    int64_t most = 0;
    for (size_t i = 0; i < n; i++) {
        most = max64(most, absolute(values[i]));
    }
    return most;
}

/* What a solver works with, for n units: the residual r 2^size, the direction p 2^size, the solution x / 2^place. */
typedef struct {
    int32_t *r, *p, *x;
    int64_t *q;
    int64_t squares; /* of r */
    int size, place;
} kn_solving;

/* Bits that keep every sum below 2^63: of the largest entries of r and p, of q, and of what is squared. */
typedef struct {
    int vector, product, square;
} kn_bits;

HELPER kn_bits bits_for(size_t n)
{
    const int wide = bits_of((uint64_t)n), most = (62 - wide) / 2, vector = most < 26 ? most : 26;
    const int rest = 62 - wide - vector;
    return (kn_bits){vector, rest < 28 ? rest : 28, most};
}

/* q = P p + shrinkage p, each entry of the triangle read once: two rows at a time, so that p and q are read half as
 * often. */
INLINED void multiply_triangle(int bits, const void *pairs, size_t n, int64_t shrinkage, const int32_t *restrict p,
                              int64_t *restrict q)
{
    size_t k = 0, i = 0;
    for (; i + 2 <= n; i += 2) {
        const size_t below = k + i + 1;
        const int32_t own = p[i], next = p[i + 1];
        int64_t total = shrinkage * own, other = shrinkage * next;
        for (size_t j = 0; j < i; j++) {
            const int32_t a = get_pair(bits, pairs, k + j), b = get_pair(bits, pairs, below + j), value = p[j];
            total += (int64_t)a * value;
            other += (int64_t)b * value;
            q[j] += (int64_t)a * own + (int64_t)b * next;
        }
        const int32_t corner = get_pair(bits, pairs, below + i);
        q[i] = total + (int64_t)get_pair(bits, pairs, k + i) * own + (int64_t)corner * next;
        q[i + 1] = other + (int64_t)corner * own + (int64_t)get_pair(bits, pairs, below + i + 1) * next;
        k = below + i + 2;
    }
    if (i < n) {
        int64_t total = shrinkage * p[i];
        for (size_t j = 0; j < i; j++) {
            const int32_t a = get_pair(bits, pairs, k + j);
            total += (int64_t)a * p[j];
            q[j] += (int64_t)a * p[i];
        }
        q[i] = total + (int64_t)get_pair(bits, pairs, k + i) * p[i];
    }
}

/* q = P p + shrinkage p, its largest entry of as many bits as there is room for: gives p q, and the shift in `lower`. */
INLINED int64_t solve_multiply(int bits, const void *pairs, size_t n, int64_t shrinkage, kn_bits room,
                              const kn_solving *work, int *lower)
{
    int64_t most = 0, product = 0;
    multiply_triangle(bits, pairs, n, shrinkage, work->p, work->q);
    for (size_t i = 0; i < n; i++) {
        most = max64(most, absolute(work->q[i]));
    }
    *lower = bits_of((uint64_t)most) - room.product;
    for (size_t i = 0; i < n; i++) {
        work->q[i] = moved(work->q[i], -*lower);
        product += work->p[i] * work->q[i];
    }
    return product;
}

/* Shift r and p so that their largest entry has as many bits as there is room for. */
HELPER void solve_scale(size_t n, kn_bits room, kn_solving *work)
{
    const int shift = room.vector - bits_of((uint64_t)max64(largest_of(work->r, n), largest_of(work->p, n)));
    for (size_t i = 0; i < n; i++) {
        work->r[i] = (int32_t)moved(work->r[i], shift);
        work->p[i] = (int32_t)moved(work->p[i], shift);
    }
    work->size -= shift;
    work->squares = squares_of(work->r, n, 0);
}

/* Begin a class: r holds its right-hand side, p its weights of the last readout or zeros, which are kept where they are
 * of use. Gives the sum of p r then, or 0. */
HELPER int64_t solve_begin(size_t n, int64_t shrinkage, kn_bits room, kn_solving *work)
{
    int32_t *r = work->r, *p = work->p;
    const int need = (bits_of((uint64_t)squares_of(r, n, 0)) + 1) / 2 - bits_of((uint64_t)shrinkage) + 1;
    const int shift = room.vector - bits_of((uint64_t)largest_of(r, n));
    int64_t along = 0;
    work->place = 30 - (need > 0 ? need : 0);
    work->size = -shift;
    for (size_t i = 0; i < n; i++) {
        along += (int64_t)p[i] * r[i];
        r[i] = (int32_t)up(r[i], shift);
        work->x[i] = 0;
    }
    if (along <= 0) {
        for (size_t i = 0; i < n; i++) {
            p[i] = r[i];
        }
        solve_scale(n, room, work);
    }
    return along > 0 ? along : 0;
}

/* The multiple of the weights that is best: x, and the residual that it leaves. */
HELPER void solve_first(size_t n, int64_t along, int64_t product, int lower, kn_solving *work)
{
    const ratio by = over(along, product);
    for (size_t i = 0; i < n; i++) {
        work->x[i] = (int32_t)times(by, lower - work->place, work->p[i]);
        work->r[i] = (int32_t)clip64(work->r[i] - times(by, work->size, work->q[i]), -LARGEST, LARGEST);
        work->p[i] = work->r[i];
    }
}

/* One step of conjugate gradients. */
HELPER void solve_step(size_t n, int64_t product, int lower, kn_bits room, kn_solving *work)
{
    int32_t *r = work->r, *p = work->p, *x = work->x;
    const ratio alpha = over(work->squares, product);
    for (size_t i = 0; i < n; i++) {
        x[i] = (int32_t)clip64(x[i] + times(alpha, lower - work->size - work->place, p[i]), -LARGEST, LARGEST);
        r[i] = (int32_t)clip64(r[i] - times(alpha, 0, work->q[i]), -LARGEST, LARGEST);
    }
    const int excess = bits_of((uint64_t)largest_of(r, n)) - room.square, spare = excess > 0 ? excess : 0;
    const ratio beta = over(squares_of(r, n, spare), work->squares);
    for (size_t i = 0; i < n; i++) {
        p[i] = (int32_t)clip64(r[i] + times(beta, -2 * spare, p[i]), -LARGEST, LARGEST);
    }
}

/* One class: r holds its right-hand side, p its last weights or zeros; x / 2^place becomes the solution, after at most
 * `few` steps from weights that are of use, or `most`. 0 where the matrix proves not to be positive. */
INLINED int solve_class(int bits, const void *pairs, size_t n, int64_t shrinkage, size_t few, size_t most, kn_bits room,
                       kn_solving *work)
{
    int64_t along = solve_begin(n, shrinkage, room, work);
    size_t left = along ? few : most;
    while (along || (left && work->squares)) {
        int lower;
        const int64_t product = solve_multiply(bits, pairs, n, shrinkage, room, work, &lower);
        if (product <= 0) {
            return 0;
        }
        if (along) {
            solve_first(n, along, product, lower, work);
            along = 0;
        } else {
            solve_step(n, product, lower, room, work);
            left--;
        }
        if (left) {
            solve_scale(n, room, work);
        }
    }
    return 1;
}

/* How unlike its class a sample is: its squared Mahalanobis distance from the mean of the class, for each unit, in 1/256.
 * `used` are the samples in the co-activity; means lie `step` numbers apart.
 *
 *     (P + shrinkage I) x = b = 256 a - m,    (sum of w b >> 10) * used * 2^(E + 2 - 2 doublings) / n
 *
 * with w and E of x as for a class. */
INLINED int64_t unlikeness_of(int bits, const void *pairs, size_t n, int64_t shrinkage, size_t steps, kn_bits room,
                              kn_solving *work, const uint8_t *activity, const uint16_t *mean, size_t step,
                              uint64_t used, int doublings)
{
    for (;;) {
        for (size_t i = 0; i < n; i++) {
            work->r[i] = (int32_t)activity[i] * 256 - mean[i * step];
            work->p[i] = 0;
        }
        if (solve_class(bits, pairs, n, shrinkage, steps, steps, room, work) || shrinkage >= MOST_SHRINKAGE) {
            break;
        }
        shrinkage = min64(10 * shrinkage, MOST_SHRINKAGE);
    }
    const int lower = bits_of((uint64_t)largest_of(work->x, n)) - WEIGHT_BITS;
    int64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        total += moved(work->x[i], -lower) * ((int32_t)activity[i] * 256 - mean[i * step]);
    }
    total = max64(0, down(total, 10)) * (int64_t)(used < MOST_USED ? used : MOST_USED);
    const int shift = lower - work->place + 2 - 2 * doublings, spare = 62 - bits_of((uint64_t)total);
    return moved(total, shift < spare ? shift : spare) / (int64_t)n;
}

#endif
