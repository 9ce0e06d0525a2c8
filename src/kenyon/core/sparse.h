/* The sparse random projection: x_e = ReLU(W_e u - mu - beta sigma), from samples to their active units.
 *
 * W_e holds +1 and -1 only, so a projection is a sum of inputs less a sum of inputs. Bytes are summed exactly in 16 or
 * 32 bits; floats are summed in float32 in ascending order of the input, the excitatory ones and the inhibitory ones
 * apart. LANES samples go side by side; a single sample visits only the inputs that are not zero. Both give the same
 * bits. */

#ifndef KENYON_SPARSE_H
#define KENYON_SPARSE_H

#include "threshold.h"

typedef struct {
    const void *inputs; /* (units, connections), numbers of 16 or, `wide`, of 32 bits; excitatory ones first */
    int wide;
    int64_t n_inputs, n_units, n_connections, n_excitatory;
    const int32_t *degrees; /* (inputs) how many units an input excites less how many it inhibits */
    int64_t largest;        /* no sum of bytes is larger */
} sparse_layer;

/* The projection the other way round: input i goes to units[starts[i]] .. units[starts[i + 1] - 1]. */
typedef struct {
    const int64_t *starts;
    const void *units; /* of 16 or, `wide`, of 32 bits */
    int wide;
} sparse_groups;

typedef struct {
    void *columns;   /* (inputs, LANES) of the samples' type */
    void *projected; /* (units + 1, LANES) of the sums' type */
} sparse_scratch;

KN_INLINE uint32_t sparse_number(const void *numbers, int wide, int64_t k)
{
    return wide ? ((const uint32_t *)numbers)[k] : ((const uint16_t *)numbers)[k];
}

/* Sum and sum of squares over the units of one sample: an integer sum is exact in any order. */
static int64_t sparse_total(const uint8_t *sample, const sparse_layer *layer)
{
    int64_t total = 0;
    for (int64_t i = 0; i < layer->n_inputs; i++) {
        total += (int64_t)layer->degrees[i] * sample[i];
    }
    return total;
}

/* ---- bytes whose sums 16 bits hold */

#if defined(__AVX2__)
/* The bytes of two inputs are put side by side, sample by sample, and added by an instruction for dot products. A row of
 * sums has the samples in this order. */
static const uint8_t sparse_lanes[LANES] = {0, 1, 2,  3,  4,  5,  6,  7,  16, 17, 18, 19, 20, 21, 22, 23,
                                            8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31};

KN_INLINE void sparse_add_two(__m256i one, __m256i other, __m256i *low, __m256i *high)
{
    const __m256i ones = _mm256_set1_epi8(1);
    *low = _mm256_add_epi16(*low, _mm256_maddubs_epi16(_mm256_unpacklo_epi8(one, other), ones));
    *high = _mm256_add_epi16(*high, _mm256_maddubs_epi16(_mm256_unpackhi_epi8(one, other), ones));
}

KN_INLINE __m256i sparse_column(const uint8_t *columns, uint64_t number)
{
    return _mm256_loadu_si256((const __m256i *)(columns + number * LANES));
}

