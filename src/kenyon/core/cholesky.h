/* Symmetric positive matrices: the Cholesky factor, and the solution of a system with it.
 *
 *     A = L L'         L[i, j] = (A[i, j] - sum over k < j of L[i, k] L[j, k]) / L[j, j],   L[j, j] a square root
 *     L y = b          y[i] = (b[i] - sum over j < i of L[i, j] y[j]) / L[i, i]
 *     L' x = y         x[i] = (y[i] - sum over j > i of L[j, i] x[j]) / L[i, i]
 *
 * Matrices are float64, by rows, and only their lower triangle is looked at. The terms of every sum are subtracted one
 * after the other, k and j ascending (descending in the last line), however the work is cut into blocks: the same bits
 * everywhere.
 */

#ifndef KENYON_CHOLESKY_H
#define KENYON_CHOLESKY_H

#include "eight.h"

#define PANEL 48      /* columns that are factored at a time */
#define COLUMNS 8     /* numbers of a vector */
#define TILES 4       /* vectors of rows that are solved side by side */

#ifdef __AVX512F__
#define CHOLESKY_ROWS 8 /* rows whose sums are kept in registers */
#else
#define CHOLESKY_ROWS 4
#endif

/* Doubles of scratch that the factor of n rows, and solutions with it, take. */
HELPER int64_t cholesky_scratch(int64_t n)
{
    return (n + COLUMNS * TILES) * PANEL;
}

/* Columns first .. last - 1 of L, in those rows alone. 0 where the matrix is not positive. */
HELPER int factor_corner(double *a, int64_t n, int64_t first, int64_t last)
{
    for (int64_t i = first; i < last; i++) {
        double *row = a + i * n;
        for (int64_t j = first; j < i; j++) {
            const double *other = a + j * n;
            double total = row[j];
            for (int64_t k = first; k < j; k++) {
                total -= row[k] * other[k];
            }
            row[j] = total / other[j];
        }
        double rest = row[i];
        for (int64_t k = first; k < i; k++) {
            rest -= row[k] * row[k];
        }
        if (!(rest > 0)) {
            return 0;
        }
        row[i] = sqrt(rest);
    }
    return 1;
}

/* The same columns of rows from `top` on: as tiles [tile][column][COLUMNS], COLUMNS rows side by side. */
HELPER void solve_panel(double *a, int64_t n, int64_t first, int64_t last, int64_t top, double *tiles)
{
    const int64_t m = last - first, each = m * COLUMNS;
    for (int64_t start = top; start < n; start += COLUMNS * TILES, tiles += TILES * each) {
        for (int64_t r = 0; r < COLUMNS * TILES; r++) {
            const double *row = a + (start + r) * n + first;
            double *to = tiles + r / COLUMNS * each + r % COLUMNS;
            for (int64_t k = 0; k < m; k++) {
                to[k * COLUMNS] = start + r < n ? row[k] : 0;
            }
        }
        for (int64_t j = 0; j < m; j++) {
            const double *corner = a + (first + j) * n + first;
            kn_d8 total[TILES];
            for (int t = 0; t < TILES; t++) {
                KN_LOAD(total[t], tiles + t * each + j * COLUMNS);
            }
            for (int64_t k = 0; k < j; k++) {
                const double factor = corner[k];
                for (int t = 0; t < TILES; t++) {
                    kn_d8 other;
                    KN_LOAD(other, tiles + t * each + k * COLUMNS);
                    total[t] -= other * factor;
                }
            }
            for (int t = 0; t < TILES; t++) {
                total[t] /= corner[j];
                KN_STORE(tiles + t * each + j * COLUMNS, total[t]);
            }
        }
        for (int64_t r = 0; r < COLUMNS * TILES && start + r < n; r++) {
            double *row = a + (start + r) * n + first;
            const double *from = tiles + r / COLUMNS * each + r % COLUMNS;
            for (int64_t k = 0; k < m; k++) {
                row[k] = from[k * COLUMNS];
            }
        }
    }
}

/* Subtract L[i, k] L[j, k] of m columns from entries A[i, j]: some rows, and the columns of one tile. */
KN_INLINE void subtract_products(const int rows, double *block, int64_t stride, const double *left, int64_t n, int64_t m,
                                 const double *tile)
{
    kn_d8 total[CHOLESKY_ROWS];
    for (int r = 0; r < rows; r++) {
        KN_LOAD(total[r], block + r * stride);
    }
    for (int64_t k = 0; k < m; k++) {
        kn_d8 other;
        KN_LOAD(other, tile + k * COLUMNS);
        for (int r = 0; r < rows; r++) {
            total[r] -= other * left[r * n + k];
        }
    }
    for (int r = 0; r < rows; r++) {
        KN_STORE(block + r * stride, total[r]);
    }
}

/* The same where the diagonal, or the end of the matrix, cuts the tile off. */
HELPER void subtract_at_edge(double *a, int64_t n, int64_t i, int64_t rows, int64_t j, int64_t first, int64_t m,
                             const double *tile)
{
    for (int64_t r = 0; r < rows; r++) {
        double block[COLUMNS], *row = a + (i + r) * n;
        const int64_t columns = i + r + 1 - j < COLUMNS ? i + r + 1 - j : COLUMNS;
        for (int64_t c = 0; c < COLUMNS; c++) {
            block[c] = c < columns ? row[j + c] : 0;
        }
        subtract_products(1, block, 0, row + first, n, m, tile);
        for (int64_t c = 0; c < columns; c++) {
            row[j + c] = block[c];
        }
    }
}

