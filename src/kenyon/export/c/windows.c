/* ---- features: windows that a unit looks through, at every shift of them */

#define WINDOW (KENYON_CHANNELS * KENYON_WINDOW_HEIGHT * KENYON_WINDOW_WIDTH)

#if KENYON_TABLES
static const kenyon_input *inputs_of(kenyon_workplace *work, uint32_t unit)
{
    UNUSED(work);
    return kenyon_inputs[unit];
}
#else
#if KENYON_ORIENTED
/* Ascending order; the numbers are all different. */
static void sort(int32_t *numbers, uint32_t n)
{
    for (uint32_t gap = n / 2; gap; gap /= 2) {
        for (uint32_t i = gap; i < n; i++) {
            const int32_t moved = numbers[i];
            uint32_t at = i;
            while (at >= gap && numbers[at - gap] > moved) {
                numbers[at] = numbers[at - gap];
                at -= gap;
            }
            numbers[at] = moved;
        }
    }
}

/* Put the inputs on the excitatory side of a random line first, and give their number. */
static uint32_t side_of_line(kenyon_workplace *work, uint32_t bar)
{
    int32_t across = 0, along = 0, length = 10;
    if (KENYON_WINDOW_HEIGHT == 1) {
        along = 15 - 30 * (int32_t)below(&work->state, 2);
    } else {
        while (across * across + along * along < 100 || across * across + along * along > 225) {
            across = (int32_t)below(&work->state, 31) - 15;
            along = (int32_t)below(&work->state, 31) - 15;
        }
    }
    while ((length + 1) * (length + 1) <= across * across + along * along) {
        length++;
    }
    const int32_t reach = KENYON_WINDOW_WIDTH * length;
    const int32_t most = bar ? 2 * reach / 5 : reach / 2;
    const int32_t offset = (int32_t)below(&work->state, (uint32_t)(2 * most + 1)) - most;
    const int32_t sign = bar ? 1 - 2 * (int32_t)below(&work->state, 2) : 1;
    uint32_t n_side = 0;
    for (int32_t i = 0; i < WINDOW; i++) {
        const int32_t row = i / KENYON_CHANNELS / KENYON_WINDOW_WIDTH;
        const int32_t column = i / KENYON_CHANNELS % KENYON_WINDOW_WIDTH;
        int32_t distance = across * (2 * row - KENYON_WINDOW_HEIGHT + 1) +
                           along * (2 * column - KENYON_WINDOW_WIDTH + 1) + offset;
        if (bar) {
            distance = sign * ((distance < 0 ? -distance : distance) - 2 * reach / 5);
        }
        n_side += distance >= 0;
        work->order[i] = -distance * WINDOW + i;
    }
    sort(work->order, WINDOW);
    for (int32_t i = 0; i < WINDOW; i++) {
        const int32_t rest = work->order[i] % WINDOW;
        work->pool[i] = (kenyon_input)(rest < 0 ? rest + WINDOW : rest);
    }
    return n_side;
}
#endif

/* The inputs of the next unit; units must be asked for in order, from 0 on. */
static const kenyon_input *inputs_of(kenyon_workplace *work, uint32_t unit)
{
    const uint32_t n_inhibitory = KENYON_CONNECTIONS - KENYON_EXCITATORY;
    if (unit == 0) {
        work->state = KENYON_SEED;
        for (uint32_t i = 0; i < WINDOW; i++) {
            work->pool[i] = (kenyon_input)i;
        }
    }
    const uint32_t top = below(&work->state, KENYON_HEIGHT - KENYON_WINDOW_HEIGHT + 1);
    const uint32_t left = below(&work->state, KENYON_WIDTH - KENYON_WINDOW_WIDTH + 1);
    uint32_t cut = KENYON_EXCITATORY;
#if KENYON_ORIENTED
    cut = side_of_line(work, unit % 2 == 0);
    cut = cut < KENYON_EXCITATORY ? KENYON_EXCITATORY : cut > WINDOW - n_inhibitory ? WINDOW - n_inhibitory : cut;
    choose(&work->state, work->pool, cut, KENYON_EXCITATORY);
    choose(&work->state, work->pool + cut, WINDOW - cut, n_inhibitory);
#else
    UNUSED(n_inhibitory);
    choose(&work->state, work->pool, WINDOW, KENYON_CONNECTIONS);
#endif
    for (uint32_t k = 0; k < KENYON_CONNECTIONS; k++) {
        const uint32_t chosen = work->pool[k < KENYON_EXCITATORY ? k : cut + k - KENYON_EXCITATORY];
        const uint32_t place = chosen / KENYON_CHANNELS, channel = chosen % KENYON_CHANNELS;
        const uint32_t row = top + place / KENYON_WINDOW_WIDTH, column = left + place % KENYON_WINDOW_WIDTH;
        work->inputs[k] = (kenyon_input)((channel * KENYON_PADDED_HEIGHT + row) * KENYON_STRIDE + column);
    }
    return work->inputs;
}
#endif