KN_INLINE void sparse_add_bytes(const uint8_t *columns, const void *numbers, int wide, int64_t first, int64_t last,
                                kn_ushorts *low_sums, kn_ushorts *high_sums)
{
    __m256i low = _mm256_setzero_si256(), high = low;
    int64_t k = first;
    for (; k + 4 <= last; k += 4) {
        if (wide) {
            sparse_add_two(sparse_column(columns, sparse_number(numbers, 1, k)),
                           sparse_column(columns, sparse_number(numbers, 1, k + 1)), &low, &high);
            sparse_add_two(sparse_column(columns, sparse_number(numbers, 1, k + 2)),
                           sparse_column(columns, sparse_number(numbers, 1, k + 3)), &low, &high);
        } else { /* four numbers in one word */
            uint64_t four;
            KN_LOAD(four, (const uint16_t *)numbers + k);
            sparse_add_two(sparse_column(columns, four & 0xFFFF), sparse_column(columns, four >> 16 & 0xFFFF), &low, &high);
            sparse_add_two(sparse_column(columns, four >> 32 & 0xFFFF), sparse_column(columns, four >> 48), &low, &high);
        }
    }
    for (; k < last; k++) {
        sparse_add_two(sparse_column(columns, sparse_number(numbers, wide, k)), _mm256_setzero_si256(), &low, &high);
    }
    *low_sums = (kn_ushorts)low;
    *high_sums = (kn_ushorts)high;
}
#else
/* A word of two samples' bytes is w = low + 256 high. The sums of w and of high are kept, modulo 2^16, which takes fewer
 * instructions than widening each byte: sum of low = sum of w - 256 sum of high, exact while it is below 2^16. A row of
 * sums has the even samples, then the odd ones. */
static const uint8_t sparse_lanes[LANES] = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30,
                                            1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31};

KN_INLINE void sparse_add_bytes(const uint8_t *columns, const void *numbers, int wide, int64_t first, int64_t last,
                                kn_ushorts *low_sums, kn_ushorts *high_sums)
{
    kn_ushorts all = {0}, high = {0}, words;
    for (int64_t k = first; k < last; k++) {
        KN_LOAD(words, columns + (size_t)sparse_number(numbers, wide, k) * LANES);
        all += words;
        high += words >> 8;
    }
    *low_sums = all - (high << 8);
    *high_sums = high;
}
#endif

/* Squares of the rows of two units, added lane by lane in 32 bits; sparse_square_lanes has their order. */
#if defined(__AVX2__)
static const uint8_t sparse_square_lanes[LANES] = {0,  1,  2,  3,  8,  9,  10, 11, 4,  5,  6,  7,  12, 13, 14, 15,
                                                   16, 17, 18, 19, 24, 25, 26, 27, 20, 21, 22, 23, 28, 29, 30, 31};

KN_INLINE void sparse_add_squares(const int16_t *row, __m256i *sums)
{
    for (int i = 0; i < 2; i++) {
        __m256i one, other;
        KN_LOAD(one, row + 16 * i);
        KN_LOAD(other, row + LANES + 16 * i);
        const __m256i low = _mm256_unpacklo_epi16(one, other), high = _mm256_unpackhi_epi16(one, other);
        sums[2 * i] = _mm256_add_epi32(sums[2 * i], _mm256_madd_epi16(low, low));
        sums[2 * i + 1] = _mm256_add_epi32(sums[2 * i + 1], _mm256_madd_epi16(high, high));
    }
}
typedef __m256i sparse_squares[4];
#else
#define sparse_square_lanes threshold_in_order

KN_INLINE void sparse_add_squares(const int16_t *row, int32_t *sums)
{
    for (int lane = 0; lane < LANES; lane++) {
        sums[lane] += (int32_t)row[lane] * row[lane] + (int32_t)row[LANES + lane] * row[LANES + lane];
    }
}
typedef int32_t sparse_squares[LANES];
#endif