/* The rest of the matrix without what columns first .. last - 1 of L account for. */
HELPER void subtract_panel(double *a, int64_t n, int64_t first, int64_t last, const double *tiles)
{
    const int64_t m = last - first;
    for (int64_t i = last; i < n; i += CHOLESKY_ROWS) {
        const int64_t rows = n - i < CHOLESKY_ROWS ? n - i : CHOLESKY_ROWS;
        for (int64_t j = last; j < i + rows; j += COLUMNS) {
            const double *tile = tiles + (j - last) * m;
            if (j + COLUMNS - 1 <= i && rows == CHOLESKY_ROWS) {
                subtract_products(CHOLESKY_ROWS, a + i * n + j, n, a + i * n + first, n, m, tile);
            } else {
                subtract_at_edge(a, n, i, rows, j, first, m, tile);
            }
        }
    }
}

/* Replace the lower triangle of A by L; 0 where A is not positive. */
HELPER int factor_matrix(double *a, int64_t n, double *scratch)
{
    for (int64_t first = 0; first < n; first += PANEL) {
        const int64_t last = first + PANEL < n ? first + PANEL : n;
        if (!factor_corner(a, n, first, last)) {
            return 0;
        }
        solve_panel(a, n, first, last, last, scratch);
        subtract_panel(a, n, first, last, scratch);
    }
    return 1;
}

/* Some right-hand sides, COLUMNS of them side by side: y (n, COLUMNS) becomes x. */
HELPER void solve_sides(const double *l, int64_t n, double *y)
{
    for (int64_t start = 0; start < n; start += 4) {
        const int64_t rows = n - start < 4 ? n - start : 4;
        kn_d8 total[4] = {{0}};
        for (int64_t r = 0; r < rows; r++) {
            KN_LOAD(total[r], y + (start + r) * COLUMNS);
        }
        const double *a = l + start * n, *b = rows > 1 ? a + n : a, *c = rows > 2 ? b + n : a, *d = rows > 3 ? c + n : a;
        for (int64_t j = 0; j < start; j++) {
            kn_d8 known;
            KN_LOAD(known, y + j * COLUMNS);
            total[0] -= known * a[j];
            total[1] -= known * b[j];
            total[2] -= known * c[j];
            total[3] -= known * d[j];
        }
        for (int64_t r = 0; r < rows; r++) {
            const double *row = l + (start + r) * n + start;
            for (int64_t k = 0; k < r; k++) {
                total[r] -= total[k] * row[k];
            }
            total[r] /= row[r];
            KN_STORE(y + (start + r) * COLUMNS, total[r]);
        }
    }
    for (int64_t end = n; end > 0; end -= 4) {
        const int64_t rows = end < 4 ? end : 4, start = end - rows;
        kn_d8 x[4] = {{0}};
        for (int64_t r = rows - 1; r >= 0; r--) {
            KN_LOAD(x[r], y + (start + r) * COLUMNS);
            for (int64_t k = rows - 1; k > r; k--) {
                x[r] -= x[k] * l[(start + k) * n + start + r];
            }
            x[r] /= l[(start + r) * n + start + r];
            KN_STORE(y + (start + r) * COLUMNS, x[r]);
        }
        if (rows < 4) {
            break;
        }
        const double *a = l + start * n, *b = a + n, *c = b + n, *d = c + n;
        for (int64_t j = 0; j < start; j++) {
            kn_d8 rest;
            KN_LOAD(rest, y + j * COLUMNS);
            rest -= x[3] * d[j];
            rest -= x[2] * c[j];
            rest -= x[1] * b[j];
            rest -= x[0] * a[j];
            KN_STORE(y + j * COLUMNS, rest);
        }
    }
}

/* Replace the columns of b, (n, m), by the solutions of L L' x = b. */
HELPER void solve_with_factor(const double *l, int64_t n, double *b, int64_t m, double *scratch)
{
    for (int64_t first = 0; first < m; first += COLUMNS) {
        const int64_t some = m - first < COLUMNS ? m - first : COLUMNS;
        for (int64_t i = 0; i < n; i++) {
            for (int64_t k = 0; k < COLUMNS; k++) {
                scratch[i * COLUMNS + k] = k < some ? b[i * m + first + k] : 0;
            }
        }
        solve_sides(l, n, scratch);
        for (int64_t i = 0; i < n; i++) {
            for (int64_t k = 0; k < some; k++) {
                b[i * m + first + k] = scratch[i * COLUMNS + k];
            }
        }
    }
}

/* Add factor * sum over k of columns[i, k] columns[j, k] to a lower triangle, the sum in the order of k. Columns are
 * (n, m); scratch takes m * COLUMNS doubles. */
HELPER void add_outer(double *a, int64_t n, const double *columns, int64_t m, double factor, double *scratch)
{
    for (int64_t j = 0; j < n; j += COLUMNS) {
        for (int64_t k = 0; k < m; k++) {
            for (int64_t c = 0; c < COLUMNS; c++) {
                scratch[k * COLUMNS + c] = j + c < n ? columns[(j + c) * m + k] : 0;
            }
        }
        for (int64_t i = j; i < n; i += CHOLESKY_ROWS) {
            const int64_t rows = n - i < CHOLESKY_ROWS ? n - i : CHOLESKY_ROWS;
            kn_d8 total[CHOLESKY_ROWS] = {{0}};
            for (int64_t k = 0; k < m; k++) {
                kn_d8 other;
                KN_LOAD(other, scratch + k * COLUMNS);
                for (int r = 0; r < CHOLESKY_ROWS; r++) {
                    total[r] += other * columns[(r < rows ? i + r : i) * m + k];
                }
            }
            for (int64_t r = 0; r < rows; r++) {
                for (int64_t c = 0; c < COLUMNS && j + c <= i + r; c++) {
                    a[(i + r) * n + j + c] += factor * total[r][c];
                }
            }
        }
    }
}

#undef PANEL
#undef TILES

#endif
