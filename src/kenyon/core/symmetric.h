/* Symmetric matrices of doubles: products, changes of low rank, the inverse, and systems of equations.
 *
 *     a[i, j], i >= j, is the entry i (i + 1) / 2 + j: a lower triangle, row after row, as co-activity is kept
 *
 *     multiply    y = A v
 *     subtract    A <- A - P' Q,                            P' Q being symmetric
 *     invert      sweep each pivot block K in turn:         E = A_KK^-1,  Q = E A_K.,  A <- A - A_.K Q,  A_K. <- Q,  A_KK <- -E
 *                                                           which leaves -A^-1
 *     solve       the same from the last block to the first, rows above K alone; then substitute from the first to the last
 *
 * No square roots: a pivot that is not positive says that the matrix is not. Every entry is a sum in one order, that of the
 * rows and pivots, whatever the instruction set; vectors hold entries side by side, or the four parts of a dot product.
 *
 * Beaton, "The use of special matrix operators in statistical calculus", 1964 (the sweep).
 */

#ifndef KENYON_SYMMETRIC_H
#define KENYON_SYMMETRIC_H

#include "vectors.h"

#define SYMMETRIC_BLOCK 16 /* pivots at a time */

/* SIDE doubles in a register; rows of a tile, whose 8 columns are summed in registers. */
#if defined(__AVX512VL__)
typedef double kn_doubles __attribute__((vector_size(64)));
#define SIDE 8
#define SYMMETRIC_ROWS 8
#elif defined(__AVX2__)
typedef double kn_doubles __attribute__((vector_size(32)));
#define SIDE 4
#define SYMMETRIC_ROWS 4
#else
typedef double kn_doubles __attribute__((vector_size(16)));
#define SIDE 2
#define SYMMETRIC_ROWS 2
#endif

KN_INLINE double *symmetric_row(double *a, int64_t i)
{
    return a + i * (i + 1) / 2;
}

KN_INLINE const double *symmetric_const_row(const double *a, int64_t i)
{
    return a + i * (i + 1) / 2;
}

/* c[r][0 .. columns) -= sum over p of left[p * step + r * apart] * right[p * width + ..], p ascending, for up to
 * SYMMETRIC_ROWS rows r. */
KN_INLINE void subtract_tile(double *const *c, int64_t rows, int64_t columns, const double *left, int64_t step,
                             int64_t apart, const double *right, int64_t width, int64_t n_products)
{
    int64_t j = 0;
    if (rows == SYMMETRIC_ROWS) {
        for (; j + 8 <= columns; j += 8) {
            kn_doubles sums[SYMMETRIC_ROWS][8 / SIDE], some[8 / SIDE];
            const double *by = left, *from = right + j;
            for (int r = 0; r < SYMMETRIC_ROWS; r++) {
                for (int b = 0; b < 8 / SIDE; b++) {
                    KN_LOAD(sums[r][b], c[r] + j + b * SIDE);
                }
            }
            for (int64_t p = 0; p < n_products; p++, by += step, from += width) {
                for (int b = 0; b < 8 / SIDE; b++) {
                    KN_LOAD(some[b], from + b * SIDE);
                }
                for (int r = 0; r < SYMMETRIC_ROWS; r++) {
                    for (int b = 0; b < 8 / SIDE; b++) {
                        sums[r][b] -= by[r * apart] * some[b];
                    }
                }
            }
            for (int r = 0; r < SYMMETRIC_ROWS; r++) {
                for (int b = 0; b < 8 / SIDE; b++) {
                    KN_STORE(c[r] + j + b * SIDE, sums[r][b]);
                }
            }
        }
    }
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t k = j; k < columns; k += 4) {
            double sums[4] = {0, 0, 0, 0};
            const int64_t n = columns - k < 4 ? columns - k : 4;
            for (int64_t b = 0; b < n; b++) {
                sums[b] = c[r][k + b];
            }
            for (int64_t p = 0; p < n_products; p++) {
                const double by = left[p * step + r * apart];
                for (int64_t b = 0; b < n; b++) {
                    sums[b] -= by * right[p * width + k + b];
                }
            }
            for (int64_t b = 0; b < n; b++) {
                c[r][k + b] = sums[b];
            }
        }
    }
}

/* a <- a - P' Q on rows 0 .. n - 1 of the triangle; P and Q are (n_products, width). */
static void symmetric_subtract(double *a, int64_t n, const double *p, const double *q, int64_t width, int64_t n_products)
{
    for (int64_t i = 0; i < n; i += SYMMETRIC_ROWS) {
        const int64_t rows = n - i < SYMMETRIC_ROWS ? n - i : SYMMETRIC_ROWS;
        double *c[SYMMETRIC_ROWS];
        for (int64_t r = 0; r < rows; r++) {
            c[r] = symmetric_row(a, i + r);
        }
        subtract_tile(c, rows, i + 1, p + i, width, 1, q, width, n_products);
        for (int64_t r = 1; r < rows; r++) { /* what the lower rows of the tile have beyond its first */
            double *rest[1] = {c[r] + i + 1};
            subtract_tile(rest, 1, r, p + i + r, width, 1, q + i + 1, width, n_products);
        }
    }
}

