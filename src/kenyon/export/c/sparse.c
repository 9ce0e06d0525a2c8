/* ---- features: a sparse random projection of bytes */

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
    if (unit == 0) {
        work->state = KENYON_SEED;
        for (uint32_t i = 0; i < KENYON_INPUTS; i++) {
            work->pool[i] = (kenyon_input)i;
        }
    }
    draw_choose(&work->state, work->pool, KENYON_INPUTS, KENYON_CONNECTIONS);
    return work->pool;
}
#endif

static void respond(kenyon_workplace *work, const uint8_t *sample, kenyon_response *responses)
{
    for (uint32_t unit = 0; unit < KENYON_UNITS; unit++) {
        const kenyon_input *inputs = inputs_of(work, unit);
        int32_t sum = 0;
        for (uint32_t k = 0; k < KENYON_EXCITATORY; k++) {
            sum += sample[inputs[k]];
        }
        for (uint32_t k = KENYON_EXCITATORY; k < KENYON_CONNECTIONS; k++) {
            sum -= sample[inputs[k]];
        }
        responses[unit] = (kenyon_response)sum;
    }
}
