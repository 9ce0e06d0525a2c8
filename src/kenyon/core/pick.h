/* Pick the numbers of a run that are above a bar: their places, and their values as floats or integers.
 *
 * With AVX2 eight at a time, without a branch: the places of the set bits of a mask of eight come from a table. A step
 * writes eight entries, whatever is picked, but never beyond as many as it has looked at. */

#ifndef KENYON_PICK_H
#define KENYON_PICK_H

#include "vectors.h"

#if defined(__AVX2__)
/* Byte j of entry m: the place of the j-th lowest set bit of m. */
static const uint64_t pick_places[256] = {
    0x0, 0x0, 0x1, 0x100, 0x2, 0x200, 0x201, 0x20100, 0x3, 0x300, 0x301, 0x30100, 0x302, 0x30200, 0x30201, 0x3020100,
    0x4, 0x400, 0x401, 0x40100, 0x402, 0x40200, 0x40201, 0x4020100, 0x403, 0x40300, 0x40301, 0x4030100, 0x40302,
    0x4030200, 0x4030201, 0x403020100, 0x5, 0x500, 0x501, 0x50100, 0x502, 0x50200, 0x50201, 0x5020100, 0x503, 0x50300,
    0x50301, 0x5030100, 0x50302, 0x5030200, 0x5030201, 0x503020100, 0x504, 0x50400, 0x50401, 0x5040100, 0x50402,
    0x5040200, 0x5040201, 0x504020100, 0x50403, 0x5040300, 0x5040301, 0x504030100, 0x5040302, 0x504030200, 0x504030201,
    0x50403020100, 0x6, 0x600, 0x601, 0x60100, 0x602, 0x60200, 0x60201, 0x6020100, 0x603, 0x60300, 0x60301, 0x6030100,
    0x60302, 0x6030200, 0x6030201, 0x603020100, 0x604, 0x60400, 0x60401, 0x6040100, 0x60402, 0x6040200, 0x6040201,
    0x604020100, 0x60403, 0x6040300, 0x6040301, 0x604030100, 0x6040302, 0x604030200, 0x604030201, 0x60403020100, 0x605,
    0x60500, 0x60501, 0x6050100, 0x60502, 0x6050200, 0x6050201, 0x605020100, 0x60503, 0x6050300, 0x6050301,
    0x605030100, 0x6050302, 0x605030200, 0x605030201, 0x60503020100, 0x60504, 0x6050400, 0x6050401, 0x605040100,
    0x6050402, 0x605040200, 0x605040201, 0x60504020100, 0x6050403, 0x605040300, 0x605040301, 0x60504030100,
    0x605040302, 0x60504030200, 0x60504030201, 0x6050403020100, 0x7, 0x700, 0x701, 0x70100, 0x702, 0x70200, 0x70201,
    0x7020100, 0x703, 0x70300, 0x70301, 0x7030100, 0x70302, 0x7030200, 0x7030201, 0x703020100, 0x704, 0x70400, 0x70401,
    0x7040100, 0x70402, 0x7040200, 0x7040201, 0x704020100, 0x70403, 0x7040300, 0x7040301, 0x704030100, 0x7040302,
    0x704030200, 0x704030201, 0x70403020100, 0x705, 0x70500, 0x70501, 0x7050100, 0x70502, 0x7050200, 0x7050201,
    0x705020100, 0x70503, 0x7050300, 0x7050301, 0x705030100, 0x7050302, 0x705030200, 0x705030201, 0x70503020100,
    0x70504, 0x7050400, 0x7050401, 0x705040100, 0x7050402, 0x705040200, 0x705040201, 0x70504020100, 0x7050403,
    0x705040300, 0x705040301, 0x70504030100, 0x705040302, 0x70504030200, 0x70504030201, 0x7050403020100, 0x706,
    0x70600, 0x70601, 0x7060100, 0x70602, 0x7060200, 0x7060201, 0x706020100, 0x70603, 0x7060300, 0x7060301,
    0x706030100, 0x7060302, 0x706030200, 0x706030201, 0x70603020100, 0x70604, 0x7060400, 0x7060401, 0x706040100,
    0x7060402, 0x706040200, 0x706040201, 0x70604020100, 0x7060403, 0x706040300, 0x706040301, 0x70604030100,
    0x706040302, 0x70604030200, 0x70604030201, 0x7060403020100, 0x70605, 0x7060500, 0x7060501, 0x706050100, 0x7060502,
    0x706050200, 0x706050201, 0x70605020100, 0x7060503, 0x706050300, 0x706050301, 0x70605030100, 0x706050302,
    0x70605030200, 0x70605030201, 0x7060503020100, 0x7060504, 0x706050400, 0x706050401, 0x70605040100, 0x706050402,
    0x70605040200, 0x70605040201, 0x7060504020100, 0x706050403, 0x70605040300, 0x70605040301, 0x7060504030100,
    0x70605040302, 0x7060504030200, 0x7060504030201, 0x706050403020100,
};

