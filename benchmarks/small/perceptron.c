/* Multi-class perceptron: on a mistake the true class gets the sample added, the guessed one has it taken away. Weights are
 * 32-bit integers, so nothing saturates. */
#include "small.h"

static struct {
    int32_t weights[SMALL_CLASSES][SMALL_INPUTS + 1];
    uint8_t seen[SMALL_CLASSES];
} state;

void small_init(void)
{
    memset(&state, 0, sizeof state);
}

int32_t small_predict(const uint8_t *sample)
{
    int32_t best = -1;
    int64_t most = INT64_MIN;
    for (int32_t c = 0; c < SMALL_CLASSES; c++) {
        if (!state.seen[c])
            continue;
        int64_t score = 255 * (int64_t)state.weights[c][SMALL_INPUTS];
        for (uint32_t i = 0; i < SMALL_INPUTS; i++)
            score += (int64_t)state.weights[c][i] * sample[i];
        if (score > most) {
            most = score;
            best = c;
        }
    }
    return best;
}

void small_learn(const uint8_t *sample, int32_t label)
{
    state.seen[label] = 1;
    int32_t guess = small_predict(sample);
    if (guess == label)
        return;
    for (uint32_t i = 0; i < SMALL_INPUTS; i++) {
        state.weights[label][i] += sample[i];
        state.weights[guess][i] -= sample[i];
    }
    state.weights[label][SMALL_INPUTS] += 255;
    state.weights[guess][SMALL_INPUTS] -= 255;
}

uint32_t small_ram(void)
{
    return sizeof state;
}
