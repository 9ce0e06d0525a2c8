/* Nearest class mean: sums of each class in 32 bits; the nearest of the means, rounded to integers. */
#include "small.h"

static struct {
    uint32_t sums[SMALL_CLASSES][SMALL_INPUTS];
    uint32_t counts[SMALL_CLASSES];
} state;

void small_init(void)
{
    memset(&state, 0, sizeof state);
}

void small_learn(const uint8_t *sample, int32_t label)
{
    for (uint32_t i = 0; i < SMALL_INPUTS; i++)
        state.sums[label][i] += sample[i];
    state.counts[label]++;
}

int32_t small_predict(const uint8_t *sample)
{
    int32_t best = -1;
    uint64_t least = UINT64_MAX;
    for (int32_t c = 0; c < SMALL_CLASSES; c++) {
        uint32_t n = state.counts[c];
        if (!n)
            continue;
        uint64_t distance = 0;
        for (uint32_t i = 0; i < SMALL_INPUTS; i++) {
            int32_t d = (int32_t)sample[i] - (int32_t)((state.sums[c][i] + n / 2) / n);
            distance += (uint32_t)(d * d);
        }
        if (distance < least) {
            least = distance;
            best = c;
        }
    }
    return best;
}

uint32_t small_ram(void)
{
    return sizeof state;
}
