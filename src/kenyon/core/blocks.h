/* The products of many dense rows, added to a lower triangle: T[i, j] += sum over rows r of x[r, i] x[r, j].
 *
 * A template for the types ENTRY of the triangle and PART of its tiles. Units are laid out in tiles of TILE, so that what
 * is multiplied lies side by side and stays in the nearest cache: `tiles` is [tile][row][TILE]. Of the triangle, SOME rows
 * and TILE columns are computed in registers, row r of the samples after row r - 1.
 *
 * For integers, a PART holds two rows in one word (see below), which processors multiply and add in one instruction.
 */

#ifndef KENYON_BLOCKS_H
#define KENYON_BLOCKS_H

#include "eight.h"
#include "pairs.h"

#define TILE 16
#define SOME 4

typedef int16_t kn_h16 __attribute__((vector_size(32)));

/* a[2k] b[2k] + a[2k + 1] b[2k + 1] of numbers of 16 bits. */
KN_INLINE kn_i8 multiply_pairs(kn_i8 a, kn_i8 b)
{
#if defined(__AVX2__)
    return (kn_i8)__builtin_ia32_pmaddwd256((kn_h16)a, (kn_h16)b);
#elif defined(__SSE2__)
    typedef int16_t kn_h8 __attribute__((vector_size(16)));
    kn_h8 left[2], right[2];
    kn_i8 sums;
    memcpy(left, &a, sizeof left);
    memcpy(right, &b, sizeof right);
    for (int half = 0; half < 2; half++) {
        left[half] = (kn_h8)__builtin_ia32_pmaddwd128(left[half], right[half]);
    }
    memcpy(&sums, left, sizeof sums);
    return sums;
#else
    return (a >> 16) * (b >> 16) + (a << 16 >> 16) * (b << 16 >> 16);
#endif
}

/* As add_row_u64 in pairs.h, in 32 bits: SOME rows of the triangle on each way through the units. */
HELPER void add_row_u32(uint32_t *pairs, const int16_t *row, int64_t n_units, int32_t sign)
{
    typedef uint16_t kn_u8 __attribute__((vector_size(16)));
    for (int64_t i = 0; i < n_units; i += SOME) {
        const int64_t some = n_units - i < SOME ? n_units - i : SOME;
        int32_t values[SOME] = {0}, any = 0;
        int64_t j = 0;
        for (int64_t k = 0; k < some; k++) {
            values[k] = sign * row[i + k];
            any |= values[k];
        }
        if (!any) {
            continue;
        }
        for (; some == SOME && j + 8 <= i + 1; j += 8) {
            kn_u8 eight;
            KN_LOAD(eight, row + j);
            const kn_i8 others = __builtin_convertvector(eight, kn_i8); /* the upper half of each pair is 0 */
            for (int k = 0; k < SOME; k++) {
                kn_i8 entries;
                KN_LOAD(entries, pairs + ROW_OF(i + k) + j);
                entries += multiply_pairs((kn_i8){0} + (values[k] & 0xFFFF), others);
                KN_STORE(pairs + ROW_OF(i + k) + j, entries);
            }
        }
        for (int64_t k = 0; k < some; k++) {
            uint32_t *entries = pairs + ROW_OF(i + k);
            for (int64_t rest = j; rest <= i + k; rest++) {
                entries[rest] += (uint32_t)(values[k] * row[rest]);
            }
        }
    }
}

HELPER int64_t n_tiles(int64_t n_units)
{
    return (n_units + TILE - 1) / TILE;
}

/* Rows of integers as tiles, two rows to a word, with a row of zeros where their number is odd. Gives the words of a unit. */
HELPER int64_t lay_integers(const int16_t *rows, int64_t n_rows, int64_t n_units, int32_t *tiles)
{
    const int64_t n_words = (n_rows + 1) / 2;
    for (int64_t tile = 0; tile < n_tiles(n_units); tile++) {
        for (int64_t word = 0; word < n_words; word++, tiles += TILE) {
            const int16_t *first = rows + 2 * word * n_units;
            for (int64_t k = 0; k < TILE; k++) {
                const int64_t i = tile * TILE + k, inside = i < n_units;
                const uint16_t low = inside ? (uint16_t)first[i] : 0;
                const uint16_t high = inside && 2 * word + 1 < n_rows ? (uint16_t)first[n_units + i] : 0;
                tiles[k] = (int32_t)(low | (uint32_t)high << 16);
            }
        }
    }
    return n_words;
}

