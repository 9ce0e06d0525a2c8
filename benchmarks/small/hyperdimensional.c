/* Hyperdimensional: a sample becomes SMALL_DIMENSIONS bits, the signs of random +-1 projections of the sample less its mean;
 * a class keeps the sum of the bits of its samples in 16 bits, as many as fit into SMALL_RAM, and the class whose sum agrees most
 * with the bits, for its length, is the answer. Signs are drawn, 32 at a time, and not kept. */
#include "small.h"

#define WORDS ((SMALL_RAM - 8 * SMALL_CLASSES) / (32 * (2 * SMALL_CLASSES + 4) + 4))
#define SMALL_DIMENSIONS (32 * WORDS)

static struct {
    int16_t sums[SMALL_CLASSES][SMALL_DIMENSIONS];
    uint32_t counts[SMALL_CLASSES];
    int32_t totals[32 * WORDS];
    uint32_t bits[WORDS];
} state;

void small_init(void)
{
    memset(&state, 0, sizeof state);
}

static void encode(const uint8_t *sample)
{
    uint32_t mean = 0;
    for (uint32_t i = 0; i < SMALL_INPUTS; i++)
        mean += sample[i];
    mean /= SMALL_INPUTS;
    memset(state.totals, 0, sizeof state.totals);
    for (uint32_t i = 0; i < SMALL_INPUTS; i++) {
        int32_t x = (int32_t)sample[i] - (int32_t)mean;
        if (!x)
            continue;
        for (uint32_t w = 0; w < WORDS; w++) {
            uint32_t signs = small_random(i * WORDS + w);
            for (uint32_t b = 0; b < 32; b++, signs >>= 1)
                state.totals[32 * w + b] += signs & 1 ? x : -x;
        }
    }
    for (uint32_t w = 0; w < WORDS; w++) {
        uint32_t word = 0;
        for (uint32_t b = 0; b < 32; b++)
            word |= (uint32_t)(state.totals[32 * w + b] > 0) << b;
        state.bits[w] = word;
    }
}

void small_learn(const uint8_t *sample, int32_t label)
{
    encode(sample);
    for (uint32_t k = 0; k < SMALL_DIMENSIONS; k++) {
        int16_t *sum = &state.sums[label][k];
        int32_t step = state.bits[k / 32] >> (k % 32) & 1 ? 1 : -1;
        if (*sum + step <= INT16_MAX && *sum + step >= -INT16_MAX)
            *sum = (int16_t)(*sum + step);
    }
    state.counts[label]++;
}

int32_t small_predict(const uint8_t *sample)
{
    int32_t best = -1;
    float most = 0;
    encode(sample);
    for (int32_t c = 0; c < SMALL_CLASSES; c++) {
        if (!state.counts[c])
            continue;
        int32_t dot = 0;
        int64_t square = 1;
        for (uint32_t k = 0; k < SMALL_DIMENSIONS; k++) {
            int32_t sum = state.sums[c][k];
            dot += state.bits[k / 32] >> (k % 32) & 1 ? sum : -sum;
            square += sum * sum;
        }
        float agreement = (float)dot * (dot < 0 ? -(float)dot : (float)dot) / (float)square; /* the cosine, squared */
        if (best < 0 || agreement > most) {
            most = agreement;
            best = c;
        }
    }
    return best;
}

uint32_t small_ram(void)
{
    return sizeof state;
}