KN_INLINE int pick_step(uint32_t mask, uint32_t first, __m256i values, int as_floats, uint32_t *places, void *picked)
{
    const __m256i order = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)&pick_places[mask]));
    const __m256i numbers = _mm256_add_epi32(order, _mm256_set1_epi32((int)first));
    values = _mm256_permutevar8x32_epi32(values, order);
    KN_STORE(places, numbers);
    if (as_floats) {
        const __m256 floats = _mm256_cvtepi32_ps(values);
        KN_STORE(picked, floats);
    } else {
        KN_STORE(picked, values);
    }
    return __builtin_popcount(mask);
}
#endif

/* PICK(name, number, given): of n numbers from place `first` on, those above the bar; how many they are. `places` and
 * `picked` (numbers of the type `given`) have room for n. */
#define PICK_REST(number, given)                                                                                       \
    for (; i < n; i++) {                                                                                               \
        places[count] = first + (uint32_t)i;                                                                           \
        picked[count] = (given)numbers[i];                                                                             \
        count += numbers[i] > bar;                                                                                     \
    }                                                                                                                  \
    return count;

#if defined(__AVX2__)
#define PICK_SHORTS                                                                                                    \
    const __m128i bars = _mm_set1_epi16(bar);                                                                          \
    for (; i + 8 <= n; i += 8) {                                                                                       \
        const __m128i eight = _mm_loadu_si128((const __m128i *)(numbers + i)), above = _mm_cmpgt_epi16(eight, bars);   \
        const uint32_t mask = (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(above, _mm_setzero_si128()));                \
        count += pick_step(mask, first + (uint32_t)i, _mm256_cvtepi16_epi32(eight), FLOATS, places + count,            \
                           picked + count);                                                                            \
    }
#define PICK_INTS                                                                                                      \
    const __m256i bars = _mm256_set1_epi32(bar);                                                                       \
    for (; i + 8 <= n; i += 8) {                                                                                       \
        const __m256i eight = _mm256_loadu_si256((const __m256i *)(numbers + i));                                      \
        const uint32_t mask = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(eight, bars)));      \
        count += pick_step(mask, first + (uint32_t)i, eight, FLOATS, places + count, picked + count);                  \
    }
#define PICK_FLOATS                                                                                                    \
    const __m256 bars = _mm256_set1_ps(bar);                                                                           \
    for (; i + 8 <= n; i += 8) {                                                                                       \
        const __m256 eight = _mm256_loadu_ps(numbers + i);                                                             \
        const uint32_t mask = (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(eight, bars, _CMP_GT_OQ));                    \
        count += pick_step(mask, first + (uint32_t)i, _mm256_castps_si256(eight), 0, places + count, picked + count);  \
    }
#else
#define PICK_SHORTS
#define PICK_INTS
#define PICK_FLOATS
#endif

#define PICK(name, number, given, AT_ONCE)                                                                             \
    KN_INLINE int64_t name(const number *numbers, int64_t n, number bar, uint32_t first, uint32_t *places,             \
                           given *picked)                                                                              \
    {                                                                                                                  \
        int64_t i = 0, count = 0;                                                                                      \
        AT_ONCE                                                                                                        \
        PICK_REST(number, given)                                                                                       \
    }

#define FLOATS 1
PICK(pick_short_floats, int16_t, float, PICK_SHORTS)
PICK(pick_int_floats, int32_t, float, PICK_INTS)
PICK(pick_float_floats, float, float, PICK_FLOATS)
#undef FLOATS
#define FLOATS 0
PICK(pick_short_numbers, int16_t, int32_t, PICK_SHORTS)
PICK(pick_int_numbers, int32_t, int32_t, PICK_INTS)
#define pick_float_numbers pick_float_floats
#undef FLOATS

#undef PICK
#undef PICK_REST
#undef PICK_SHORTS
#undef PICK_INTS
#undef PICK_FLOATS

#endif