HELPER void lay_floats(const float *rows, int64_t n_rows, int64_t n_units, float *tiles)
{
    for (int64_t tile = 0; tile < n_tiles(n_units); tile++) {
        for (int64_t r = 0; r < n_rows; r++, tiles += TILE) {
            for (int64_t k = 0; k < TILE; k++) {
                const int64_t i = tile * TILE + k;
                tiles[k] = i < n_units ? rows[r * n_units + i] : 0;
            }
        }
    }
}

/* out[k][l] = sum over words of the pairs of unit k (of `left`, from `unit` on) and unit l (of `right`). */
KN_INLINE void multiply_integers(const int32_t *left, const int32_t *right, int64_t n_words, int64_t unit,
                                 int32_t out[SOME][TILE])
{
    kn_i8 total[SOME][2] = {{{0}}};
    for (int64_t word = 0; word < n_words; word++) {
        kn_i8 low, high;
        KN_LOAD(low, right + word * TILE);
        KN_LOAD(high, right + word * TILE + 8);
        for (int k = 0; k < SOME; k++) {
            const kn_i8 one = (kn_i8){0} + left[word * TILE + unit + k];
            total[k][0] += multiply_pairs(one, low);
            total[k][1] += multiply_pairs(one, high);
        }
    }
    memcpy(out, total, sizeof total);
}

/* As it says, with `out` what the sums begin with: row after row. */
KN_INLINE void multiply_floats(const float *left, const float *right, int64_t n_rows, int64_t unit, float out[SOME][TILE])
{
    kn_f8 total[SOME][2];
    memcpy(total, out, sizeof total);
    for (int64_t r = 0; r < n_rows; r++) {
        kn_f8 low, high;
        KN_LOAD(low, right + r * TILE);
        KN_LOAD(high, right + r * TILE + 8);
        for (int k = 0; k < SOME; k++) {
            const kn_f8 one = left[r * TILE + unit + k] - (kn_f8){0}; /* + would lose the sign of a zero */
            total[k][0] += one * low;
            total[k][1] += one * high;
        }
    }
    memcpy(out, total, sizeof total);
}
#endif

/* Each part of the triangle: SOME rows from i on, TILE columns from j on, as far as it reaches. */
HELPER void NAMED(ENTRY *pairs, const PART *tiles, int64_t n_each, int64_t n_units)
{
    for (int64_t i = 0; i < n_units; i += SOME) {
        for (int64_t j = 0; j <= i; j += TILE) {
            PART block[SOME][TILE];
            const PART *left = tiles + i / TILE * n_each * TILE, *right = tiles + j / TILE * n_each * TILE;
#ifdef IN_ORDER
            for (int64_t k = 0; k < SOME; k++) {
                for (int64_t l = 0; l < TILE; l++) {
                    block[k][l] = i + k < n_units && j + l <= i + k ? pairs[ROW_OF(i + k) + j + l] : 0;
                }
            }
#endif
            MULTIPLY(left, right, n_each, i % TILE, block);
            for (int64_t k = 0; k < SOME && i + k < n_units; k++) {
                ENTRY *row = pairs + ROW_OF(i + k) + j;
                const int64_t n = i + k + 1 - j < TILE ? i + k + 1 - j : TILE;
                if (n == TILE) {
                    for (int64_t l = 0; l < TILE; l++) {
                        PUT(row[l], block[k][l]);
                    }
                } else {
                    for (int64_t l = 0; l < n; l++) {
                        PUT(row[l], block[k][l]);
                    }
                }
            }
        }
    }
}

#undef NAMED
#undef ENTRY
#undef PART
#undef MULTIPLY
#undef PUT
#undef IN_ORDER
