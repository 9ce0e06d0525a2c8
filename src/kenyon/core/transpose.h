/* Samples beside one another, and back: rows of LANES numbers, a lane a sample, from samples and to runs of units. */

#ifndef KENYON_TRANSPOSE_H
#define KENYON_TRANSPOSE_H

#include "vectors.h"

#if defined(__SSE2__)
/* 16 rows of 16 bytes become columns. */
KN_INLINE void transpose_16_bytes(const uint8_t *from, int64_t from_step, uint8_t *to, int64_t to_step)
{
    __m128i a[16], b[16];
    for (int i = 0; i < 16; i++) {
        a[i] = _mm_loadu_si128((const __m128i *)(from + i * from_step));
    }
    for (int i = 0; i < 8; i++) { /* row i beside row i + 8, four times */
        b[2 * i] = _mm_unpacklo_epi8(a[i], a[i + 8]);
        b[2 * i + 1] = _mm_unpackhi_epi8(a[i], a[i + 8]);
    }
    for (int i = 0; i < 8; i++) {
        a[2 * i] = _mm_unpacklo_epi8(b[i], b[i + 8]);
        a[2 * i + 1] = _mm_unpackhi_epi8(b[i], b[i + 8]);
    }
    for (int i = 0; i < 8; i++) {
        b[2 * i] = _mm_unpacklo_epi8(a[i], a[i + 8]);
        b[2 * i + 1] = _mm_unpackhi_epi8(a[i], a[i + 8]);
    }
    for (int i = 0; i < 8; i++) {
        _mm_storeu_si128((__m128i *)(to + 2 * i * to_step), _mm_unpacklo_epi8(b[i], b[i + 8]));
        _mm_storeu_si128((__m128i *)(to + (2 * i + 1) * to_step), _mm_unpackhi_epi8(b[i], b[i + 8]));
    }
}

/* 8 rows of 8 numbers of 16 bits. */
KN_INLINE void transpose_8_shorts(const int16_t *from, int64_t from_step, int16_t *to, int64_t to_step)
{
    __m128i a[8], b[8];
    for (int i = 0; i < 8; i++) {
        a[i] = _mm_loadu_si128((const __m128i *)(from + i * from_step));
    }
    for (int i = 0; i < 4; i++) {
        b[2 * i] = _mm_unpacklo_epi16(a[i], a[i + 4]);
        b[2 * i + 1] = _mm_unpackhi_epi16(a[i], a[i + 4]);
    }
    for (int i = 0; i < 4; i++) {
        a[2 * i] = _mm_unpacklo_epi16(b[i], b[i + 4]);
        a[2 * i + 1] = _mm_unpackhi_epi16(b[i], b[i + 4]);
    }
    for (int i = 0; i < 4; i++) {
        _mm_storeu_si128((__m128i *)(to + 2 * i * to_step), _mm_unpacklo_epi16(a[i], a[i + 4]));
        _mm_storeu_si128((__m128i *)(to + (2 * i + 1) * to_step), _mm_unpackhi_epi16(a[i], a[i + 4]));
    }
}

/* 4 rows of 4 numbers of 32 bits. */
KN_INLINE void transpose_4_words(const void *from, int64_t from_step, void *to, int64_t to_step)
{
    const int32_t *source = from;
    int32_t *target = to;
    __m128i a[4], b[4];
    for (int i = 0; i < 4; i++) {
        a[i] = _mm_loadu_si128((const __m128i *)(source + i * from_step));
    }
    for (int i = 0; i < 2; i++) {
        b[2 * i] = _mm_unpacklo_epi32(a[i], a[i + 2]);
        b[2 * i + 1] = _mm_unpackhi_epi32(a[i], a[i + 2]);
    }
    for (int i = 0; i < 2; i++) {
        _mm_storeu_si128((__m128i *)(target + 2 * i * to_step), _mm_unpacklo_epi32(b[i], b[i + 2]));
        _mm_storeu_si128((__m128i *)(target + (2 * i + 1) * to_step), _mm_unpackhi_epi32(b[i], b[i + 2]));
    }
}
#endif

/* TRANSPOSE(name, number, side, some): `to` (columns, rows) becomes `from` (rows, columns), steps in numbers; `some` does
 * it for a square of that side. */
#if defined(__SSE2__)
#define TRANSPOSE_SQUARES(side, some)                                                                                  \
    for (int64_t row = 0; row < rows / side * side; row += side) {                                                     \
        for (int64_t column = 0; column < columns / side * side; column += side) {                                     \
            some(from + row * from_step + column, from_step, to + column * to_step + row, to_step);                    \
        }                                                                                                              \
    }                                                                                                                  \
    done_rows = rows / side * side;                                                                                    \
    done_columns = columns / side * side;
#else
#define TRANSPOSE_SQUARES(side, some)
#endif

#define TRANSPOSE(name, number, side, some)                                                                            \
    static void name(const number *from, int64_t rows, int64_t columns, int64_t from_step, number *to,                 \
                     int64_t to_step)                                                                                  \
    {                                                                                                                  \
        int64_t done_rows = 0, done_columns = 0;                                                                       \
        TRANSPOSE_SQUARES(side, some)                                                                                  \
        for (int64_t row = 0; row < rows; row++) {                                                                     \
            for (int64_t column = row < done_rows ? done_columns : 0; column < columns; column++) {                    \
                to[column * to_step + row] = from[row * from_step + column];                                           \
            }                                                                                                          \
        }                                                                                                              \
    }

TRANSPOSE(transpose_bytes, uint8_t, 16, transpose_16_bytes)
TRANSPOSE(transpose_short, int16_t, 8, transpose_8_shorts)
TRANSPOSE(transpose_int, int32_t, 4, transpose_4_words)
TRANSPOSE(transpose_float, float, 4, transpose_4_words)

#undef TRANSPOSE
#undef TRANSPOSE_SQUARES

#endif
