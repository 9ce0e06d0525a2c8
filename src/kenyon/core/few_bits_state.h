/* What learns weights of few bits is handed. */
#ifndef KENYON_FEW_BITS_STATE_H
#define KENYON_FEW_BITS_STATE_H

#include "levels.h"
#include "plastic.h"

#define LARGEST_CHANGE (512 * 4294967296.0)

typedef struct {
    kn_packing packing;
    uint8_t *weights;     /* (rows, width) packed levels */
    uint32_t *trained;     /* (width) */
    uint8_t *exponents;   /* (width); NULL where the rule has no limit */
    int64_t n_units, width;
    kn_active active;
    int64_t first, last;
    const int64_t *labels; /* the neuron that learns each sample; NULL where nothing is learned */
    const uint8_t *plastic;
    uint32_t seed;
    /* in integers */
    int shift;                /* 28 less the bits of a score's fraction */
    const int64_t *constants; /* of the rule */
    int32_t *scores;          /* (last - first, width), before a sample is learned; NULL where not wanted */
    /* in floats */
    double level;             /* the weight of one level */
    const float *beta;        /* (block, n_beta): learning rate, window, parameters of the rule */
    int64_t n_beta;
    float *outputs;
} kn_levels;

/* A function whose code is made for each number of bits. */
#define FOR_EACH_BITS(packing, function, ...)                                                                          \
    switch ((packing).bits) {                                                                                          \
    case 8: function((kn_packing){8, (packing).sign}, __VA_ARGS__); break;                                             \
    case 4: function((kn_packing){4, (packing).sign}, __VA_ARGS__); break;                                             \
    case 3: function((kn_packing){3, (packing).sign}, __VA_ARGS__); break;                                             \
    default: function((kn_packing){2, (packing).sign}, __VA_ARGS__); break;                                            \
    }

/* The levels of a unit in eight neurons side by side. */
KN_INLINE kn_i8 get_levels(kn_packing p, const uint8_t *weights, int64_t width, uint32_t unit)
{
    const uint32_t bit = unit * (uint32_t)p.bits, shift = bit % 8;
    const int32_t mask = (1 << p.bits) - 1, sign = p.sign ? 1 << (p.bits - 1) : 0;
    const uint8_t *row = weights + (bit / 8) * width;
    kn_i8 level = eight_bytes(row);
    if (8 % p.bits && shift + (uint32_t)p.bits > 8) {
        level |= eight_bytes(row + width) << 8;
    }
    return ((level >> (int32_t)shift & mask) ^ sign) - sign;
}

#endif
