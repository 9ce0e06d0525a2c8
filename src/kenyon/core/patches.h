/* Patches: units that answer to one small filter anywhere in a part of an image, in integers.
 *
 *     dot(q)   = sum_k f_k u[q + k]                                          a filter f at a place q; its sum is 0
 *     scale(q) = isqrt(2^(2 b) n^2 // (n sum u^2 - (sum u)^2 + eps n^2))     2^b / sqrt(variance + eps) of n values
 *     t        = sum_q max(0, dot(q) scale(q) - threshold) >> down           over pool x pool places q
 *     x        = min(255, sum of isqrt(min(t // unit, 2^20 - 1)) // (2 m))   over m answers: views, and mirror images
 *
 * A view is the sample itself, or turned and zoomed about its middle: pixel (y, x) of view (c, s) is taken from
 *
 *     (c y - s x) / 64,  (s y + c x) / 64                                    from the middle, inside the sample
 *
 * in steps of 1/128, between the four pixels around it.
 *
 * A sample lies row by row with its channels side by side and a border of zeros. Four neighbouring bytes of a row are a
 * word, and a filter is multiplied word by word, a lane being a place. Entries of a filter are -63 to 63, so that sums of
 * two products fit into 16 bits. */

#ifndef KENYON_PATCHES_H
#define KENYON_PATCHES_H

#include <math.h>

#include "activity.h"

#define PATCHES_SLACK 16 /* words behind a row that a vector may reach, of which it takes nothing */
#define PATCHES_MOST_ROOT ((1 << 20) - 1)

typedef struct {
    const int8_t *filters;  /* (answers, size, words, 4): each unit's own filter, then its mirror image */
    const int32_t *corners; /* (answers, 2): row and column of the first place */
    const int32_t *views;   /* (views, 2): c and s; the first is the sample itself */
    int64_t n_units, copies, n_views;
    int64_t size, channels, words; /* of a patch: its side, and words of a row */
    int64_t rows, columns;         /* of places */
    int64_t pool, border;
    int64_t floor; /* eps n^2 */
    int bits, down;
    int narrow; /* whether sums of half of a filter's products fit into 16 bits */
    int32_t threshold, unit;
} patches_layer;

typedef struct {
    uint8_t *image;  /* (rows + size - 1, bytes) with a border of zeros: the sample */
    uint8_t *view;   /* the same for the view that is looked at */
    int64_t bytes;   /* of a row, at least 4 more than the image has */
    uint32_t *words; /* (rows + size - 1, words, columns + slack) */
    int32_t *scales; /* (rows, columns + slack) */
    int32_t *roots;  /* (units) */
} patches_scratch;

#define PATCHES_LANES ((int)(KN_REGISTER / 4))

typedef int32_t patches_ints __attribute__((vector_size(KN_REGISTER)));

/* Sums of products, lane by lane: bytes of `n` vectors of words, `step` words apart, times the four numbers in every lane
 * of each of the filter's. Where `narrow`, sums of half of them fit into 16 bits. */