KN_INLINE void sparse_project_bytes(const sparse_layer *layer, int wide, const uint8_t *columns, int16_t *projected,
                                    int64_t *squares)
{
    const int64_t n_units = layer->n_units, n_connections = layer->n_connections;
    const int64_t square = layer->largest * layer->largest;
    const int64_t tile = square ? INT32_MAX / square / 2 * 2 : n_units; /* as many as 32 bits hold, an even number */
    memset(squares, 0, LANES * sizeof *squares);
    memset(projected + n_units * LANES, 0, LANES * sizeof *projected);
    for (int64_t first = 0; first < n_units; first += tile) {
        const int64_t last = first + tile < n_units ? first + tile : n_units;
        sparse_squares sums;
        int32_t flat[LANES];
        memset(&sums, 0, sizeof sums);
        for (int64_t unit = first; unit < last; unit++) {
            const char *numbers = (const char *)layer->inputs + unit * n_connections * (wide ? 4 : 2);
            kn_ushorts low, high, less_low, less_high;
            sparse_add_bytes(columns, numbers, wide, 0, layer->n_excitatory, &low, &high);
            if (layer->n_excitatory < n_connections) {
                sparse_add_bytes(columns, numbers, wide, layer->n_excitatory, n_connections, &less_low, &less_high);
                low -= less_low;
                high -= less_high;
            }
            KN_STORE(projected + unit * LANES, low);
            KN_STORE(projected + unit * LANES + LANES / 2, high);
            if (unit % 2) {
                sparse_add_squares(projected + (unit - 1) * LANES, sums);
            }
        }
        if (last % 2) {
            sparse_add_squares(projected + (last - 1) * LANES, sums); /* the row behind the last one is zero */
        }
        memcpy(flat, &sums, sizeof flat);
        for (int lane = 0; lane < LANES; lane++) {
            squares[sparse_square_lanes[lane]] += flat[lane];
        }
    }
}

static void sparse_block_bytes(const uint8_t *samples, int64_t n, const sparse_layer *layer, const threshold_rule *rule,
                               const sparse_scratch *scratch, const activity_out *out, int64_t first)
{
    uint8_t *columns = scratch->columns;
    int16_t *projected = scratch->projected;
    int64_t squares[LANES];
    threshold_cut cuts[LANES];
    if (n < LANES) {
        memset(columns, 0, (size_t)(layer->n_inputs * LANES));
    }
    transpose_bytes(samples, n, layer->n_inputs, layer->n_inputs, columns, LANES);
    if (layer->wide) {
        sparse_project_bytes(layer, 1, columns, projected, squares);
    } else {
        sparse_project_bytes(layer, 0, columns, projected, squares);
    }
    for (int lane = 0; lane < LANES; lane++) {
        const int b = sparse_lanes[lane];
        if (b < n) {
            const double total = (double)sparse_total(samples + b * layer->n_inputs, layer);
            cuts[lane] = threshold_of(total, (double)squares[lane], layer->n_units, rule);
        }
    }
    threshold_block_short(projected, layer->n_units, n, sparse_lanes, rule, cuts, out, first);
}

/* ---- other numbers: bytes in 32 bits, and floats */

KN_INLINE kn_ints sparse_eight_bytes(const uint8_t *from)
{
    uint8_t eight __attribute__((vector_size(8)));
    KN_LOAD(eight, from);
    return __builtin_convertvector(eight, kn_ints);
}

KN_INLINE kn_floats sparse_eight_floats(const float *from)
{
    kn_floats eight;
    KN_LOAD(eight, from);
    return eight;
}

#define SAMPLE uint8_t
#define SUM int32_t
#define SUMS kn_ints
#define WIDENED sparse_eight_bytes
#define BESIDE transpose_bytes
#define NAMED(name) name##_int
#include "sparse_sums.h"
#undef SAMPLE
#undef SUM
#undef SUMS
#undef WIDENED
#undef BESIDE
#undef NAMED

#define SAMPLE float
#define SUM float
#define SUMS kn_floats
#define WIDENED sparse_eight_floats
#define BESIDE transpose_float
#define NAMED(name) name##_float
#include "sparse_sums.h"
#undef SAMPLE
#undef SUM
#undef SUMS
#undef WIDENED
#undef BESIDE
#undef NAMED

/* ---- single samples */

#define SAMPLE uint8_t
#define SUM int16_t
#define NAMED(name) name##_short
#include "sparse_one.h"
#undef SUM
#undef NAMED

#define SUM int32_t
#define NAMED(name) name##_int
#include "sparse_one.h"
#undef SAMPLE
#undef SUM
#undef NAMED

#define SAMPLE float
#define SUM float
#define NAMED(name) name##_float
#include "sparse_one.h"
#undef SAMPLE
#undef SUM
#undef NAMED

#endif