/* c (rows, columns) <- c - L R, L (rows, n_products) where `step` is 1, or the other way round where `apart` is 1. */
static void matrix_subtract(double *c, int64_t rows, int64_t columns, int64_t c_width, const double *left, int64_t step,
                            int64_t apart, const double *right, int64_t width, int64_t n_products)
{
    for (int64_t i = 0; i < rows; i += SYMMETRIC_ROWS) {
        const int64_t some = rows - i < SYMMETRIC_ROWS ? rows - i : SYMMETRIC_ROWS;
        double *at[SYMMETRIC_ROWS];
        for (int64_t r = 0; r < some; r++) {
            at[r] = c + (i + r) * c_width;
        }
        subtract_tile(at, some, columns, left + i * apart, step, apart, right, width, n_products);
    }
}

/* y[p] <- A v[p] for each of n_vectors rows; four rows of the triangle pass over all of them while they are at hand. */
#define SYMMETRIC_MULTIPLY(name, ENTRY)                                                                                \
    static void name(const ENTRY *a, int64_t n, const double *v, double *y, int64_t width, int64_t n_vectors)          \
    {                                                                                                                  \
        typedef ENTRY entries __attribute__((vector_size(SIDE * sizeof(ENTRY))));                                      \
        for (int64_t i = 0; i < n; i += 4) {                                                                           \
            const int64_t rows = n - i < 4 ? n - i : 4;                                                                \
            const ENTRY *row[4];                                                                                       \
            for (int64_t r = 0; r < 4; r++) {                                                                          \
                const int64_t at = i + (r < rows ? r : 0);                                                             \
                row[r] = a + at * (at + 1) / 2;                                                                        \
            }                                                                                                          \
            for (int64_t p = 0; p < n_vectors; p++) {                                                                  \
                const double *from = v + p * width;                                                                    \
                double *to = y + p * width, sums[4] = {0, 0, 0, 0};                                                    \
                int64_t j = 0;                                                                                         \
                if (rows == 4) {                                                                                       \
                    const double b0 = from[i], b1 = from[i + 1], b2 = from[i + 2], b3 = from[i + 3];                   \
                    kn_doubles parts[4][8 / SIDE] = {{{0}}};                                                           \
                    for (; j + 8 <= i; j += 8) {                                                                       \
                        for (int b = 0; b < 8 / SIDE; b++) {                                                           \
                            kn_doubles x, out, e[4];                                                                   \
                            KN_LOAD(x, from + j + b * SIDE);                                                           \
                            KN_LOAD(out, to + j + b * SIDE);                                                           \
                            for (int r = 0; r < 4; r++) {                                                              \
                                entries some;                                                                          \
                                KN_LOAD(some, row[r] + j + b * SIDE);                                                  \
                                e[r] = __builtin_convertvector(some, kn_doubles);                                      \
                                parts[r][b] += e[r] * x;                                                               \
                            }                                                                                          \
                            out += (e[0] * b0 + e[1] * b1) + (e[2] * b2 + e[3] * b3);                                  \
                            KN_STORE(to + j + b * SIDE, out);                                                          \
                        }                                                                                              \
                    }                                                                                                  \
                    for (int r = 0; r < 4; r++) {                                                                      \
                        double s[8];                                                                                   \
                        memcpy(s, parts[r], sizeof s);                                                                 \
                        sums[r] = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));                   \
                    }                                                                                                  \
                }                                                                                                      \
                for (int64_t r = 0; r < rows; r++) {                                                                   \
                    for (int64_t k = j; k < i; k++) {                                                                  \
                        sums[r] += (double)row[r][k] * from[k];                                                        \
                        to[k] += (double)row[r][k] * from[i + r];                                                      \
                    }                                                                                                  \
                }                                                                                                      \
                for (int64_t r = 0; r < rows; r++) {                                                                   \
                    for (int64_t s = 0; s < rows; s++) {                                                               \
                        sums[r] += (double)(s <= r ? row[r][i + s] : row[s][i + r]) * from[i + s];                     \
                    }                                                                                                  \
                    to[i + r] = sums[r];                                                                               \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }
SYMMETRIC_MULTIPLY(symmetric_multiply, double)
SYMMETRIC_MULTIPLY(symmetric_multiply_f32, float)
SYMMETRIC_MULTIPLY(symmetric_multiply_u32, uint32_t)
SYMMETRIC_MULTIPLY(symmetric_multiply_u64, uint64_t)

/* The inverse of the symmetric block a[first .. first + size) into e, (size, size); 0 where it is not positive. */
static int invert_block(const double *a, int64_t first, int64_t size, double *e)
{
    for (int64_t r = 0; r < size; r++) {
        for (int64_t s = 0; s <= r; s++) {
            e[r * size + s] = e[s * size + r] = symmetric_const_row(a, first + r)[first + s];
        }
    }
    for (int64_t k = 0; k < size; k++) {
        const double pivot = e[k * size + k];
        if (!(pivot > 0)) {
            return 0;
        }
        const double over = 1 / pivot;
        for (int64_t r = 0; r < size; r++) {
            const double by = e[r * size + k] * over;
            for (int64_t s = 0; r != k && s < size; s++) {
                e[r * size + s] -= s == k ? 0 : by * e[k * size + s];
            }
        }
        for (int64_t s = 0; s < size; s++) {
            e[k * size + s] *= over;
        }
        for (int64_t r = 0; r < size; r++) {
            e[r * size + k] = r == k ? -over : e[k * size + r];
        }
    }
    for (int64_t r = 0; r < size * size; r++) {
        e[r] = -e[r];
    }
    return 1;
}

/* Doubles of scratch that symmetric_invert and symmetric_solve need. */
KN_INLINE int64_t symmetric_scratch(int64_t n, int64_t n_columns)
{
    return SYMMETRIC_BLOCK * (SYMMETRIC_BLOCK + 2 * n + n_columns);
}

/* The inverse in place of the matrix. Returns 0 where the matrix is not positive, and then has spoilt it. */
static int symmetric_invert(double *a, int64_t n, double *scratch)
{
    double *e = scratch, *p = e + SYMMETRIC_BLOCK * SYMMETRIC_BLOCK, *q = p + SYMMETRIC_BLOCK * n;
    for (int64_t first = 0; first < n; first += SYMMETRIC_BLOCK) {
        const int64_t size = n - first < SYMMETRIC_BLOCK ? n - first : SYMMETRIC_BLOCK, end = first + size;
        if (!invert_block(a, first, size, e)) {
            return 0;
        }
        for (int64_t k = 0; k < size; k++) {
            memcpy(p + k * n, symmetric_row(a, first + k), sizeof *p * (size_t)first);
            memset(p + k * n + first, 0, sizeof *p * (size_t)size);
        }
        for (int64_t i = end; i < n; i++) {
            for (int64_t k = 0; k < size; k++) {
                p[k * n + i] = symmetric_row(a, i)[first + k];
            }
        }
        memset(q, 0, sizeof *q * (size_t)(size * n));
        matrix_subtract(q, size, n, n, e, 1, size, p, n, size);
        for (int64_t k = 0; k < size * n; k++) {
            q[k] = -q[k];
        }
        symmetric_subtract(a, n, p, q, n, size);
        for (int64_t k = 0; k < size; k++) {
            double *row = symmetric_row(a, first + k);
            memcpy(row, q + k * n, sizeof *q * (size_t)first);
            for (int64_t s = 0; s <= k; s++) {
                row[first + s] = -e[k * size + s];
            }
        }
        for (int64_t i = end; i < n; i++) {
            for (int64_t k = 0; k < size; k++) {
                symmetric_row(a, i)[first + k] = q[k * n + i];
            }
        }
    }
    for (int64_t k = 0; k < n * (n + 1) / 2; k++) {
        a[k] = -a[k];
    }
    return 1;
}

/* A x = b for each column of b (n, n_columns), which becomes x. Spoils the matrix. Returns 0 where it is not positive. */
static int symmetric_solve(double *a, int64_t n, double *b, int64_t n_columns, double *scratch)
{
    double *e = scratch, *p = e + SYMMETRIC_BLOCK * SYMMETRIC_BLOCK, *q = p + SYMMETRIC_BLOCK * n;
    double *x = q + SYMMETRIC_BLOCK * n;
    for (int64_t end = n; end > 0; end -= (end - 1) % SYMMETRIC_BLOCK + 1) {
        const int64_t size = (end - 1) % SYMMETRIC_BLOCK + 1, first = end - size;
        if (!invert_block(a, first, size, e)) {
            return 0;
        }
        for (int64_t k = 0; k < size; k++) {
            memcpy(p + k * n, symmetric_row(a, first + k), sizeof *p * (size_t)first);
        }
        memset(q, 0, sizeof *q * (size_t)(size * n));
        matrix_subtract(q, size, first, n, e, 1, size, p, n, size);
        memset(x, 0, sizeof *x * (size_t)(size * n_columns));
        matrix_subtract(x, size, n_columns, n_columns, e, 1, size, b + first * n_columns, n_columns, size);
        for (int64_t k = 0; k < size; k++) { /* q and x have the sign turned */
            double *row = symmetric_row(a, first + k);
            for (int64_t j = 0; j < first; j++) {
                row[j] = q[k * n + j] = -q[k * n + j];
            }
            for (int64_t j = 0; j < n_columns; j++) {
                b[(first + k) * n_columns + j] = x[k * n_columns + j] = -x[k * n_columns + j];
            }
        }
        symmetric_subtract(a, first, p, q, n, size);
        matrix_subtract(b, first, n_columns, n_columns, p, n, 1, x, n_columns, size);
    }
    for (int64_t i = 1; i < n; i++) { /* within a block rows are solved already: only the columns before it count */
        double *at[1] = {b + i * n_columns};
        subtract_tile(at, 1, n_columns, symmetric_row(a, i), 1, 0, b, n_columns, i / SYMMETRIC_BLOCK * SYMMETRIC_BLOCK);
    }
    return 1;
}

#endif