KN_INLINE patches_ints patches_dot(const uint32_t *words, int64_t step, const patches_ints *filter, int64_t n, int narrow)
{
    patches_ints sums = {0}, values;
#if KN_REGISTER >= 32
#if KN_REGISTER == 64
#define PAIRS(a, b) (patches_ints) _mm512_maddubs_epi16((__m512i)(a), (__m512i)(b))
#define ADD_SHORTS(a, b) (patches_ints) _mm512_add_epi16((__m512i)(a), (__m512i)(b))
#define WIDE(a) (patches_ints) _mm512_madd_epi16((__m512i)(a), _mm512_set1_epi16(1))
#else
#define PAIRS(a, b) (patches_ints) _mm256_maddubs_epi16((__m256i)(a), (__m256i)(b))
#define ADD_SHORTS(a, b) (patches_ints) _mm256_add_epi16((__m256i)(a), (__m256i)(b))
#define WIDE(a) (patches_ints) _mm256_madd_epi16((__m256i)(a), _mm256_set1_epi16(1))
#endif
    patches_ints pairs = {0};
    for (int64_t k = 0; k < n; k++) {
        KN_LOAD(values, words + k * step);
        pairs = ADD_SHORTS(pairs, PAIRS(values, filter[k]));
        if (!narrow || k == n / 2 - 1 || k == n - 1) {
            sums += WIDE(pairs);
            pairs = (patches_ints){0};
        }
    }
#undef PAIRS
#undef ADD_SHORTS
#undef WIDE
#else
    (void)narrow;
    for (int64_t k = 0; k < n; k++) {
        KN_LOAD(values, words + k * step);
#if defined(__SSE2__)
        const __m128i even = _mm_set1_epi32(0x00FF00FF), w = (__m128i)values, f = (__m128i)filter[k];
        sums += (patches_ints)_mm_madd_epi16(_mm_and_si128(w, even), _mm_srai_epi16(_mm_slli_epi16(f, 8), 8));
        sums += (patches_ints)_mm_madd_epi16(_mm_srli_epi16(w, 8), _mm_srai_epi16(f, 8));
#else
        const patches_ints f = filter[k];
        sums += (values & 255) * (f << 24 >> 24) + (values >> 8 & 255) * (f << 16 >> 24) +
                (values >> 16 & 255) * (f << 8 >> 24) + (values >> 24 & 255) * (f >> 24);
#endif
    }
#endif
    return sums;
}

KN_INLINE patches_ints patches_positive(patches_ints a)
{
#if KN_REGISTER == 64
    return (patches_ints)_mm512_max_epi32((__m512i)a, _mm512_setzero_si512());
#else
    return a & (a > 0);
#endif
}

static int32_t patches_root(int64_t value) /* below 2^50, where float64 tells the root from the next integer */
{
    return (int32_t)sqrt((double)value);
}

KN_INLINE int64_t patches_inside(int64_t place, int64_t side)
{
    return place < 0 ? 0 : place > 128 * (side - 1) ? 128 * (side - 1) : place;
}

/* Make a view of the sample. */
static void patches_turn(const patches_layer *layer, const patches_scratch *scratch, int64_t c, int64_t s)
{
    const int64_t height = layer->rows + layer->size - 1 - 2 * layer->border;
    const int64_t width = layer->columns + layer->size - 1 - 2 * layer->border;
    const int64_t first = layer->border * scratch->bytes + layer->border * layer->channels;
    for (int64_t y = 0; y < height; y++) {
        for (int64_t x = 0; x < width; x++) {
            const int64_t down = 2 * y - height + 1, right = 2 * x - width + 1;
            const int64_t row = patches_inside(64 * (height - 1) + c * down - s * right, height);
            const int64_t column = patches_inside(64 * (width - 1) + s * down + c * right, width);
            const int32_t below = row & 127, beside = column & 127;
            const uint8_t *a = scratch->image + first + (row >> 7) * scratch->bytes + (column >> 7) * layer->channels;
            const uint8_t *b = a + (below ? scratch->bytes : 0);
            const int64_t next = beside ? layer->channels : 0;
            uint8_t *to = scratch->view + first + y * scratch->bytes + x * layer->channels;
            for (int64_t k = 0; k < layer->channels; k++) {
                const int32_t upper = (128 - beside) * a[k] + beside * a[k + next];
                const int32_t lower = (128 - beside) * b[k] + beside * b[k + next];
                to[k] = (uint8_t)(((128 - below) * upper + below * lower + (1 << 13)) >> 14);
            }
        }
    }
}

/* Lay out the words of a view. */
static void patches_lay_out(const patches_layer *layer, const patches_scratch *scratch)
{
    const int64_t stride = layer->columns + PATCHES_SLACK;
    for (int64_t row = 0; row < layer->rows + layer->size - 1; row++) {
        for (int64_t word = 0; word < layer->words; word++) {
            const uint8_t *from = scratch->view + row * scratch->bytes + 4 * word;
            uint32_t *to = scratch->words + (row * layer->words + word) * stride;
            for (int64_t column = 0; column < layer->columns; column++, from += layer->channels) {
                memcpy(to + column, from, 4);
            }
        }
    }
}

