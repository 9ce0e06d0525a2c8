/* The discriminant of a second-order layer in integers: conjugate gradients, one class after the other.
 *
 *     (P + shrinkage I) x_j = m_j - c,   score_j = (sum of w_j[i] activity[i] + offset_j) >> shift_j
 *
 * kenyon.layers.WholeReadout defines every bit of it. P is a packed lower triangle, read where it lies.
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

/* What a solver works with, for n units. */
typedef struct {
    int32_t *r, *p, *x;
    int64_t *q;
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

/* q = P p + shrinkage p, each entry of the triangle read once. */
INLINED void multiply_triangle(int bits, const void *pairs, size_t n, int64_t shrinkage, const int32_t *restrict p,
                              int64_t *restrict q)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        const int64_t own = p[i];
        int64_t total = shrinkage * own;
        for (size_t j = 0; j < i; j++) {
            const int64_t entry = get_pair(bits, pairs, k + j);
            total += entry * p[j];
            q[j] += entry * own;
        }
        q[i] = total + get_pair(bits, pairs, k + i) * own;
        k += i + 1;
    }
}

/* One class: r holds its right-hand side, x is filled; x / 2^place is the solution. 0 where the matrix proves not to be
 * positive. */
INLINED int solve_class(int bits, const void *pairs, size_t n, int64_t shrinkage, size_t steps, kn_bits room,
                       kn_solving *work, int *place)
{
    int32_t *r = work->r, *p = work->p, *x = work->x;
    int64_t *q = work->q;
    const int need = (bits_of((uint64_t)squares_of(r, n, 0)) + 1) / 2 - bits_of((uint64_t)shrinkage) + 1;
    *place = 30 - (need > 0 ? need : 0);
    int shift = room.vector - bits_of((uint64_t)largest_of(r, n)), size = -shift;
    for (size_t i = 0; i < n; i++) {
        r[i] = p[i] = (int32_t)up(r[i], shift);
        x[i] = 0;
    }
    int64_t squares = squares_of(r, n, 0);
    for (size_t step = 0; step < steps && squares; step++) {
        int64_t most = 0, product = 0;
        multiply_triangle(bits, pairs, n, shrinkage, p, q);
        for (size_t i = 0; i < n; i++) {
            most = max64(most, absolute(q[i]));
        }
        const int lower = bits_of((uint64_t)most) - room.product;
        for (size_t i = 0; i < n; i++) {
            q[i] = moved(q[i], -lower);
            product += p[i] * q[i];
        }
        if (product <= 0) {
            return 0;
        }
        const ratio alpha = over(squares, product);
        for (size_t i = 0; i < n; i++) {
            x[i] = (int32_t)clip64(x[i] + times(alpha, lower - size - *place, p[i]), -LARGEST, LARGEST);
            r[i] = (int32_t)clip64(r[i] - times(alpha, 0, q[i]), -LARGEST, LARGEST);
        }
        const int excess = bits_of((uint64_t)largest_of(r, n)) - room.square, spare = excess > 0 ? excess : 0;
        const ratio beta = over(squares_of(r, n, spare), squares);
        for (size_t i = 0; i < n; i++) {
            p[i] = (int32_t)clip64(r[i] + times(beta, -2 * spare, p[i]), -LARGEST, LARGEST);
        }
        shift = room.vector - bits_of((uint64_t)max64(largest_of(r, n), largest_of(p, n)));
        for (size_t i = 0; i < n; i++) {
            r[i] = (int32_t)moved(r[i], shift);
            p[i] = (int32_t)moved(p[i], shift);
        }
        size -= shift;
        squares = squares_of(r, n, 0);
    }
    return 1;
}

/* How unlike its class a sample is: its squared Mahalanobis distance from the mean of the class, for each unit, in 1/256. `used` are the samples in the co-activity; means lie `step` numbers apart.
 *
 *     (P + shrinkage I) x = b = 256 a - m,    (sum of w b >> 10) * used * 2^(E + 2 - 2 doublings) / n
 *
 * with w and E of x as for a class. */
INLINED int64_t unlikeness_of(int bits, const void *pairs, size_t n, int64_t shrinkage, size_t steps, kn_bits room,
                              kn_solving *work, const uint8_t *activity, const uint16_t *mean, size_t step,
                              uint64_t used, int doublings)
{
    int place;
    for (;;) {
        for (size_t i = 0; i < n; i++) {
            work->r[i] = (int32_t)activity[i] * 256 - mean[i * step];
        }
        if (solve_class(bits, pairs, n, shrinkage, steps, room, work, &place) || shrinkage >= MOST_SHRINKAGE) {
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
    const int shift = lower - place + 2 - 2 * doublings, spare = 62 - bits_of((uint64_t)total);
    return moved(total, shift < spare ? shift : spare) / (int64_t)n;
}

#endif
