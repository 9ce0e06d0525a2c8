/* Nearest neighbour in a buffer: as many samples as fit into SMALL_RAM, the same number of each class seen so far. A new sample of
 * a class that has its share replaces one of its own at random (reservoir); a new class takes its share from the others. */
#include "small.h"

#define PLACES ((SMALL_RAM - 12 * SMALL_CLASSES) / (SMALL_INPUTS + 1))

static struct {
    uint8_t samples[PLACES][SMALL_INPUTS];
    uint8_t labels[PLACES];
    uint32_t used, time;
    uint32_t met[SMALL_CLASSES], held[SMALL_CLASSES];
} state;

void small_init(void)
{
    memset(&state, 0, sizeof state);
}

/* The place of the n-th sample of a class. */
static uint32_t place_of(int32_t label, uint32_t n)
{
    uint32_t at = 0;
    for (;; at++)
        if (state.labels[at] == label && n-- == 0)
            return at;
}

void small_learn(const uint8_t *sample, int32_t label)
{
    uint32_t chance = small_random(state.time++), at;
    state.met[label]++;
    if (state.used < PLACES) {
        at = state.used++;
    } else {
        int32_t largest = 0;
        for (int32_t c = 1; c < SMALL_CLASSES; c++)
            if (state.held[c] > state.held[largest])
                largest = c;
        if (state.held[label] < state.held[largest]) {
            at = place_of(largest, chance % state.held[largest]);
        } else {
            uint32_t drawn = chance % state.met[label];
            if (drawn >= state.held[label])
                return;
            at = place_of(label, drawn);
        }
        state.held[state.labels[at]]--;
    }
    memcpy(state.samples[at], sample, SMALL_INPUTS);
    state.labels[at] = (uint8_t)label;
    state.held[label]++;
}

int32_t small_predict(const uint8_t *sample)
{
    int32_t best = -1;
    uint32_t least = UINT32_MAX;
    for (uint32_t at = 0; at < state.used; at++) {
        uint32_t distance = 0;
        for (uint32_t i = 0; i < SMALL_INPUTS; i++) {
            int32_t d = (int32_t)sample[i] - state.samples[at][i];
            distance += (uint32_t)(d * d);
        }
        if (distance < least) {
            least = distance;
            best = state.labels[at];
        }
    }
    return best;
}

uint32_t small_ram(void)
{
    return sizeof state;
}