/* The scale of each place. */
static void patches_measure(const patches_layer *layer, const patches_scratch *scratch)
{
    const int64_t stride = layer->columns + PATCHES_SLACK, width = layer->size * layer->channels, n = width * layer->size;
    const uint64_t above = (uint64_t)(n * n) << 2 * layer->bits;
    for (int64_t row = 0; row < layer->rows; row++) {
        for (int64_t column = 0; column < layer->columns; column++) {
            int32_t sum = 0, squares = 0;
            for (int64_t r = 0; r < layer->size; r++) {
                const uint8_t *from = scratch->view + (row + r) * scratch->bytes + column * layer->channels;
                for (int64_t k = 0; k < width; k++) {
                    sum += from[k];
                    squares += from[k] * from[k];
                }
            }
            const int64_t below = n * squares - (int64_t)sum * sum + layer->floor;
            scratch->scales[row * stride + column] = patches_root((int64_t)(above / (uint64_t)below));
        }
    }
}

/* t of one filter from one corner on. */
KN_INLINE int32_t patches_respond(const patches_layer *layer, const patches_scratch *scratch, int64_t answer, int64_t size,
                                  int64_t words, int narrow)
{
    const int64_t stride = layer->columns + PATCHES_SLACK;
    const int64_t top = layer->corners[2 * answer], left = layer->corners[2 * answer + 1];
    const int8_t *from = layer->filters + answer * size * words * 4;
    patches_ints filter[64];
    for (int64_t k = 0; k < size * words; k++) {
        int32_t word;
        memcpy(&word, from + 4 * k, 4);
        filter[k] = word - (patches_ints){0};
    }
    int32_t total = 0;
    for (int64_t first = 0; first < layer->pool; first += PATCHES_LANES) {
        patches_ints sums = {0};
        for (int64_t row = top; row < top + layer->pool; row++) {
            const uint32_t *from_words = scratch->words + row * words * stride + left + first;
            patches_ints scales;
            const patches_ints dots = patches_dot(from_words, stride, filter, size * words, narrow);
            KN_LOAD(scales, scratch->scales + row * stride + left + first);
            sums += patches_positive(dots * scales - layer->threshold) >> layer->down;
        }
        const int64_t lanes = layer->pool - first < PATCHES_LANES ? layer->pool - first : PATCHES_LANES;
        for (int64_t lane = 0; lane < lanes; lane++) {
            total += sums[lane];
        }
    }
    return total;
}

/* The usual shape is compiled for itself, so that a filter stays in registers. */
static int32_t patches_respond_any(const patches_layer *layer, const patches_scratch *scratch, int64_t answer)
{
    if (layer->size == 4 && layer->words == 3 && layer->narrow) {
        return patches_respond(layer, scratch, answer, 4, 3, 1);
    }
    return patches_respond(layer, scratch, answer, layer->size, layer->words, 0);
}

/* The byte of every unit for the sample in `image`. */
static void patches_answer(const patches_layer *layer, patches_scratch *scratch, uint8_t *out)
{
    uint8_t *const other = scratch->view;
    memset(scratch->roots, 0, sizeof *scratch->roots * (size_t)layer->n_units);
    for (int64_t view = 0; view < layer->n_views; view++) {
        scratch->view = view ? other : scratch->image;
        if (view) {
            patches_turn(layer, scratch, layer->views[2 * view], layer->views[2 * view + 1]);
        }
        patches_lay_out(layer, scratch);
        patches_measure(layer, scratch);
        for (int64_t answer = 0; answer < layer->n_units * layer->copies; answer++) {
            const int32_t mean = patches_respond_any(layer, scratch, answer) / layer->unit;
            scratch->roots[answer / layer->copies] += patches_root(mean < PATCHES_MOST_ROOT ? mean : PATCHES_MOST_ROOT);
        }
    }
    scratch->view = other;
    const int32_t twice = (int32_t)(2 * layer->copies * layer->n_views);
    for (int64_t unit = 0; unit < layer->n_units; unit++) {
        const int32_t value = scratch->roots[unit] / twice;
        out[unit] = (uint8_t)(value < 255 ? value : 255);
    }
}

#endif
