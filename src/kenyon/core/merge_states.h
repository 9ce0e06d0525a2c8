/* Two states of few bits as one, as a host has them; and sums narrowed to few bits. merging.h has the arithmetic. */

#ifndef KENYON_MERGE_STATES_H
#define KENYON_MERGE_STATES_H

#include "merging.h"

/* Sums of one neuron as levels of `each`, rounded by chance. */
#define NARROW_SUMS(name, SUM)                                                                                         \
    HELPER void name(const SUM *sums, int64_t width, kn_packing p, uint8_t *column, int64_t step, int64_t n_units,     \
                     uint32_t key, double each)                                                                        \
    {                                                                                                                  \
        const uint32_t again = mix(key + MERGING);                                                                     \
        for (int64_t i = 0; i < n_units; i++) {                                                                        \
            double level = (double)sums[i * width] / each + (double)chance(again, (uint32_t)i) * 0x1p-32;              \
            level = level < 0x1p32 ? level : 0x1p32;                                                                   \
            put_level(p, column, step, (uint32_t)i, (int32_t)min64((int64_t)level, top_level(p)));                     \
        }                                                                                                              \
    }
NARROW_SUMS(narrow_u32, uint32_t)
NARROW_SUMS(narrow_u64, uint64_t)

/* Two triangles and what lies between the class means of both. */
typedef struct {
    const int32_t *pairs, *others;
    int places, others_places;     /* by how many bits each is divided */
    const int64_t *distances;      /* (units, classes), between the two means of a class, in 1/256 */
    const uint64_t *weights;       /* (classes), of shared_weight */
    int64_t n_units, n_classes;
    int shift;                     /* bits of the fraction: 16, and two for each doubling */
    int64_t limit;                 /* the largest entry */
} kn_merging;

/* An entry of both, in 2^-shift. */
HELPER int64_t both_pairs(const kn_merging *m, int64_t k, int64_t i, int64_t j)
{
    const int64_t *first = m->distances + i * m->n_classes, *second = m->distances + j * m->n_classes;
    int64_t total = down(up(m->pairs[k], m->shift), m->places) + down(up(m->others[k], m->shift), m->others_places);
    for (int64_t c = 0; c < m->n_classes; c++) {
        total += scatter_of(m->weights[c], first[c], second[c]);
    }
    return total;
}

/* Whether no entry of the diagonal passes the limit. */
HELPER int diagonal_fits(const kn_merging *m)
{
    for (int64_t i = 0; i < m->n_units; i++) {
        const int64_t k = i * (i + 3) / 2, some = up(1, m->shift) - 1;
        int64_t total = down(up(m->pairs[k], m->shift), m->places) + down(up(m->others[k], m->shift), m->others_places);
        for (int64_t c = 0; c <= m->n_classes; c++) { /* each term is positive, and all of them might pass 63 bits */
            if (down(total + some, m->shift) > m->limit) {
                return 0;
            }
            if (c < m->n_classes) {
                const int64_t distance = m->distances[i * m->n_classes + c];
                total += scatter_of(m->weights[c], distance, distance);
            }
        }
    }
    return 1;
}

HELPER void merge_pairs(const kn_merging *m, uint64_t key, int32_t *out)
{
    const uint64_t some = ((uint64_t)1 << m->shift) - 1;
    int64_t k = 0;
    for (int64_t i = 0; i < m->n_units; i++) {
        for (int64_t j = 0; j <= i; j++, k++) {
            const int64_t part = (int64_t)(i == j ? some : word(key, (uint64_t)k) >> 1 & some);
            out[k] = (int32_t)clip64(down(both_pairs(m, k, i, j) + part, m->shift), -m->limit, m->limit);
        }
    }
}

/* Class means of both in 1/256, rounded by chance; (units, width), and the counts of the classes. */
HELPER void merge_means(const uint16_t *means, const uint16_t *others, const uint64_t *own, const uint64_t *theirs,
                        int64_t n_units, int64_t width, uint64_t key, uint16_t *out)
{
    for (int64_t j = 0; j < width; j++) {
        const uint64_t n = own[j], m = theirs[j];
        for (int64_t i = 0; n + m && i < n_units; i++) {
            const int64_t at = i * width + j;
            const uint64_t part = (word(key, (uint64_t)at) >> 48) * (n + m) >> 16;
            out[at] = (uint16_t)((n * means[at] + m * others[at] + part) / (n + m));
        }
    }
}

#endif
