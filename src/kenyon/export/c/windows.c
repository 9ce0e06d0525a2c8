/* ---- features: windows that a unit looks through, at every shift of them */

#define WINDOW (KENYON_CHANNELS * KENYON_WINDOW_HEIGHT * KENYON_WINDOW_WIDTH)

#if KENYON_TABLES
static const kenyon_input *inputs_of(kenyon_workplace *work, uint32_t unit)
{
    UNUSED(work);
    return kenyon_inputs[unit];
}
#else
/* The inputs of the next unit; units must be asked for in order, from 0 on. */
static const kenyon_input *inputs_of(kenyon_workplace *work, uint32_t unit)
{
    const draw_window window = {KENYON_CHANNELS, KENYON_WINDOW_HEIGHT, KENYON_WINDOW_WIDTH};
#if KENYON_ORIENTED
    int32_t *const order = work->order;
#else
    int32_t *const order = NULL;
#endif
    if (unit == 0) {
        work->state = KENYON_SEED;
        for (uint32_t i = 0; i < WINDOW; i++) {
            work->pool[i] = (kenyon_input)i;
        }
    }
    const uint32_t top = draw_below(&work->state, KENYON_HEIGHT - KENYON_WINDOW_HEIGHT + 1);
    const uint32_t left = draw_below(&work->state, KENYON_WIDTH - KENYON_WINDOW_WIDTH + 1);
    const uint32_t cut = draw_in_window(&work->state, window, KENYON_ORIENTED, unit % 2 == 0, KENYON_CONNECTIONS,
                                        KENYON_EXCITATORY, order, work->pool);
    for (uint32_t k = 0; k < KENYON_CONNECTIONS; k++) {
        const uint32_t chosen = work->pool[k < KENYON_EXCITATORY ? k : cut + k - KENYON_EXCITATORY];
        const uint32_t place = chosen / KENYON_CHANNELS, channel = chosen % KENYON_CHANNELS;
        const uint32_t row = top + place / KENYON_WINDOW_WIDTH, column = left + place % KENYON_WINDOW_WIDTH;
        work->inputs[k] = (kenyon_input)((channel * KENYON_PADDED_HEIGHT + row) * KENYON_STRIDE + column);
    }
    return work->inputs;
}
#endif
