/* Draw features from a seed, the same on every machine and in every version, in integers only.
 *
 *     state += 0x9E3779B97F4A7C15,  word = scramble(state)        SplitMix64 (Steele, Lea and Flood, 2014)
 *     a number below n = (word >> 32) n >> 32                     n is far below 2^32, so the bias is nil
 *
 * A model file keeps the seed instead of the inputs of each unit, so this is part of its format. */

#ifndef KENYON_DRAW_H
#define KENYON_DRAW_H

#include "numbers.h"

#ifndef DRAW_PLACE
#define DRAW_PLACE uint32_t /* holds the number of an input */
#define DRAW_ORDER int64_t  /* holds its distance from a line times the inputs of a window */
#endif

HELPER uint64_t draw_word(uint64_t *state)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    return scramble(*state);
}

HELPER uint32_t draw_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)(((draw_word(state) >> 32) * n) >> 32);
}

/* Bring n entries of a pool, chosen at random, to its front: a partial Fisher-Yates shuffle. */
HELPER void draw_choose(uint64_t *state, DRAW_PLACE *pool, uint32_t size, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t other = k + draw_below(state, size - k);
        const DRAW_PLACE kept = pool[k];
        pool[k] = pool[other];
        pool[other] = kept;
    }
}

/* Ascending order, of numbers that are all different (Shell's sort). */
#define DRAW_SORT(name, number)                                                                                        \
    HELPER void name(number *numbers, uint32_t n)                                                                      \
    {                                                                                                                  \
        for (uint32_t gap = n / 2; gap; gap /= 2) {                                                                    \
            for (uint32_t i = gap; i < n; i++) {                                                                       \
                const number moved = numbers[i];                                                                       \
                uint32_t at = i;                                                                                       \
                while (at >= gap && numbers[at - gap] > moved) {                                                       \
                    numbers[at] = numbers[at - gap];                                                                   \
                    at -= gap;                                                                                         \
                }                                                                                                      \
                numbers[at] = moved;                                                                                   \
            }                                                                                                          \
        }                                                                                                              \
    }

DRAW_SORT(draw_sort_order, DRAW_ORDER)

/* A window of (height, width) places with all channels; its input number i is at the place i / channels. */
typedef struct {
    uint32_t channels, height, width;
} draw_window;

/* The inputs of a window in `pool`, those on the excitatory side of a random line first; gives how many they are.
 *
 * The line's normal is an integer vector of length 10 to 15. An edge divides the window along the line, which is at
 * most a quarter of the window from its middle; a bar divides what lies within a fifth of the window from the line from
 * the rest, either of them excitatory. The inputs come by their distance from the boundary, the excitatory ones that
 * are farthest from it first. Coordinates are doubled, so that the middle of a window is an integer. */
HELPER uint32_t draw_side_of_line(uint64_t *state, draw_window window, uint32_t bar, DRAW_ORDER *order, DRAW_PLACE *pool)
{
    const DRAW_ORDER size = (DRAW_ORDER)(window.channels * window.height * window.width);
    int32_t across = 0, along = 0, length = 10;
    if (window.height == 1) {
        along = 15 - 30 * (int32_t)draw_below(state, 2);
    } else {
        while (across * across + along * along < 100 || across * across + along * along > 225) {
            across = (int32_t)draw_below(state, 31) - 15;
            along = (int32_t)draw_below(state, 31) - 15;
        }
    }
    while ((length + 1) * (length + 1) <= across * across + along * along) {
        length++;
    }
    const int32_t reach = (int32_t)window.width * length; /* half of the window's width */
    const int32_t most = bar ? 2 * reach / 5 : reach / 2;
    const int32_t offset = (int32_t)draw_below(state, (uint32_t)(2 * most + 1)) - most;
    const int32_t sign = bar ? 1 - 2 * (int32_t)draw_below(state, 2) : 1;
    uint32_t n_side = 0;
    for (DRAW_ORDER i = 0; i < size; i++) {
        const int32_t place = (int32_t)(i / (DRAW_ORDER)window.channels);
        const int32_t row = place / (int32_t)window.width, column = place % (int32_t)window.width;
        int32_t distance = across * (2 * row - (int32_t)window.height + 1) +
                           along * (2 * column - (int32_t)window.width + 1) + offset;
        if (bar) {
            distance = sign * ((distance < 0 ? -distance : distance) - 2 * reach / 5);
        }
        n_side += distance >= 0;
        order[i] = -(DRAW_ORDER)distance * size + i;
    }
    draw_sort_order(order, (uint32_t)size);
    for (DRAW_ORDER i = 0; i < size; i++) {
        const DRAW_ORDER rest = order[i] % size;
        pool[i] = (DRAW_PLACE)(rest < 0 ? rest + size : rest);
    }
    return n_side;
}

/* The inputs of a unit inside a window, excitatory ones first, as numbers of the window: entry k of a unit is
 * pool[k < n_excitatory ? k : cut + k - n_excitatory], and the cut is what this gives. */
HELPER uint32_t draw_in_window(uint64_t *state, draw_window window, uint32_t oriented, uint32_t bar, uint32_t n_connections,
                               uint32_t n_excitatory, DRAW_ORDER *order, DRAW_PLACE *pool)
{
    const uint32_t size = window.channels * window.height * window.width, n_inhibitory = n_connections - n_excitatory;
    uint32_t cut = n_excitatory;
    if (oriented) {
        cut = draw_side_of_line(state, window, bar, order, pool);
        cut = cut < n_excitatory ? n_excitatory : cut > size - n_inhibitory ? size - n_inhibitory : cut;
        draw_choose(state, pool, cut, n_excitatory);
        draw_choose(state, pool + cut, size - cut, n_inhibitory);
    } else {
        draw_choose(state, pool, size, n_connections);
    }
    return cut;
}

#endif
